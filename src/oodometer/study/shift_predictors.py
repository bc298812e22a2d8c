"""Which synthetic shift of a study predicts which natural one: correlations of effective robustness."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from oodometer.analysis.correlate import CorrelateOptions, Correlations, Ruled, ShiftPair, correlate_points
from oodometer.analysis.line_rules import RobustnessOptions, Rules, baseline_models
from oodometer.analysis.points import Point, Points
from oodometer.analysis.rho_over_images import rho_values
from oodometer.core.errors import OodometerError
from oodometer.core.estimate import Estimate
from oodometer.study import Study, StudyShift
from oodometer.study.corruption_grid import CorruptionGrid, grids_of, shift_of, spaced

SYNTHETIC = ("corruption", "adversarial", "style")
"""The kinds of shifts that are made from the clean images."""


@dataclass(frozen=True)
class Predictors:
    """How far robustness to synthetic shifts goes with robustness to natural ones.

    Args:
        whole: Families of corruptions in the mean, attacks and painted styles; all families, and all attacks, likewise.
        each: Every corruption by itself, in the mean over its severities; None where there are none.
        through_all: Whether the lines go through all models, since none is known to be another than the baseline's.
        left_out: Shifts that have no line, and why.
    """

    whole: Correlations
    each: Correlations | None
    through_all: bool
    left_out: tuple[str, ...]

    def best(self) -> dict[str, ShiftPair | None]:
        """The synthetic shift with the highest r for each natural one; None where all are undefined."""
        return {
            shift.shift: next((one for one in self.whole.pairs if one.natural == shift.shift and one.r), None)
            for shift in self.whole.natural
        }


def predicted(study: Study) -> Predictors | None:
    """What the shifts of a study tell about each other; None where it has none of the one or of the other sort.

    Raises:
        OodometerError: No shift of one of the sorts has a line.
    """
    through_all = _through_all(study)
    natural = [_named(shift, study, through_all) for shift in study.shifts if shift.natural]
    made = [shift for shift in study.shifts if not shift.natural and (shift.kind in SYNTHETIC or shift.family)]
    means = [_ruled(points, some, study, through_all) for points, some in _means(made)]
    synthetic = [*means, *(_named(shift, study, through_all) for shift in made)]
    if not natural or not synthetic:
        return None
    options = CorrelateOptions(line=_line(study, through_all))
    left_out: list[str] = []
    rows, cols = (list(_with_lines(some, left_out)) for some in (synthetic, natural))
    if not rows or not cols:
        raise OodometerError(left_out[0])
    each = [_ruled(points, [shift], study, through_all) for points, shift in _each(study)]
    single = list(_with_lines(each, left_out))
    return Predictors(
        whole=correlate_points(rows, cols, options),
        each=correlate_points(single, cols, options) if single else None,
        through_all=through_all and bool(study.options.baseline),
        left_out=tuple(left_out),
    )


def _through_all(study: Study) -> bool:
    """Whether lines go through all models: through the baseline they would go through none, or leave none."""
    known = {point.origin.category for shift in study.shifts for point in shift.points.models if point.origin.category}
    baseline = study.options.baseline
    return not (baseline in known and known - {baseline})


def _line(study: Study, through_all: bool) -> RobustnessOptions:
    return replace(study.options, baseline="") if through_all else study.options


def _named(shift: StudyShift, study: Study, through_all: bool) -> Ruled:
    """The points under the name that the shift has in the study, with its own line."""
    baseline = _line(study, through_all).baseline
    rules = replace(shift.rules, options=replace(shift.rules.options, baseline=baseline))
    return Ruled(replace(shift.points, y=shift.name), rules)


def _ruled(points: Points, shifts: Sequence[StudyShift], study: Study, through_all: bool) -> Ruled:
    """Parts or means of these shifts, with one line, cut as theirs are where all have the same cut."""
    cuts = {shift.rules.options.baseline_above or 0.0 for shift in shifts}
    cut = cuts.pop() if len(cuts) == 1 else 0.0
    return Ruled(points, Rules(replace(_line(study, through_all), knee=None, baseline_above=cut), ()))


def _with_lines(shifts: Sequence[Ruled], left_out: list[str]) -> Iterator[Ruled]:
    """Those that have a line; why others have none is noted."""
    for one in shifts:
        name = one.points.y
        if why := _no_line(one):
            left_out.append(why if why.startswith(name) else f"{name}: {why}")
        else:
            yield one


def _no_line(one: Ruled) -> str:
    """Why there is no line; empty where there is one."""
    try:
        rho_values(one.points, baseline_models(one.points, one.rules.options), one.rules.options)
    except OodometerError as error:
        return str(error)
    return ""


def _means(shifts: Sequence[StudyShift]) -> Iterator[tuple[Points, list[StudyShift]]]:
    """The mean over all families of corruptions, and that over all attacks, where there are several; and over which."""
    families = [shift for shift in shifts if shift.family]
    attacks = [shift for shift in shifts if shift.kind == "adversarial"]
    for some, what in ((families, "corruptions"), (attacks, "attacks")):
        points = [shift.points for shift in some]
        if len(some) > 1 and len({one.x for one in points}) == 1:
            conditions = tuple(name for one in points for name in one.conditions)
            if models := tuple(_on_all(points)):
                mean = Points(points[0].x, f"all {what}", conditions, models)
                yield _with_images(mean, points), some


def _with_images(mean: Points, shifts: Sequence[Points]) -> Points:
    """The mean of shifts with the images behind it, where all are of the same models and photographs."""
    first = shifts[0]
    if any(not _alike(first, one) for one in shifts) or first.right_x is None:
        return mean
    sizes = np.array([len(one.conditions) for one in shifts])
    right = np.tensordot(sizes / sizes.sum(), np.stack([one.right_y for one in shifts if one.right_y is not None]), 1)
    return replace(
        mean, right_x=first.right_x, right_y=right, same_images=first.same_images, ids_x=first.ids_x, ids_y=first.ids_y
    )


def _alike(a: Points, b: Points) -> bool:
    """Whether the same models saw the same images on each side."""
    if a.ids_x is None or b.ids_x is None or a.ids_y is None or b.ids_y is None or a.same_images != b.same_images:
        return False
    models = [point.model for point in a.models] == [point.model for point in b.models]
    return models and np.array_equal(a.ids_x, b.ids_x) and np.array_equal(a.ids_y, b.ids_y)


def _on_all(shifts: Sequence[Points]) -> Iterator[Point]:
    """The models that were measured on all of them, with the mean over all conditions."""
    by_model = [{point.model: point for point in points.models} for points in shifts]
    sizes = [len(points.conditions) for points in shifts]
    for point in shifts[0].models:
        values = [models[point.model].y.value for models in by_model if point.model in models]
        if len(values) == len(shifts):
            value = sum(size * one for size, one in zip(sizes, values, strict=True)) / sum(sizes)
            yield replace(point, y=Estimate(value, None, None, point.y.n, f"none: a mean over {sum(sizes)} conditions"))


def _each(study: Study) -> list[tuple[Points, StudyShift]]:
    """Every corruption of every family that is a shift of the study, with the family's clean set, and the family."""
    found = []
    for grid in grids_of(study):
        shift = shift_of(study, grid)
        if shift and not shift.natural and shift.family:
            every = [_corruption(grid, shift, name) for name in grid.corruptions]
            found += [(points, shift) for points in every if points.models]
    return found


def _corruption(grid: CorruptionGrid, shift: StudyShift, name: str) -> Points:
    """One corruption, the mean over its severities."""
    models = tuple(
        Point(point.model, point.origin, point.x, mean)
        for point in shift.points.models
        if (mean := grid.over_severities(point.model, name))
    )
    names = tuple(f"{name}/{severity}" for severity in grid.severities)
    return Points(shift.points.x, f"{spaced(name)}, {shift.name}", names, models)
