"""Models by their mean accuracy under shift, with ties where they can't be told apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from oodometer.analysis.family_apart import covariances_apart
from oodometer.analysis.point_standing import HOLM, UNPAIRED, differences_under, p_values_under
from oodometer.core.estimate import Estimate
from oodometer.stats.mean_over_sets import MeasuredSet, Spread, spread_of
from oodometer.stats.ties import Standing, adjusted_pairs, p_of_differences
from oodometer.study.study import Study, StudyShift

MOST_LOST = 0.1
"""A shift on which more of the models are missing than this share does not count, so that nearly all have a place."""

STOPPED = ", as if the number of images had been fixed"


@dataclass(frozen=True)
class Ranking:
    """Models in order of their mean accuracy under shifts, the best first.

    Args:
        shifts: What the mean is over, each counting the same; a family of corruptions is one.
        models: Those that were measured on all of them.
        means: The mean of each.
        standing: How they stand to each other, by place.
        left_out: Models that lack one of the shifts.
        how: Which test, in words.
    """

    shifts: tuple[StudyShift, ...]
    models: tuple[str, ...]
    means: Mapping[str, Estimate]
    standing: Standing
    left_out: tuple[str, ...]
    how: str

    @property
    def tied_with_first(self) -> tuple[str, ...]:
        """Those that were tested against the first and can't be told from it."""
        return tuple(self.models[place] for place in self.standing.tied_with(0))

    @property
    def not_tested_with_first(self) -> tuple[str, ...]:
        """Those that can't be tested against the first."""
        return tuple(self.models[place] for place in self.standing.untested(0))


def ranking_of(study: Study) -> Ranking | None:
    """The ranking of a study; None where no shift was measured."""
    shifts, names = _shared(study)
    if not shifts or not names:
        return None
    level = study.options.resampling.level
    sets = [_measured(shift, names) for shift in shifts]
    values = np.mean([measured.accuracies for measured in sets], axis=0)
    spread = spread_of(sets)
    p, how = _tests(shifts, sets, names, values, spread)
    order = sorted(range(len(names)), key=lambda at: (-values[at], names[at]))
    standing = Standing.of(adjusted_pairs(p), order, level, differences=_differences(shifts, names, values))
    if len(shifts) == 1:  # the interval of a share is better than that of a mean
        means = {point.model: point.y for point in shifts[0].points.models}
    else:
        n = int(np.nan_to_num(min(measured.sizes.min() for measured in sets))) or None
        means = {
            names[at]: _mean(float(values[at]), float(spread.of_models[at]), n, level, len(shifts)) for at in order
        }
    return Ranking(
        shifts,
        tuple(names[at] for at in order),
        means,
        standing,
        tuple(model.name for model in study.models if model.name not in set(names)),
        how,
    )


def _shared(study: Study) -> tuple[tuple[StudyShift, ...], list[str]]:
    """The shifts that count, and the models that have all of them: shifts of most models first, as long as few drop."""
    alike = [shift for shift in study.shifts if shift.points.measure == "top-1"]  # a mAP is no accuracy to average with
    measured = {shift.name: {point.model for point in shift.points.models} for shift in alike}
    by_size = sorted(alike, key=lambda shift: -len(measured[shift.name]))
    if not by_size:
        return (), []
    least = (1 - MOST_LOST) * len(measured[by_size[0].name])
    kept, models = {by_size[0].name}, measured[by_size[0].name]
    for shift in by_size[1:]:
        if len(models & measured[shift.name]) >= least:
            kept.add(shift.name)
            models = models & measured[shift.name]
    names = [model.name for model in study.models if model.name in models]
    return tuple(shift for shift in alike if shift.name in kept), names


def _measured(shift: StudyShift, names: Sequence[str]) -> MeasuredSet:
    """A shift with its models in a common order."""
    points = shift.points
    at = {point.model: place for place, point in enumerate(points.models)}
    places = [at[name] for name in names]
    accuracies = [points.models[place].y for place in places]
    return MeasuredSet(
        np.array([accuracy.value for accuracy in accuracies]),
        np.array([np.nan if accuracy.n is None else accuracy.n for accuracy in accuracies]),
        None if points.right_y is None else points.right_y[places],
        points.ids_y,
        points.x if points.same_images else None,
        covariances_apart([right[places] for right in points.apart]) if points.apart else None,
    )


def _tests(
    shifts: Sequence[StudyShift], sets: Sequence[MeasuredSet], names: Sequence[str], values: np.ndarray, spread: Spread
) -> tuple[np.ndarray, str]:
    """p-values of all pairs, and which test that is."""
    if len(shifts) == 1:
        points = shifts[0].points
        places = {point.model: at for at, point in enumerate(points.models)}
        p_values, kind = p_values_under(points)
        order = [places[name] for name in names]
        return p_values[np.ix_(order, order)], f"{kind} {HOLM}"
    paired = all(one.right is not None or one.covariances is not None for one in sets)
    how = f"{'paired z tests over images' if paired else UNPAIRED} {HOLM}"
    how += STOPPED if any(shift.points.stopped_y for shift in shifts) else ""
    return p_of_differences(values, spread.of_differences), how


def _differences(shifts: Sequence[StudyShift], names: Sequence[str], values: np.ndarray) -> np.ndarray:
    """Of every pair the mean of the first minus that of the second, as it is tested."""
    if len(shifts) > 1:
        return np.asarray(values[:, None] - values[None, :])
    points = shifts[0].points
    places = {point.model: at for at, point in enumerate(points.models)}
    order = [places[name] for name in names]
    return differences_under(points)[np.ix_(order, order)]


def _mean(value: float, variance: float, n: int | None, level: float, n_shifts: int) -> Estimate:
    from scipy.special import ndtri

    if np.isnan(variance):
        return Estimate(value, None, None, n, "none: n is not known")
    if variance == 0:
        return Estimate(value, None, None, n, "none: all images are answered alike")
    half = float(ndtri((1 + level) / 2)) * float(np.sqrt(variance))
    low, high = max(value - half, 0.0), min(value + half, 1.0)
    return Estimate(value, low, high, n, f"normal, over images, mean of {n_shifts} shifts {100 * level:g}%")
