"""Plain text: aligned tables, small drawings, and words for sentences."""

from __future__ import annotations

from collections.abc import Sequence

from oodometer.core.columns import columns as columns
from oodometer.core.estimate import Estimate


def interval_bar(estimate: Estimate, *, width: int = 40) -> str:
    """The interval drawn on the scale from 0 to 1.

    >>> interval_bar(Estimate(0.75, 0.5, 0.9, 20, "wilson 95%"), width=20)
    '··········├────●──┤·'
    """
    places = ["·"] * width

    def place(share: float) -> int:
        return min(int(share * width), width - 1)

    if estimate.low is not None and estimate.high is not None:
        low, high = place(estimate.low), place(estimate.high)
        places[low : high + 1] = "─" * (high - low + 1)
        places[low], places[high] = "├", "┤"
    places[place(estimate.value)] = "●"
    return "".join(places)


def dumbbell(a: float, b: float, *, width: int = 40) -> str:
    """Two shares on the scale from 0 to 1, and the way from the first (○) to the second (●).

    >>> dumbbell(0.9, 0.5, width=20)
    '··········●───────○·'
    """
    places = ["·"] * width
    first, second = (min(int(share * width), width - 1) for share in (a, b))
    low, high = sorted((first, second))
    places[low : high + 1] = "─" * (high - low + 1)
    places[first] = "○"
    places[second] = "●"
    return "".join(places)


def listed(names: Sequence[str], most: int) -> str:
    """Names in a sentence, at most so many, or one more: it is as short as to count it.

    >>> listed(["a", "b", "c"], 3), listed(["a", "b", "c", "d"], 2), listed(["a", "b"], 1)
    ('a, b and c', 'a, b and 2 others', 'a and b')
    """
    if len(names) > most + 1:
        rest = len(names) - most
        return f"{', '.join(names[:most])} and {plural(rest, 'other')}"
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)


def plural(n: int, one: str, more: str = "") -> str:
    """A number of things.

    >>> plural(1, "model"), plural(1200, "model")
    ('1 model', '1,200 models')
    """
    return f"{n:,} {one if n == 1 else more or one + 's'}"
