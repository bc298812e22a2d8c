"""Effective and relative robustness of every model: what it has beyond its clean accuracy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, get_args

import numpy as np

from oodometer.analysis.accuracy_pairs import pairs_of
from oodometer.analysis.asked_shifts import asked_shift
from oodometer.analysis.differences import difference_under_shift, drop_under_shift
from oodometer.analysis.intervals import IntervalOptions
from oodometer.analysis.line_outliers import outlier_notes
from oodometer.analysis.line_rules import (
    DEFAULT_OPTIONS,
    NO_KNEE,
    SAY_CATEGORY,
    RobustnessOptions,
    baseline_models,
    knee_of,
    rules_for,
    unused_patterns,
)
from oodometer.analysis.measured_shifts import MeasuredShift
from oodometer.analysis.origins import Origin
from oodometer.analysis.people import models_alone
from oodometer.analysis.points import Point, Points
from oodometer.analysis.robustness_line import Drawn, Fitted, draw_line, draw_plane, draw_two_lines
from oodometer.analysis.robustness_text import table_of
from oodometer.analysis.sampled import notes_of_stopped
from oodometer.analysis.table_pairs import points_of_table
from oodometer.analysis.text import plural
from oodometer.core.condition import Measure
from oodometer.core.errors import OodometerError, UsageError
from oodometer.core.estimate import Estimate
from oodometer.stats.bootstrap import Resampling, draws_of_means, interval_of
from oodometer.stats.correlation import FEWEST_MODELS, Kind, kendall, over_models_alone, pearson, spearman
from oodometer.stats.correlation_over_images import correlation_over_images, over_images
from oodometer.stats.effective_robustness import relative_drop
from oodometer.stats.lines import compare_scales
from oodometer.stats.ranks import rank_change, ranks, swapped_pairs
from oodometer.store.index import Index, Source, index_at, index_of_table
from oodometer.store.tables import Accuracy

FEW_NAMES = 3
"""More models are counted, not named."""

FEWEST_RIGHT = 5
"""Clean images that a model must be right on for an interval of its relative drop: of 5, 0.7 % of the resamples have
none, of 2 it would be 14 %."""


@dataclass(frozen=True)
class ModelRobustness:
    """One model beside the line.

    Args:
        category: ``standard``, or what was done to it; empty where nobody says.
        in_baseline: Whether the line goes through it; its ρ is then closer to 0 than it would be otherwise.
        x: Accuracy on each clean set.
        y: Accuracy under the shift.
        drop: x minus y, on the first clean set.
        relative_drop: The share of x that is lost; None where x is 0.
        rho: Effective robustness: y minus what the line expects at x.
        tau: Relative robustness: y minus that of the parent; None where no parent is known or measured.
        parent: The model that it was made from.
        rank_x, rank_y: Among all these models, 1 for the best.
        rank_change: Places won under the shift.
    """

    model: str
    category: str
    in_baseline: bool
    x: tuple[Estimate, ...]
    y: Estimate
    drop: Estimate
    relative_drop: Estimate | None
    rho: Estimate
    tau: Estimate | None
    parent: str | None
    rank_x: int
    rank_y: int
    rank_change: int


@dataclass(frozen=True)
class Order:
    """How far the models stand in the same order on the first clean set and under the shift.

    Args:
        pearson, spearman, kendall: Correlations of x and y over all models; None where they are undefined: fewer than
            four models, or no variation.
        pairs: Of models; ``swapped_pairs`` of them change their order.
    """

    pearson: Estimate | None
    spearman: Estimate | None
    kendall: Estimate | None
    pairs: int
    swapped_pairs: int


@dataclass(frozen=True)
class Robustness:
    """All models under one shift, and the line that says what to expect; prints as a table.

    Args:
        x: The clean sets; usually one.
        y: The shift.
        conditions: What ``y`` is the mean of; one, where it is no family.
        measure: What is called accuracy here: ``top-1``, or ``map``.
        same_images: Whether x and y are of the same photographs, so that their differences are paired.
        order: Correlations, and pairs of models that swap.
        band: Clean accuracy, and between which accuracies the line lies there: (x, low, high); none for a plane.
        scales: Leave-one-out error of a line on each scale, in accuracy, best first.
        notes: What was left out, and why.
    """

    x: tuple[str, ...]
    y: str
    conditions: tuple[str, ...]
    measure: Measure
    same_images: bool
    fitted: Fitted
    models: tuple[ModelRobustness, ...]
    order: Order
    band: tuple[tuple[float, float, float], ...]
    scales: tuple[tuple[str, float], ...]
    notes: tuple[str, ...]
    level: float

    def __str__(self) -> str:
        return self.table()

    def table(self, *, plot: bool = False) -> str:
        """The line and every model as text, the highest ρ first; ``plot`` draws the intervals of ρ."""
        return table_of(self, plot=plot)

    def as_json(self) -> dict[str, Any]:
        """The same as plain values."""
        return asdict(self)


def robustness(
    store: Source,
    shift: str,
    *,
    x: Sequence[str] = (),
    origins: Mapping[str, Origin] | None = None,
    options: RobustnessOptions = DEFAULT_OPTIONS,
) -> Robustness:
    """Effective and relative robustness of every model of a store under a shift.

    Args:
        shift: A shift, a condition, a data set, or a family such as ``imagenet-c``, whose conditions are averaged.
        x: The clean set, over the same classes; several make a plane of the line. By default the shift's other side.
        origins: Category and parent of models whose cards do not say.
    """
    index = models_alone(index_at(store))
    found = robustness_on(index, asked_shift(index, shift, x), origins=origins or {}, options=options)
    return replace(found, notes=(*index.problems, *found.notes))


def robustness_on(
    index: Index, shift: MeasuredShift, *, origins: Mapping[str, Origin], options: RobustnessOptions
) -> Robustness:
    """The same of a shift that was found before."""
    points = pairs_of(index, shift, origins=origins, how=IntervalOptions(level=options.resampling.level))
    return robustness_by_rules(points, shift, options)


def robustness_of_table(
    rows: Sequence[Accuracy],
    shift: str,
    *,
    x: Sequence[str] = (),
    origins: Mapping[str, Origin] | None = None,
    options: RobustnessOptions = DEFAULT_OPTIONS,
) -> Robustness:
    """The same from a table of accuracies."""
    asked = asked_shift(index_of_table(rows), shift, x)
    points = points_of_table(rows, asked, origins=origins or {}, level=options.resampling.level)
    return robustness_by_rules(points, asked, options)


def robustness_by_rules(points: Points, shift: MeasuredShift, options: RobustnessOptions) -> Robustness:
    """Every model beside the line that belongs to the shift: cut and bent as the user or the catalogue says.

    Where the catalogue's knee leaves too few models on a side, one line is drawn, and that is said.
    """
    rules = rules_for(points, shift, options)
    try:
        found = robustness_of(points, rules.options)
    except OodometerError as error:
        if options.knee is not None or rules.options.knee is None:
            raise
        found = robustness_of(points, replace(rules.options, knee=None))
        said = f"one line, not two with a knee at {rules.options.knee:.4g}: {error}"
        return replace(found, notes=(*found.notes, *rules.notes, said))
    return replace(found, notes=(*found.notes, *rules.notes))


OF_FIXED_N = "the intervals of lines, ρ, relative drops and correlations"
"""What is told of images here as of a sample whose size was known before."""


def robustness_of(points: Points, options: RobustnessOptions) -> Robustness:
    """Draw the baseline and set every model beside it."""
    x = np.array([[one.value for one in point.x] for point in points.models])
    y = np.array([point.y.value for point in points.models])
    baseline = baseline_models(points, options)
    drawn = _drawn(points, baseline, options)
    scales, said = _scales(x[baseline], y[baseline], drawn.fitted)
    change = rank_change(x[:, 0], y)
    relative_drops = _relative_drops(points, options.resampling)
    models = tuple(
        ModelRobustness(
            model=point.model,
            category=point.origin.category,
            in_baseline=bool(baseline[at]),
            x=point.x,
            y=point.y,
            drop=drop_under_shift(points, at, options.resampling.level),
            relative_drop=relative_drops[at],
            rho=drawn.rho[at],
            tau=_tau(points, at, options.resampling.level),
            parent=point.origin.parent,
            rank_x=int(rank_x),
            rank_y=int(rank_y),
            rank_change=int(change[at]),
        )
        for at, (point, rank_x, rank_y) in enumerate(zip(points.models, ranks(x[:, 0]), ranks(y), strict=True))
    )
    return Robustness(
        x=points.x,
        y=points.y,
        conditions=points.conditions,
        measure=points.measure,
        same_images=points.same_images,
        fitted=drawn.fitted,
        models=models,
        order=_order(points, x[:, 0], y, options.resampling),
        band=drawn.band,
        scales=scales,
        notes=(
            *points.notes,
            *unused_patterns([point.model for point in points.models], options.leave_out),
            *said,
            *_outliers(points, baseline, drawn),
            *notes_of_stopped(OF_FIXED_N, points.stopped_x, points.stopped_y),
            *_of_unknown_category(points, options),
            *_without_parents(points),
        ),
        level=options.resampling.level,
    )


def _outliers(points: Points, baseline: np.ndarray, drawn: Drawn) -> list[str]:
    """What is to be said of models that are far from the line that they are part of."""
    known = [at for at in np.flatnonzero(baseline) if drawn.rho[at] is not None]
    return outlier_notes([points.models[at].model for at in known], np.array([drawn.rho[at].value for at in known]))


def _of_unknown_category(points: Points, options: RobustnessOptions) -> list[str]:
    """A line about the models that no line goes through because nobody says what they are."""
    unknown = [point.model for point in points.models if not point.origin.category]
    if not options.baseline or not unknown:
        return []
    some = ", ".join(unknown[:FEW_NAMES]) + (
        f" and {len(unknown) - FEW_NAMES} more" if len(unknown) > FEW_NAMES else ""
    )
    return [f"not in the line, as nobody says the category: {some}; {SAY_CATEGORY}"]


def _drawn(points: Points, baseline: np.ndarray, options: RobustnessOptions) -> Drawn:
    """The baseline, of the kind that is asked for."""
    try:
        if len(points.x) > 1:
            if options.knee is not None:
                raise UsageError("a knee needs one clean set; give --x once")
            return draw_plane(points, baseline, options.scale, options.resampling)
        if options.knee in (None, NO_KNEE):
            return draw_line(points, baseline, options.scale, options.resampling, band_level=options.band_level)
        knee = knee_of(points, options.knee)
        return draw_two_lines(points, baseline, knee, options.scale, options.resampling, band_level=options.band_level)
    except UsageError:
        raise
    except OodometerError as error:
        n = int(baseline.sum())
        # How many there are is said before.
        why = str(error).removeprefix(f"{plural(n, 'model')}: ")
        raise OodometerError(f"the baseline ({_said(options, n)}): {why}") from error


def _said(options: RobustnessOptions, n: int) -> str:
    """Which models the baseline goes through, in words."""
    words = [f"{plural(n, 'model')} of category {options.baseline!r}" if options.baseline else plural(n, "model")]
    if options.baseline_above:
        words.append(f"clean accuracy at least {options.baseline_above:g}")
    if options.leave_out:
        words.append(f"without {', '.join(options.leave_out)}")
    return ", ".join(words)


def _scales(x: np.ndarray, y: np.ndarray, fitted: Fitted) -> tuple[tuple[tuple[str, float], ...], list[str]]:
    """The error of a line on each scale, where it can be told; and why not otherwise."""
    if fitted.kind != "line" or fitted.n <= 3:
        return (), []
    try:
        return tuple((one.line.scale, one.rmse) for one in compare_scales(x[:, 0], y)), []
    except OodometerError as error:
        return (), [f"the scales are not compared: {error}"]


def _order(points: Points, x: np.ndarray, y: np.ndarray, resampling: Resampling) -> Order:
    pairs, swapped = len(x) * (len(x) - 1) // 2, swapped_pairs(x, y)
    if len(x) < FEWEST_MODELS or np.ptp(x) == 0 or np.ptp(y) == 0:
        return Order(None, None, None, pairs, swapped)
    if points.right_x is None or points.right_y is None:
        found = [over_models_alone(of(x, y, level=resampling.level)) for of in (pearson, spearman, kendall)]
    else:
        models = over_images(points.right_x, points.right_y, same_images=points.same_images, resampling=resampling)
        found = [correlation_over_images(kind, models, level=resampling.level) for kind in get_args(Kind)]
    return Order(found[0], found[1], found[2], pairs, swapped)


def _relative_drops(points: Points, resampling: Resampling) -> list[Estimate | None]:
    """The share of the clean accuracy that each model loses; None where it has none to lose.

    Over the same resampled images where both sides have the same.
    """
    if not points.same_images or points.right_x is None or points.right_y is None:
        return [_relative_drop(points, point, resampling) for point in points.models]
    clean, shifted = (draws_of_means(right.T, resampling=resampling) for right in (points.right_x, points.right_y))
    with np.errstate(invalid="ignore", divide="ignore"):
        lost = (clean - shifted) / clean
    n_right = np.count_nonzero(points.right_x, axis=1)
    return [
        _lost(point, lost[:, at], int(n_right[at]), points.right_x.shape[1], resampling)
        for at, point in enumerate(points.models)
    ]


def _lost(point: Point, draws: np.ndarray, n_right: int, n: int, resampling: Resampling) -> Estimate | None:
    if point.x[0].value == 0:
        return None
    value = (point.x[0].value - point.y.value) / point.x[0].value
    # Of a model that is right on a few clean images, many resamples have none of them.
    if n_right < FEWEST_RIGHT:
        return Estimate(value, None, None, n, f"none: right on fewer than {FEWEST_RIGHT} clean images")
    return interval_of(draws, value, n=n, resampling=resampling)


def _relative_drop(points: Points, point: Point, resampling: Resampling) -> Estimate | None:
    """From two samples of images."""
    if point.x[0].value == 0:
        return None
    n_x, n_y = (points.n_behind(one, resampling.level) for one in (point.x[0], point.y))
    found = relative_drop(point.x[0].value, point.y.value, n_x, n_y, resampling=resampling)
    return replace(found, n=found.n and point.y.n)


def _tau(points: Points, at: int, level: float) -> Estimate | None:
    """The model minus its parent under the shift, where the parent is among the models."""
    parent = _parent(points, at)
    return None if parent is None else difference_under_shift(points, at, parent, level)


def _parent(points: Points, at: int) -> int | None:
    """The place of the model's parent."""
    name = points.models[at].origin.parent
    places = [place for place, other in enumerate(points.models) if other.model == name and place != at]
    return places[0] if places else None


def _without_parents(points: Points) -> list[str]:
    """A line about models whose parents are named but not among those measured."""
    parents = {
        str(point.origin.parent)
        for at, point in enumerate(points.models)
        if point.origin.parent is not None and _parent(points, at) is None
    }
    return [f"no τ of the models made from {', '.join(sorted(parents))}: not among those measured"] if parents else []
