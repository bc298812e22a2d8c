"""Which models a baseline goes through and where it bends: what the user says, else what the catalogue knows."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from oodometer.analysis.measured_shifts import MeasuredShift, same_clean
from oodometer.analysis.origins import Origin
from oodometer.analysis.points import Points
from oodometer.core.errors import UsageError, did_you_mean
from oodometer.stats.bootstrap import DEFAULT as DEFAULT_RESAMPLING
from oodometer.stats.bootstrap import Resampling
from oodometer.stats.scales import Scale

STANDARD = "standard"
NO_KNEE = "none"
FEWEST_ABOVE_CUT = 5
"""A usual cut that leaves fewer models to the line is not made."""


SAY_CATEGORY = "give --categories CSV, or --category or a card when they are run"


@dataclass(frozen=True)
class RobustnessOptions:
    """How the baseline is drawn.

    Args:
        scale: On which the line is straight: ``linear``, ``logit`` or ``probit``.
        baseline: The category of the models that the line goes through; empty: all of them.
        baseline_above: The least clean accuracy of these models, a share; None: as the catalogue says of the shift.
        leave_out: Patterns (``*aws*``) of models that the line does not go through.
        knee: A model, or a clean accuracy: two lines, one on each side of it, as for ImageNet-A; ``none``: one line.
            None: as the catalogue says of the shift.
        resampling: Of images and models.
        band_level: Of the band in which the line lies; None: that of the intervals.
    """

    scale: Scale = "logit"
    baseline: str = STANDARD
    baseline_above: float | None = None
    leave_out: tuple[str, ...] = ()
    knee: str | float | None = None
    resampling: Resampling = DEFAULT_RESAMPLING
    band_level: float | None = None

    def __post_init__(self) -> None:
        if self.band_level is not None and not 0 < self.band_level < 1:
            raise UsageError(f"a band of level {self.band_level:g}: expected a number between 0 and 1, such as 0.95")


DEFAULT_OPTIONS = RobustnessOptions()


@dataclass(frozen=True)
class Rules:
    """How the line of one shift is drawn, with nothing left to be decided; and what there is to say about it."""

    options: RobustnessOptions
    notes: tuple[str, ...]


def rules_for(points: Points, shift: MeasuredShift, options: RobustnessOptions) -> Rules:
    """The cut and the knee of a shift's line: what the user says, else what the catalogue knows."""
    cut, about_cut = _cut(points, shift, options)
    knee, about_knee = _bend(points, shift, options)
    return Rules(replace(options, baseline_above=cut, knee=knee), (*about_cut, *about_knee))


def _on_its_axis(points: Points, shift: MeasuredShift) -> bool:
    """Whether the shift is compared with what the catalogue says: only then do its cut and its knee hold."""
    side = shift.standard
    name = side.condition.name if side.condition else side.name
    return shift.entry is not None and len(points.x) == 1 and same_clean(name, shift.entry.clean)


def _cut(points: Points, shift: MeasuredShift, options: RobustnessOptions) -> tuple[float, list[str]]:
    """The least clean accuracy of the models of the line."""
    if options.baseline_above is not None:
        return options.baseline_above, []
    above = shift.entry.baseline_above if shift.entry and _on_its_axis(points, shift) else None
    if above is None:
        return 0.0, []
    may = [point for point in points.models if may_be_baseline(point.model, point.origin, options)]
    n = sum(point.x[0].value >= above for point in may)
    if n == len(may):
        return above, []
    if n < FEWEST_ABOVE_CUT:
        said = f"the line goes through all {len(may)} models: only {n} have the {100 * above:g} % that is usual here"
        return 0.0, [said]
    return above, [f"the line goes through models of at least {100 * above:g} % on {points.x[0]} ({n} of {len(may)})"]


def _bend(points: Points, shift: MeasuredShift, options: RobustnessOptions) -> tuple[float | None, list[str]]:
    """The clean accuracy at which the line bends: that of the model by whose mistakes the images were chosen."""
    if options.knee == NO_KNEE:
        return None, []
    if options.knee is not None:
        return knee_of(points, options.knee), []
    filtered_by = shift.entry.filtered_by if shift.entry else None
    if filtered_by is None or len(points.x) > 1:
        return None, []
    own = [point.x[0].value for point in points.models if filtered_by.is_called(point.model)]
    if own:
        return own[0], []
    called = filtered_by.models[0]
    if not _on_its_axis(points, shift):
        return None, [
            f"no knee: {called}, whose mistakes these images are, is not among the models, and on {points.x[0]} its "
            "accuracy is not known; --knee ACCURACY sets one"
        ]
    return filtered_by.clean_accuracy, [
        f"the knee is at {100 * filtered_by.clean_accuracy:.4g} %, the published accuracy of {called}, whose mistakes "
        "these images are and which is not among the models"
    ]


def baseline_models(points: Points, options: RobustnessOptions) -> np.ndarray:
    """Which models the line goes through, (M,) bool."""
    categories = {point.origin.category for point in points.models}
    if options.baseline and options.baseline not in categories:
        known = sorted(one for one in categories if one)
        hint = did_you_mean(options.baseline, known) or f"; no categories are known: {SAY_CATEGORY}"
        raise UsageError(
            f"no model of category {options.baseline!r} among those measured on {points.y} "
            f"(--baseline all takes every model){hint}"
        )
    return np.array(
        [
            may_be_baseline(point.model, point.origin, options) and point.x[0].value >= (options.baseline_above or 0.0)
            for point in points.models
        ]
    )


def may_be_baseline(model: str, origin: Origin, options: RobustnessOptions) -> bool:
    """Whether lines go through the model wherever its clean accuracy is high enough: by its category and name."""
    wanted = not options.baseline or origin.category == options.baseline
    return wanted and not any(fnmatch.fnmatchcase(model, pattern) for pattern in options.leave_out)


def unused_patterns(models: Sequence[str], leave_out: Sequence[str]) -> list[str]:
    """A line about each pattern that fits no model: it may be mistyped."""
    return [
        f"--leave-out {pattern}: fits no model here" for pattern in leave_out if not fnmatch.filter(models, pattern)
    ]


def knee_of(points: Points, knee: str | float) -> float:
    """The clean accuracy at which the baseline bends: a number, or that of a model."""
    places = {point.model: point.x[0].value for point in points.models}
    if isinstance(knee, str) and knee not in places:
        raise UsageError(
            f"--knee {knee}: no such model{did_you_mean(knee, places)}; or give a clean accuracy like 0.76"
        )
    return places[knee] if isinstance(knee, str) else float(knee)
