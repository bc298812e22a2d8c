"""What a study says about a shift: who holds up best, what is lost, who lies beyond the line, and what stays open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from oodometer.analysis.differences import difference_under_shift, drop_under_shift
from oodometer.analysis.robustness import ModelRobustness
from oodometer.core.estimate import Estimate
from oodometer.study.kinds import KNOWN_BEST
from oodometer.study.study import Study, StudyShift

FEW_MODELS = 10
"""A line through fewer says little."""

WIDE = 0.05
"""Half an interval of accuracies that is wider than this is told."""

LOOSE = 0.5
"""A line that explains less of the variance is told."""


@dataclass(frozen=True)
class Best:
    """The most accurate model under a shift.

    Args:
        accuracy: Under the shift; ``drop`` what it loses against the clean set.
        tied: Models that it can't be told apart from: the interval of the difference holds 0, or there is none.
        next: The best of the others, and by how much it is behind; None where there is no other, or no interval.
    """

    model: str
    accuracy: Estimate
    drop: Estimate
    tied: tuple[str, ...]
    next: tuple[str, Estimate] | None


@dataclass(frozen=True)
class Loss:
    """What models lose under a shift: the median, between which values the middle half lies, the least and the most."""

    shift: StudyShift
    median: float
    quartiles: tuple[float, float]
    ends: tuple[float, float]


@dataclass(frozen=True)
class Beyond:
    """Models above the line of a shift, with an interval of ρ that is above 0.

    Args:
        others: Models that the line does not go through; ``above`` those of them that lie above it, the highest first.
        own: Models of the line that lie above it all the same, the highest first.
        extended: Of ``above``, those at clean accuracies beyond all models of the line, where it is only extended.
    """

    others: int
    above: tuple[ModelRobustness, ...]
    own: tuple[ModelRobustness, ...]
    extended: tuple[ModelRobustness, ...]


def best_under(shift: StudyShift, level: float) -> Best:
    """The most accurate model, and which of the others may be as good."""
    models = shift.points.models
    order = sorted(range(len(models)), key=lambda at: -models[at].y.value)
    first, rest = order[0], order[1:]
    top = models[first].y
    tied = [at for at in rest if _may_be_as_good(shift, first, at, level)]
    behind = difference_under_shift(shift.points, first, rest[0], level) if rest else None
    return Best(
        models[first].model,
        top,
        drop_under_shift(shift.points, first, level),
        tuple(models[at].model for at in tied),
        None if behind is None or behind.low is None else (models[rest[0]].model, behind),
    )


def _may_be_as_good(shift: StudyShift, first: int, other: int, level: float) -> bool:
    top, y = shift.points.models[first].y, shift.points.models[other].y
    if top.low is not None and y.high is not None and y.high < top.low:
        return False
    behind = difference_under_shift(shift.points, first, other, level)
    return behind.low is None or behind.low <= 0


def losses(study: Study) -> list[Loss]:
    """What is lost under each shift, the most first."""
    found = []
    for shift in study.shifts:
        lost = [point.x[0].value - point.y.value for point in shift.points.models]
        least, low, median, high, most = np.quantile(lost, [0, 0.25, 0.5, 0.75, 1]).tolist()
        found.append(Loss(shift, median, (low, high), (least, most)))
    return sorted(found, key=lambda one: -one.median)


def beyond_line(shift: StudyShift) -> Beyond:
    """Who lies above the line."""
    models = sorted(shift.of_model.values(), key=lambda one: -one.rho.value)
    above = [one for one in models if one.rho.low is not None and one.rho.low > 0]
    others = [one for one in above if not one.in_baseline]
    along = [one.x[0].value for one in models if one.in_baseline]
    return Beyond(
        sum(not one.in_baseline for one in models),
        tuple(others),
        tuple(one for one in above if one.in_baseline),
        tuple(one for one in others if not min(along) <= one.x[0].value <= max(along)),
    )


def half_width(shift: StudyShift) -> float | None:
    """Half the interval of an accuracy under the shift, of the middle model; None where there are no intervals."""
    widths = [
        (one.y.high - one.y.low) / 2 for one in shift.points.models if one.y.high is not None and one.y.low is not None
    ]
    return float(np.median(widths)) if widths else None


def leading(shifts: Sequence[StudyShift], most: int) -> list[StudyShift]:
    """At most so many shifts: those known best, then the first of each kind, then the others; in their order."""
    if len(shifts) <= most:
        return list(shifts)
    firsts = {shift.kind: shift for shift in reversed(shifts)}.values()

    def rank(shift: StudyShift) -> int:
        if shift.name in KNOWN_BEST:
            return KNOWN_BEST.index(shift.name)
        return len(KNOWN_BEST) + (not any(shift is first for first in firsts))

    chosen = sorted(shifts, key=rank)[:most]
    return [shift for shift in shifts if any(shift is kept for kept in chosen)]
