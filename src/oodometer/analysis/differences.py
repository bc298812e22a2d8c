"""Differences between the accuracies of models: clean and shifted, and of two models under one shift."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from oodometer.analysis.family_apart import judged_on_each
from oodometer.analysis.points import Points
from oodometer.analysis.sampled import accuracy_of, difference_when_stopped
from oodometer.core.estimate import Estimate
from oodometer.core.sample import Sample
from oodometer.stats.effective_robustness import accuracy_drop, tau_from_counts
from oodometer.stats.intervals import difference_of, mean_of
from oodometer.stats.paired import PairedCounts, paired_difference


def drop_under_shift(points: Points, at: int, level: float) -> Estimate:
    """Clean accuracy minus accuracy under the shift; paired where both are the same photographs.

    Args:
        level: That of the points' own intervals where ``drops_at_one_level``.
    """
    if points.same_images and points.right_x is not None and points.right_y is not None:
        return _difference(points.right_x[at], points.right_y[at], level, points.stopped_y or points.stopped_x)
    point = points.models[at]
    if points.stopped_x is not None or points.stopped_y is not None:
        return _drop_when_stopped(points, at, level)
    if points.drops_at_one_level:
        return difference_of(point.x[0], point.y, n=point.y.n, level=level)
    return accuracy_drop(point.x[0].value, point.y.value, point.x[0].n, point.y.n, level=level)


def _drop_when_stopped(points: Points, at: int, level: float) -> Estimate:
    """The drop between images drawn apart, of which one side was stopped: from the confidence sequences of both."""
    clean, shifted = points.models[at].x[0], points.models[at].y
    if points.right_x is not None and points.right_y is not None:
        clean = accuracy_of(points.right_x[at], level, points.stopped_x)
        shifted = accuracy_of(points.right_y[at], level, points.stopped_y)
    found = difference_of(clean, shifted, n=shifted.n, level=level)
    return found if found.low is None else replace(found, interval=f"newcombe of confidence sequences {100 * level:g}%")


def difference_under_shift(points: Points, a: int, b: int, level: float) -> Estimate:
    """Accuracy under the shift, of the model at place ``a`` minus that at ``b``; paired where the images are known."""
    if points.right_y is not None:
        return _difference(points.right_y[a], points.right_y[b], level, points.stopped_y)
    if points.apart:
        # The difference is that of the second minus the first.
        return judged_on_each([(right[b], right[a]) for right in points.apart], points.stopped_y).difference_at(level)
    one, other = points.models[a].y, points.models[b].y
    if points.measure == "map":
        return difference_of(one, other, n=one.n, level=level)
    return tau_from_counts(one.value, other.value, one.n, other.n, level=level)


def difference_on_clean(points: Points, a: int, b: int, level: float) -> Estimate:
    """Accuracy on the first clean set, of the model at place ``a`` minus that at ``b``; paired where it can be."""
    return difference_under_shift(clean_as_shifted(points), a, b, level)


def clean_as_shifted(points: Points) -> Points:
    """The first clean side in the place of the shifted one."""
    models = tuple(replace(point, y=point.x[0]) for point in points.models)
    return replace(
        points, models=models, right_y=points.right_x, ids_y=points.ids_x, stopped_y=points.stopped_x, apart=()
    )


def _difference(a: np.ndarray, b: np.ndarray, level: float, stopped: Sample | None) -> Estimate:
    """The mean of a minus the mean of b over the same images."""
    if stopped is not None:
        return difference_when_stopped(a, b, stopped, level=level)
    if a.dtype != bool or b.dtype != bool:
        return mean_of(a.astype(np.float64) - b, level=level)
    # The difference is that of the second minus the first.
    return paired_difference(PairedCounts.of(b, a), level=level)
