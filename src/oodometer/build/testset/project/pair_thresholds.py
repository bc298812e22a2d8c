"""What a threshold of a metric does: how many pairs lie on each side of it, and which are the nearest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from oodometer.build.testset.likeness import LOOK_WITHIN, within_of
from oodometer.build.testset.project.close_pairs import BY_EYE, OPEN, thresholds_of
from oodometer.build.testset.project.project import Project
from oodometer.build.testset.project.schema import PAIR, sa

NEAREST = 4


@dataclass(frozen=True, eq=False)
class MetricThreshold:
    """The threshold of a metric, among the pairs that nobody has looked at.

    Args:
        radius: The threshold.
        most: As far apart as pairs are looked for, or the most distant one that there is.
        distances: Of the pairs, the smallest first, (P,).
        below: The numbers of the most distant pairs up to the threshold, the most distant last.
        above: Of the closest beyond it, the closest first.
    """

    metric: str
    radius: float
    most: float
    distances: np.ndarray
    below: tuple[int, ...]
    above: tuple[int, ...]

    @property
    def n_below(self) -> int:
        """How many count as one picture as long as nobody looks at them."""
        return _n_below(self.distances, self.radius)

    @property
    def n_above(self) -> int:
        """How many count as two."""
        return len(self.distances) - self.n_below


def metric_thresholds(project: Project) -> list[MetricThreshold]:
    """One for each metric that pairs were found by, those that a person found left out."""
    radii = thresholds_of(project)
    rows = project.database.rows(
        sa.select(PAIR.c.metric, PAIR.c.id, PAIR.c.distance)
        .where(PAIR.c.verdict == OPEN, PAIR.c.metric != BY_EYE)
        .order_by(PAIR.c.metric, PAIR.c.distance, PAIR.c.id)
    )
    by_metric: dict[str, list[tuple[int, float]]] = {}
    for metric, number, distance in rows:
        by_metric.setdefault(metric, []).append((number, distance))
    return [_of(metric, within_of(radii, metric), pairs) for metric, pairs in by_metric.items()]


def _n_below(distances: np.ndarray, radius: float) -> int:
    """How many are up to a radius; a threshold of 0 leaves all pairs in, those at 0 too."""
    return int(np.searchsorted(distances, radius, side="right")) if radius > 0 else 0


def _of(metric: str, radius: float, pairs: list[tuple[int, float]]) -> MetricThreshold:
    numbers = tuple(number for number, _ in pairs)
    distances = np.array([distance for _, distance in pairs])
    at = _n_below(distances, radius)
    most = max(within_of(LOOK_WITHIN, metric), float(distances.max()), radius)
    return MetricThreshold(
        metric, radius, most, distances, numbers[max(at - NEAREST, 0) : at], numbers[at : at + NEAREST]
    )
