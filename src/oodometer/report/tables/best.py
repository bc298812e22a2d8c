"""The best of several models, where it can be told from the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

from oodometer.core.estimate import Estimate

Differ = Callable[[str, str], Estimate | None]
"""The value of the first model minus that of the second, with its interval; None where that is not known."""


def best_of(values: Mapping[str, Estimate], better: Literal["high", "low"], differ: Differ | None = None) -> str | None:
    """The model that is better than each of the others; None where one of these may be as good, or there is none.

    It is, where the interval of the difference lies on its side of 0; or, where no difference is known, where the two
    intervals do not overlap, which asks for more. No correction for many models: all of them must be beaten at once.

    >>> of = {"a": Estimate(0.9, 0.8, 0.95, 100, "any"), "b": Estimate(0.5, 0.4, 0.6, 100, "any")}
    >>> best_of(of, "high"), best_of(of, "low"), best_of({"a": of["a"]}, "high")
    ('a', 'b', None)
    """
    sign = 1 if better == "high" else -1
    order = sorted(values, key=lambda name: -sign * values[name].value)
    if len(order) < 2:
        return None
    first, *others = order
    return first if all(_is_better(first, other, values, sign, differ) for other in others) else None


def _is_better(a: str, b: str, values: Mapping[str, Estimate], sign: int, differ: Differ | None) -> bool:
    difference = differ(a, b) if differ else None
    if difference is not None:
        near = difference.low if sign > 0 else difference.high
        return near is not None and sign * near > 0
    near, far = (values[a].low, values[b].high) if sign > 0 else (values[a].high, values[b].low)
    return near is not None and far is not None and sign * (near - far) > 0
