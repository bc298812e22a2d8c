"""What is shown first, and in which words: shared by sections."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from oodometer.core.estimate import Estimate
from oodometer.study import StudyShift
from oodometer.study.kinds import KNOWN_BEST


def leading(shifts: Sequence[StudyShift], most: int) -> list[StudyShift]:
    """At most so many shifts: those known best, then the first of each kind, then the others; in their order."""
    if len(shifts) <= most:
        return list(shifts)
    firsts = {shift.kind: shift for shift in reversed(shifts)}.values()

    def rank(shift: StudyShift) -> int:
        if shift.name in KNOWN_BEST:
            return KNOWN_BEST.index(shift.name)
        return len(KNOWN_BEST) + (not any(shift is one for one in firsts))

    chosen = sorted(shifts, key=rank)[:most]
    return [shift for shift in shifts if any(shift is one for one in chosen)]


def spelled(category: str) -> str:
    """A category in words.

    >>> spelled("robust_intervention"), spelled("")
    ('robust intervention', 'of unknown category')
    """
    return category.replace("_", " ") or "of unknown category"


def about_n(estimates: Iterable[Estimate]) -> str:
    """How many images numbers are about, and what their intervals are.

    >>> about_n([Estimate(0.5, 0.4, 0.6, 100, "wilson 95%"), Estimate(0.5, 0.4, 0.6, 90, "wilson 95%")])
    'n = 90 to 100, wilson 95%'
    >>> about_n([Estimate(0.5, None, None, None, "none: n is not known")])
    'no interval: n is not known'
    """
    found = list(estimates)
    sizes = sorted({one.n for one in found if one.n is not None})
    names = sorted({one.interval for one in found})
    said = " or ".join(names[:2]).replace("none: ", "no interval: ")
    if not sizes:
        return said
    n = f"{sizes[0]:,}" if len(sizes) == 1 else f"{sizes[0]:,} to {sizes[-1]:,}"
    return f"n = {n}, {said}"


ABOVE = (
    "A resample is worse calibrated than the sample by chance: the interval of a calibration error may lie above it."
)


def percent(estimate: Estimate) -> str:
    """A share in per cent with its interval.

    >>> percent(Estimate(0.741, 0.7127, 0.7679, 1000, "clopper-pearson 95%"))
    '74.1 % [71.3, 76.8]'
    """
    return f"{100 * estimate.value:.1f} %{_bounds(estimate)}"


def points(estimate: Estimate) -> str:
    """A difference of shares in percentage points with its interval.

    >>> points(Estimate(0.021, -0.004, 0.046, 1000, "newcombe 95%"))
    '2.1 points [−0.4, 4.6]'
    """
    return f"{_signed(estimate.value)} points{_bounds(estimate)}"


def _bounds(estimate: Estimate) -> str:
    if estimate.low is None or estimate.high is None:
        return " (no interval)"
    return f" [{_signed(estimate.low)}, {_signed(estimate.high)}]"


def _signed(share: float) -> str:
    text = f"{100 * share:.1f}"
    return "0.0" if text == "-0.0" else text.replace("-", "−")
