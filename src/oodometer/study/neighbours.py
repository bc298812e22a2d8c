"""Each model beside the next best one: told apart or not, and how many images would tell what matters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from oodometer.analysis.differences import clean_as_shifted, difference_under_shift
from oodometer.analysis.point_standing import standings_of
from oodometer.analysis.points import Points
from oodometer.core.estimate import Estimate
from oodometer.stats.power import images_for_difference, images_for_mean_difference
from oodometer.study.study import Study, StudyShift

MATTERS = 0.005
"""Half a point: a difference that leaderboards are read for."""

MOST = 10
"""Of the models of a side, the best."""


@dataclass(frozen=True)
class Neighbours:
    """Two models that follow each other on one side.

    Args:
        on: The clean set or the shift.
        difference: Of the first minus the next, its interval not corrected.
        state: At the level of the study, all pairs of the side corrected together.
        images: How many in all would show half a point between them with a probability of 80 %, in a comparison of
            these two alone, if they disagree as often as they do; None where their images are not known, or how many
            there are depends on what was seen.
    """

    on: str
    first: str
    next: str
    difference: Estimate
    state: Literal["separated", "tied", "can't be tested"]
    images: int | None


def neighbours_on(study: Study, shifts: Sequence[StudyShift]) -> list[Neighbours]:
    """The best models of each clean set and of each of these shifts, two by two, the clean sets first."""
    clean = {shift.points.x[0]: clean_as_shifted(shift.points) for shift in reversed(shifts)}
    sides = {**dict(reversed(clean.items())), **{shift.name: shift.points for shift in shifts}}
    level = study.options.resampling.level
    return [one for name, points in sides.items() for one in _on_side(name, points, level)]


def _on_side(name: str, points: Points, level: float) -> list[Neighbours]:
    place = {point.model: at for at, point in enumerate(points.models)}
    found = standings_of({point.model: point.y for point in points.models}, points, level=level)
    rows: list[Neighbours] = []
    for at, (first, second) in enumerate(pairwise(found.models[:MOST])):
        apart, tested = found.standing.apart[at, at + 1], found.standing.tested[at, at + 1]
        a, b = place[first], place[second]
        rows.append(
            Neighbours(
                name,
                first,
                second,
                difference_under_shift(points, a, b, level),
                "separated" if apart else "tied" if tested else "can't be tested",
                _images(points, a, b, level),
            )
        )
    return rows


def _images(points: Points, a: int, b: int, level: float) -> int | None:
    if points.right_y is None or points.stopped_y is not None:
        return None
    first, second = points.right_y[a], points.right_y[b]
    if points.right_y.dtype == bool:
        disagreement = float((first != second).mean())
        return images_for_difference(MATTERS, disagreement, level=level) if disagreement else None
    sd = float(np.subtract(first, second, dtype=np.float64).std())
    return images_for_mean_difference(MATTERS, sd, level=level) if sd else None
