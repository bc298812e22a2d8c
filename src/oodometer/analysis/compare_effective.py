"""Effective robustness of many models beside each other: of every pair the difference, given one line for both.

What moves both models alike (the images that they share, the line that they are judged by) cancels out, so that two
models may be told apart whose own intervals overlap.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations

import numpy as np

from oodometer.analysis.accuracy_pairs import pairs_of
from oodometer.analysis.asked_shifts import asked_shift
from oodometer.analysis.compared_sides import model_names_in
from oodometer.analysis.intervals import IntervalOptions
from oodometer.analysis.judged_pair import DEFAULT, CompareOptions, Judged
from oodometer.analysis.line_rules import (
    DEFAULT_OPTIONS,
    NO_KNEE,
    RobustnessOptions,
    baseline_models,
    knee_of,
    rules_for,
)
from oodometer.analysis.many_comparisons import Asked, ManyComparisons, Pair, told_together
from oodometer.analysis.measured_shifts import MeasuredShift, measured_shifts
from oodometer.analysis.origins import Origin
from oodometer.analysis.people import models_alone
from oodometer.analysis.points import Points
from oodometer.analysis.robustness_line import rho_draws
from oodometer.analysis.sampled import notes_of_stopped
from oodometer.core.errors import OodometerError, StoreError, UsageError
from oodometer.core.estimate import Estimate
from oodometer.stats.bootstrap import Resampling
from oodometer.stats.effective_robustness import RhoDraws
from oodometer.store.index import Index, Source, index_at

MEASURE = "effective robustness ρ"

ACROSS = "one on each side of the knee: they are judged by two lines"
UNKNOWN = "the number of images of one of the two is not known"


def compare_effective(
    store: Source,
    models: Sequence[str] = (),
    *,
    on: Sequence[str] = (),
    options: CompareOptions = DEFAULT,
    origins: Mapping[str, Origin] | None = None,
    line: RobustnessOptions = DEFAULT_OPTIONS,
) -> ManyComparisons:
    """Every pair of models by effective robustness under every shift: ρ of B minus ρ of A, given one line.

    The line goes through the models of the store that `robustness` takes, whichever are compared.

    Args:
        models: By name; none: all of the store.
        on: Shifts; none: all that have a line.
        options: How p-values are corrected for the number of all comparisons, the level, and the draws; the test is
            always resampling, of images and of the models of the line.
        origins: Category and parent of models whose cards do not say.
        line: How it is drawn.

    Raises:
        StoreError: There is no shift on which two of these models stand beside a line.
    """
    index = models_alone(index_at(store))
    names = model_names_in(index, models)
    line = replace(line, resampling=Resampling(options.draws, options.level, seed=options.seed))
    asked: list[Asked] = []
    notes: list[str] = []
    for shift in [asked_shift(index, name) for name in on] if on else measured_shifts(index).shifts:
        try:
            side, said = _asked(index, shift, names, origins or {}, line)
            asked.append(side)
            notes += said
        except OodometerError as why:
            notes.append(f"{shift.name}: {why}")
    asked = [one for one in asked if len(one.values) > 1]
    if not asked:
        raise StoreError(f"{index}: no line to compare by{f' ({notes[0]})' if notes else ''}")
    return told_together(asked, options, measure=MEASURE, notes=notes, resamples=True)


def _asked(
    index: Index, shift: MeasuredShift, names: Sequence[str], origins: Mapping[str, Origin], line: RobustnessOptions
) -> tuple[Asked, list[str]]:
    """The models under a shift, beside its line."""
    points = pairs_of(index, shift, origins=origins, how=IntervalOptions(level=line.resampling.level))
    if len(points.x) > 1:
        raise UsageError("several clean sets make a plane; name one")
    options, said = rules_for(points, shift, line).options, []
    try:
        parts = _beside_lines(points, options)
    except OodometerError as why:
        if line.knee is not None or options.knee is None:
            raise
        parts = _beside_lines(points, replace(options, knee=None))  # the catalogue's knee leaves too few on a side
        said = [f"{shift.name}: one line, not two with a knee: {why}"]
    numbers = "the intervals and p-values of ρ"
    said += [f"{shift.name}: {note}" for note in notes_of_stopped(numbers, points.stopped_x, points.stopped_y)]
    values: dict[str, Estimate] = {}
    at: dict[str, tuple[int, int]] = {}
    for number, (models, drawn) in enumerate(parts):
        for place, (model, estimate) in enumerate(zip(models, drawn.estimates(), strict=True)):
            values[model], at[model] = estimate, (number, place)
    order = sorted((name for name in names if name in values), key=lambda name: (-values[name].value, name))
    draws = [drawn for _, drawn in parts]
    pairs = [_pair(a, b, at, draws) for a, b in combinations(order, 2)]
    side = Asked(shift.name, shift.kind, len(points.conditions), {name: values[name] for name in order}, pairs)
    return side, said


def _beside_lines(points: Points, options: RobustnessOptions) -> list[tuple[list[str], RhoDraws]]:
    """The models of each line with their ρ in every draw: one line, or one on each side of a knee."""
    baseline = baseline_models(points, options)
    every = np.arange(len(points.models))
    sides = [every]
    if options.knee not in (None, NO_KNEE):
        clean = np.array([point.x[0].value for point in points.models])
        below = clean <= knee_of(points, options.knee)
        sides = [every[below], every[~below]]
    return [
        (
            [points.models[place].model for place in some],
            rho_draws(points, some, baseline, options.scale, options.resampling),
        )
        for some in sides
        if len(some)
    ]


def _pair(a: str, b: str, at: Mapping[str, tuple[int, int]], draws: Sequence[RhoDraws]) -> Pair:
    (part, place_a), (other, place_b) = at[a], at[b]
    if part != other:
        return Pair(a, b, None, ACROSS)
    drawn = draws[part]
    p_value = drawn.p_value(place_a, place_b)
    n = drawn.difference(place_a, place_b).n or 0
    judged = Judged(drawn.names[place_a], p_value, partial(_difference, drawn, place_a, place_b), n)
    return Pair(a, b, judged, UNKNOWN if np.isnan(p_value) else "")


def _difference(drawn: RhoDraws, a: int, b: int, level: float) -> Estimate:
    return replace(drawn, level=level).difference(a, b)
