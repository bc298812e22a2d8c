"""Of two models, which is better where: on the clean set and under every shift, on the images that both saw."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from oodometer.analysis.differences import difference_on_clean, difference_under_shift
from oodometer.core.estimate import Estimate
from oodometer.stats.intervals import corrected_level
from oodometer.stats.power import images_to_tell
from oodometer.study.study import Study, StudyShift

Answer = Literal["better", "worse", "can't tell"]


@dataclass(frozen=True)
class Contest:
    """Two models on one side of a shift.

    Args:
        name: Of the condition.
        first, second: The accuracies of the two.
        difference: Of the first minus the second; its interval is corrected for the number of contests.
        images: With how many images in all it would probably be told, if the difference is what it seems; None where
            it is told, or nobody can say.
    """

    name: str
    first: Estimate
    second: Estimate
    difference: Estimate
    images: int | None

    @property
    def answer(self) -> Answer:
        """What the first is against the second."""
        low, high = self.difference.low, self.difference.high
        if low is None or high is None:
            return "can't tell"
        return "better" if low > 0 else "worse" if high < 0 else "can't tell"


@dataclass(frozen=True)
class PairVerdict:
    """Two models on everything that both were measured on.

    Args:
        first, second: Their names; the first has the higher mean under shift.
        clean: On the clean sets; ``shifted`` under each shift.
        level: With which all intervals hold together.
    """

    first: str
    second: str
    clean: tuple[Contest, ...]
    shifted: tuple[Contest, ...]
    level: float

    @property
    def contests(self) -> tuple[Contest, ...]:
        """All of them, the clean sets first."""
        return (*self.clean, *self.shifted)


def pair_verdict(study: Study, first: str, second: str) -> PairVerdict | None:
    """The verdict about two models of a study; None where they were measured together under no shift."""
    shifts = [shift for shift in study.shifts if {first, second} <= {point.model for point in shift.points.models}]
    if not shifts:
        return None
    clean = list({shift.points.x[0]: shift for shift in reversed(shifts)}.values())[::-1]
    level = study.options.resampling.level
    each = corrected_level(level, len(clean) + len(shifts))
    return PairVerdict(
        first,
        second,
        tuple(on_clean(shift, first, second, each) for shift in clean),
        tuple(under_shift(shift, first, second, each) for shift in shifts),
        level,
    )


def _places(shift: StudyShift, *names: str) -> tuple[int, ...]:
    at = {point.model: place for place, point in enumerate(shift.points.models)}
    return tuple(at[name] for name in names)


def on_clean(shift: StudyShift, first: str, second: str, level: float) -> Contest:
    """Two models of a shift on its first clean set, with an interval of this level."""
    a, b = _places(shift, first, second)
    difference = difference_on_clean(shift.points, a, b, level)
    models = shift.points.models
    return contest_of(shift.points.x[0], models[a].x[0], models[b].x[0], difference, level)


def under_shift(shift: StudyShift, first: str, second: str, level: float) -> Contest:
    """Two models of a shift under it, with an interval of this level."""
    a, b = _places(shift, first, second)
    difference = difference_under_shift(shift.points, a, b, level)
    models = shift.points.models
    return contest_of(shift.name, models[a].y, models[b].y, difference, level)


def contest_of(name: str, first: Estimate, second: Estimate, difference: Estimate, level: float) -> Contest:
    """Two accuracies and their difference, whose interval is of this level."""
    needed = images_to_tell(difference, level)
    told = difference.low is not None and difference.high is not None and not difference.low <= 0 <= difference.high
    return Contest(name, first, second, difference, None if told else needed)
