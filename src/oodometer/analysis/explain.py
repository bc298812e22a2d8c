"""Where an accuracy drop comes from: the three gaps of Recht et al. 2019, and their model of difficulties.

What the data bound is told with its interval; what they can't tell is told too.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from oodometer.analysis.accuracy_pairs import pairs_of
from oodometer.analysis.asked_shifts import asked_shift
from oodometer.analysis.differences import drop_under_shift
from oodometer.analysis.explain_text import text_of, unknown_of
from oodometer.analysis.intervals import IntervalOptions
from oodometer.analysis.line_rules import NO_KNEE, RobustnessOptions, baseline_models, unused_patterns
from oodometer.analysis.origins import Origin
from oodometer.analysis.people import models_alone
from oodometer.analysis.points import Points
from oodometer.analysis.robustness_line import Fitted, line_through
from oodometer.analysis.sampled import notes_of_stopped
from oodometer.analysis.table_pairs import points_of_table
from oodometer.core.errors import DataError, OodometerError, UsageError, did_you_mean
from oodometer.core.estimate import Estimate
from oodometer.core.sample import Sample
from oodometer.stats.contamination import contamination, gained_by_mean
from oodometer.stats.difficulty_model import FEWEST_MODELS, Reading, Spreads, reading_of, spreads_of
from oodometer.stats.images_for_width import sampling_error
from oodometer.stats.intervals import difference_of, mean_of, mean_of_intervals
from oodometer.stats.line_intervals import rise_of
from oodometer.stats.lines import compare_scales
from oodometer.stats.three_gaps import (
    Adaptivity,
    GapBounds,
    adaptivity_of,
    gap_bounds,
    most_by_duplicates,
)
from oodometer.store.index import Source, index_at, index_of_table
from oodometer.store.tables import Accuracy

ALMOST_SURE = 0.9999
"""The second level at which chance is asked for its share, as in the paper."""
DEFAULT = RobustnessOptions(scale="probit", baseline="", baseline_above=0.0, knee=NO_KNEE)
"""Lines through all models: adapting to a test set is what all of them may have done."""
MEAN = "mean of the models"


@dataclass(frozen=True)
class DropParts:
    """One drop and its parts.

    Args:
        model: Its name, or ``mean of the models``.
        clean, shifted: Accuracies.
        drop: Clean minus shifted.
        drop_almost_surely: The same with its interval at 99.99 %.
        bounds: What is known of the gaps.
        near_duplicates: What near-duplicates added to the clean accuracy; None where it is not known which images have
            one.
        near_duplicates_at_most: What they could add, if the model were right on each of them; None where nothing is
            known of them.
    """

    model: str
    clean: Estimate
    shifted: Estimate
    drop: Estimate
    drop_almost_surely: Estimate
    bounds: GapBounds
    near_duplicates: Estimate | None = None
    near_duplicates_at_most: float | None = None


@dataclass(frozen=True)
class SamplingError:
    """How far off an accuracy on a set of this size may be by chance, at most, at two levels."""

    n: int
    at_level: float
    almost_surely: float


@dataclass(frozen=True)
class Explanation:
    """What a drop under a shift is made of, as far as the data tell; prints as text.

    Args:
        clean, shifted: Names of both sides.
        same_images: Whether both are of the same photographs; then the parts are not those of a new test set.
        models: The mean of all models first, then each, the most accurate first.
        of_clean, of_shifted: The sampling error of sets of these sizes; None where the number of images is not known,
            is not the same for all models, or depends on what was seen.
        linear, probit: The lines on both scales; None where there is none, and ``why`` says it.
        adaptivity: What the line on the scale that fits best says of adaptivity, from the median model to the best.
        difficulty: What the probit line says of the difficulties of both sets, if the difficulty model holds.
        spreads: What the answers to each image say of them; None where they are not known.
        unknown: What these data can't tell.
        notes: What was left out, and why.
    """

    clean: str
    shifted: str
    same_images: bool
    models: tuple[DropParts, ...]
    of_clean: SamplingError | None
    of_shifted: SamplingError | None
    linear: Fitted | None
    probit: Fitted | None
    adaptivity: Adaptivity | None
    difficulty: Reading | None
    spreads: Spreads | None
    duplicates: int | float | None
    unknown: tuple[str, ...]
    notes: tuple[str, ...]
    level: float
    why: str = ""

    def __str__(self) -> str:
        return self.text()

    def text(self, models: Collection[str] = ()) -> str:
        """The explanation as text: of the mean of the models, and of those that are named or the best and the worst."""
        return text_of(self, models)

    def as_json(self) -> dict[str, Any]:
        """The same as plain values."""
        return asdict(self)


OF_FIXED_N = "the intervals of lines, difficulties and near-duplicates"
"""What is told of images here as of a sample whose size was known before."""
_TABLE = (
    "the intervals of lines are over models alone: the answers to each image, which all models share, are not here",
)

Duplicates = Collection[str] | float | None
"""The ids of the clean images that have a near-duplicate in the training data; or only their share."""


def explain(
    store: Source,
    shift: str,
    *,
    clean: Sequence[str] = (),
    duplicates: Duplicates = None,
    origins: Mapping[str, Origin] | None = None,
    options: RobustnessOptions = DEFAULT,
) -> Explanation:
    """What the drops of a store's models under a shift are made of, as far as the data tell.

    Args:
        shift: A shift, a condition, a data set, or a family, whose conditions are averaged.
        clean: The clean set, over the same classes. By default the shift's other side.
        duplicates: The ids of the clean images that have a near-duplicate in the training data, or their share.
        origins: Category and parent of models whose cards do not say.
        options: Which models the lines go through, and the level; scale and knee are the question's own.
    """
    index = models_alone(index_at(store))
    asked = asked_shift(index, shift, clean)
    known = origins or {}
    points = pairs_of(index, asked, origins=known, how=IntervalOptions(level=options.resampling.level))
    again = None
    if points.drops_at_one_level and points.measure == "top-1":
        again = pairs_of(index, asked, origins=known, how=IntervalOptions(level=ALMOST_SURE))
    found = explain_points(points, again, duplicates=duplicates, options=options)
    return replace(found, notes=(*index.problems, *found.notes))


def explain_table(
    rows: Sequence[Accuracy],
    shift: str,
    *,
    clean: Sequence[str] = (),
    duplicates: Duplicates = None,
    origins: Mapping[str, Origin] | None = None,
    options: RobustnessOptions = DEFAULT,
) -> Explanation:
    """The same from a table of accuracies."""
    asked = asked_shift(index_of_table(rows), shift, clean)
    points = points_of_table(rows, asked, origins=origins or {}, level=options.resampling.level)
    return explain_points(points, duplicates=duplicates, options=options)


def explain_points(
    points: Points,
    almost_surely: Points | None = None,
    *,
    duplicates: Duplicates = None,
    options: RobustnessOptions = DEFAULT,
) -> Explanation:
    """The same of models that were paired before.

    Args:
        almost_surely: The same points with intervals at 99.99 %, which drops at that level need where
            ``drops_at_one_level``; without them these have no interval.
    """
    if points.measure != "top-1" or len(points.x) > 1:
        raise UsageError(
            f"{points.y}: only a share of right answers on one clean set has these three gaps"
            f"{'; this shift is judged by mAP' if points.measure == 'map' else ''}"
        )
    level = options.resampling.level
    baseline = baseline_models(points, options)
    linear, probit, adaptivity, why = _lines(points, baseline, options)
    difficulty, said = _difficulty(probit)
    having, about = _having(points, duplicates)
    parts = tuple(_parts(points, almost_surely, at, having, duplicates, level) for at in range(len(points.models)))
    parts = tuple(sorted(parts, key=lambda one: -one.clean.value))
    if len(parts) > 1:
        parts = (_mean_parts(points, parts, having, level), *parts)
    found = Explanation(
        clean=points.x[0],
        shifted=points.y,
        same_images=points.same_images,
        models=parts,
        of_clean=_sampling(points, points.stopped_x, points.models[0].x[0].n, level),
        of_shifted=_sampling(points, points.stopped_y, points.models[0].y.n, level),
        linear=linear,
        probit=probit,
        adaptivity=adaptivity,
        difficulty=difficulty,
        spreads=_spreads(points, baseline, options),
        duplicates=duplicates if isinstance(duplicates, float) else None if having is None else int(having.sum()),
        unknown=(),
        notes=(
            *points.notes,
            *unused_patterns([point.model for point in points.models], options.leave_out),
            *said,
            *about,
            *notes_of_stopped(OF_FIXED_N, points.stopped_x, points.stopped_y),
            *(_TABLE if points.right_x is None and linear is not None else ()),
        ),
        level=level,
        why=why,
    )
    return replace(found, unknown=unknown_of(found))


def _lines(
    points: Points, baseline: np.ndarray, options: RobustnessOptions
) -> tuple[Fitted | None, Fitted | None, Adaptivity | None, str]:
    """The lines on the linear and the probit scale and what is said of adaptivity, or why there are none."""
    try:
        linear = line_through(points, baseline, "linear", options.resampling)
        probit = line_through(points, baseline, "probit", options.resampling)
    except OodometerError as error:
        return None, None, None, str(error)
    return linear.fitted, probit.fitted, _adaptivity(points, baseline, options), ""


def _adaptivity(points: Points, baseline: np.ndarray, options: RobustnessOptions) -> Adaptivity:
    """By the line on the scale that fits best: through weak and strong models none is straight on all of them."""
    x = np.array([point.x[0].value for point in points.models])[baseline]
    y = np.array([point.y.value for point in points.models])[baseline]
    try:
        scale = compare_scales(x, y)[0].line.scale
    except OodometerError:  # one model alone determines the slope
        scale = "probit"
    best = line_through(points, baseline, scale, options.resampling)
    inside = x[(x > 0) & (x < 1)]
    middle, most = float(np.median(inside)), float(inside.max())
    least = middle if middle < most else float(inside.min())
    slope = rise_of(best.line, best.spread, least, most, level=options.resampling.level)
    return adaptivity_of(slope, least, most)


def _difficulty(probit: Fitted | None) -> tuple[Reading | None, list[str]]:
    """What the probit line says of the difficulties, or why it says nothing."""
    if probit is None or probit.slope is None or probit.intercept is None:
        return None, []
    try:
        return reading_of(probit.slope, probit.intercept), []
    except OodometerError as error:
        return None, [str(error)]


def _spreads(points: Points, baseline: np.ndarray, options: RobustnessOptions) -> Spreads | None:
    """σ of both sets from the answers to each image, where these are single answers of three models at least."""
    right_x, right_y = points.right_x, points.right_y
    if (
        right_x is None
        or right_y is None
        or right_x.dtype != bool
        or right_y.dtype != bool
        or baseline.sum() < FEWEST_MODELS
    ):
        return None
    if min(right_x.shape[1], right_y.shape[1]) < 2:
        return None
    return spreads_of(
        right_x[baseline], right_y[baseline], same_images=points.same_images, level=options.resampling.level
    )


def _sampling(points: Points, stopped: Sample | None, n: int | None, level: float) -> SamplingError | None:
    """Of a set of so many images; None where nobody knows how many, or where that depends on what was seen."""
    if not n or stopped is not None or points.apart or len({(one.x[0].n, one.y.n) for one in points.models}) > 1:
        return None
    return SamplingError(n, sampling_error(n, level=level), sampling_error(n, level=ALMOST_SURE))


def _having(points: Points, duplicates: Duplicates) -> tuple[np.ndarray | None, list[str]]:
    """Which clean images have a near-duplicate, (N,) bool; None where only their share is known, or nothing."""
    if duplicates is None or isinstance(duplicates, float | int):
        if duplicates is not None and not 0 < duplicates < 1:
            raise UsageError(f"a share of {duplicates} near-duplicates: must lie between 0 and 1, such as 0.08")
        return None, []
    if points.right_x is None or points.ids_x is None or points.right_x.dtype != bool:
        raise UsageError(
            f"near-duplicates by image need the answers to each image of {points.x[0]}, and here are accuracies alone: "
            "give their share"
        )
    wanted = set(duplicates)
    having = np.array([one in wanted for one in points.ids_x.tolist()])
    if not having.any() or having.all():
        hint = did_you_mean(min(wanted), points.ids_x.tolist()) if wanted and len(having) < 10_000 else ""
        raise DataError(
            f"{'all' if having.any() else 'none'} of the {len(having)} images of {points.x[0]} is among the "
            f"{len(wanted)} with a near-duplicate: there is nothing to compare{hint}"
        )
    lost = len(wanted) - int(having.sum())
    return having, [
        f"{lost} of {len(wanted)} near-duplicates are not among the images of {points.x[0]}"
    ] if lost else []


def _parts(
    points: Points,
    almost_surely: Points | None,
    at: int,
    having: np.ndarray | None,
    duplicates: Duplicates,
    level: float,
) -> DropParts:
    point = points.models[at]
    clean, shifted = point.x[0], point.y
    near, most = None, None
    if having is not None and points.right_x is not None:
        near = contamination(points.right_x[at], having, level=level).gained
    share = duplicates if isinstance(duplicates, float) else None if having is None else float(having.mean())
    if share is not None and clean.value >= share:
        most = most_by_duplicates(clean.value, share)
    return DropParts(
        point.model,
        clean,
        shifted,
        drop_under_shift(points, at, level),
        _drop_almost_surely(points, almost_surely, at),
        gap_bounds(clean, shifted),
        near,
        most,
    )


def _drop_almost_surely(points: Points, almost_surely: Points | None, at: int) -> Estimate:
    if not points.drops_at_one_level:
        return drop_under_shift(points, at, ALMOST_SURE)
    if almost_surely is not None:
        return drop_under_shift(almost_surely, at, ALMOST_SURE)
    clean, shifted = points.models[at].x[0], points.models[at].y
    return Estimate(clean.value - shifted.value, None, None, shifted.n, "none: the accuracies are known at one level")


def _mean_parts(points: Points, parts: Sequence[DropParts], having: np.ndarray | None, level: float) -> DropParts:
    """The same of the mean of all models: over images where the answers are known, else from the models' intervals."""
    clean, shifted, drop = _mean_sides(points, parts, level)
    most = [one.near_duplicates_at_most for one in parts if one.near_duplicates_at_most is not None]
    return DropParts(
        MEAN,
        clean,
        shifted,
        drop,
        _mean_sides(points, parts, ALMOST_SURE)[2],
        gap_bounds(clean, shifted),
        None if having is None or points.right_x is None else gained_by_mean(points.right_x, having, level=level),
        float(np.mean(most)) if most else None,
    )


def _mean_sides(points: Points, parts: Sequence[DropParts], level: float) -> tuple[Estimate, Estimate, Estimate]:
    """The mean accuracy on both sides, and the mean drop."""
    if points.right_x is not None and points.right_y is not None and points.stopped_x is points.stopped_y is None:
        right_x, right_y = points.right_x.mean(axis=0), points.right_y.mean(axis=0)
        clean, shifted = (mean_of(side, level=level, bounds=(0, 1)) for side in (right_x, right_y))
        if points.same_images:
            return clean, shifted, mean_of(right_x - right_y, level=level, bounds=(-1, 1))
        return clean, shifted, difference_of(clean, shifted, n=shifted.n, level=level)
    drops = [one.drop if level != ALMOST_SURE else one.drop_almost_surely for one in parts]
    sides = [one.clean for one in parts], [one.shifted for one in parts], drops
    clean, shifted, drop = (mean_of_intervals(side) for side in sides)
    return clean, shifted, drop
