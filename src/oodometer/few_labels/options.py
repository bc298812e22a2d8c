"""How an estimate from few labels is made, and the words of a user for it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from oodometer.analysis.line_rules import DEFAULT_OPTIONS, RobustnessOptions
from oodometer.core.errors import UsageError
from oodometer.stats.lines import Line
from oodometer.stats.scales import SCALES, Scale

ALL = "all"


@dataclass(frozen=True)
class FewLabelOptions:
    """How labels and answers are put together.

    Args:
        proxies: ``agreement``, ``confidence``, ``atc``; none: all that can be had.
        against: A model with which every other is compared; of two models the first, where nobody says.
        line: With which ρ is measured; None: one through the models of the store.
        robustness: Through which of them, and on which scale.
        level: Of the intervals.
    """

    proxies: tuple[str, ...] = ()
    against: str | None = None
    line: Line | None = None
    robustness: RobustnessOptions = DEFAULT_OPTIONS
    level: float = 0.95


def options_from(
    proxies: tuple[str, ...], against: str | None, line: str | None, baseline: str | None, *, level: float
) -> FewLabelOptions:
    """The options that these words mean."""
    given = None if line is None else line_from(line)
    category = DEFAULT_OPTIONS.baseline if baseline is None else "" if baseline == ALL else baseline
    return FewLabelOptions(proxies, against, given, replace(DEFAULT_OPTIONS, baseline=category), level)


def line_from(text: str) -> Line:
    """A line from its slope, its intercept and its scale.

    >>> line_from("0.944, -0.31, probit").at(0.76).round(3).item()
    0.639
    """
    parts = [part.strip() for part in text.split(",")]
    numbers = [_number(part) for part in parts[:2]]
    scales: dict[str, Scale] = {scale: scale for scale in SCALES}
    if len(parts) != 3 or parts[2] not in scales or not all(map(math.isfinite, numbers)):
        raise UsageError(f"--line {text}: expected SLOPE,INTERCEPT,SCALE such as 0.944,-0.31,probit")
    return Line(scales[parts[2]], numbers[0], numbers[1], r2=math.nan, n=0, left_out=0)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
