"""Which shifts and models a figure shows; an error of one line where there is no telling."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from typing import TypeVar

from oodometer.analysis.line_rules import may_be_baseline
from oodometer.analysis.points import Point
from oodometer.analysis.robustness import Robustness
from oodometer.core.errors import OodometerError, StoreError, UsageError, did_you_mean
from oodometer.figures.options import FigureOptions
from oodometer.stats.lines import FEWEST_MODELS
from oodometer.store.cells import Cell
from oodometer.study import Study, StudyShift
from oodometer.study.corruption_grid import CorruptionGrid, grids_of, shift_of

T = TypeVar("T")

MOST_NAMES = 12
"""Shifts that an error names."""


def shifts_of(study: Study, options: FigureOptions, *, least: int = 1, most: int | None = None) -> list[StudyShift]:
    """The shifts that are asked for, or the only one that there is."""
    if not options.shifts and len(study.shifts) == least == 1:
        return list(study.shifts)
    wanted = "a shift" if least == 1 else f"{least} shifts"
    if len(options.shifts) < least:
        names = [one.name for one in study.shifts]
        known = f" ({', '.join(names[:MOST_NAMES])}{', ...' if len(names) > MOST_NAMES else ''})" if names else ""
        raise UsageError(f"this figure is about {wanted}: name {'it' if least == 1 else 'them'} with --shift{known}")
    if most is not None and len(options.shifts) > most:
        raise UsageError(f"this figure is about {wanted}, and {len(options.shifts)} are named with --shift")
    return [study.shift(name) for name in options.shifts]


def shown_points(shift: StudyShift, options: FigureOptions) -> tuple[Point, ...]:
    """The models of a shift that are to be shown."""
    names = set(that_fit([point.model for point in shift.points.models], options.models))
    found = tuple(point for point in shift.points.models if point.model in names and point.x[0].value >= options.above)
    if not found:
        raise UsageError(f"{shift.name}: no model has a clean accuracy of {options.above:g} or more")
    return found


def line_of(shift: StudyShift) -> Robustness:
    """The line of a shift, and every model beside it; an error that says why there is none."""
    if shift.robustness is None:
        raise OodometerError(f"{shift.name}: no line, and so no robustness beside it: {shift.why}")
    return shift.robustness


def that_fit(names: Sequence[str], patterns: Sequence[str], option: str = "--models") -> list[str]:
    """The names that fit any of the patterns, in their order; all without patterns; an error for one that fits none."""
    for pattern in patterns:
        if not fnmatch.filter(names, pattern):
            raise UsageError(f"{option} {pattern}: fits no model here{did_you_mean(pattern, names)}")
    return [name for name in names if not patterns or any(fnmatch.fnmatchcase(name, one) for one in patterns)]


def to_name(names: Sequence[str], patterns: Sequence[str], few: int) -> list[str]:
    """The models whose names are written: those that fit a pattern, or all where they are few.

    >>> to_name(["a", "b"], [], few=2), to_name(["a", "b"], ["b*", "c"], few=2), to_name(["a", "b"], [], few=1)
    (['a', 'b'], ['b'], [])
    """
    if not patterns:
        return list(names) if len(names) <= few else []
    return [name for name in names if any(fnmatch.fnmatchcase(name, one) for one in patterns)]


def enough_conditions(study: Study) -> str:
    """Why there is no shift: empty where there may be one."""
    return "" if len(study.conditions) > 1 else "a shift: a second condition beside the clean one"


def enough_for_a_line(study: Study) -> str:
    """Why there is no line: empty where there may be one."""
    models = [model for model in study.models if may_be_baseline(model.name, model.origin, study.options)]
    if len(models) >= FEWEST_MODELS:
        return enough_conditions(study)
    of = f" of category {study.options.baseline}" if study.options.baseline else ""
    hint = "; --categories CSV says which are, --baseline all takes all models" if of and not models else ""
    return f"{FEWEST_MODELS} models{of} for a line: there are {len(models)}{hint}"


def predictions(study: Study) -> str:
    """Why there is nothing about single images: empty where there are predictions."""
    return "" if any(model.cells for model in study.models) else "predictions, not only accuracies of a table"


def cells_of_sides(study: Study, shift: StudyShift, options: FigureOptions) -> dict[str, tuple[Cell, Cell]]:
    """The cells of each model on both sides of a shift that is a single condition."""
    if len(shift.points.conditions) > 1:
        some = shift.points.conditions[0]
        raise UsageError(f"{shift.name} is {len(shift.points.conditions)} conditions; name one, as --shift {some}")
    shown = {point.model for point in shown_points(shift, options)}
    found = {name: (clean[0], shifted[0]) for name, (clean, shifted) in shift.points.cells.items() if name in shown}
    if not found:
        raise StoreError(f"{study.address}: no predictions on {shift.name}, only accuracies of a table")
    return found


def grid_of(study: Study, options: FigureOptions) -> CorruptionGrid:
    """The family of corruptions that is asked for, on the data that are, or the only one that there is."""
    grids = grids_of(study)
    if not grids:
        raise StoreError(f"{study.address}: no corruptions were measured")
    families = list(dict.fromkeys(grid.family for grid in grids))
    if not options.shifts and len(families) > 1:
        raise UsageError(f"several families of corruptions; name one with --shift: {', '.join(families)}")
    wanted = options.shifts[0].partition("~")[0] if options.shifts else families[0]
    if wanted not in families:
        raise UsageError(f"no family of corruptions named {wanted!r}; there are {', '.join(families)}")
    some = [grid for grid in grids if grid.family == wanted]
    meant = [grid for grid in some if options.shifts and shift_of(study, grid)]  # its clean side tells the data
    if len(some) > 1 and len(meant) != 1:
        raise UsageError(f"{wanted} of several data sets; name one, as --shift {wanted}~{some[0].data}")
    return (meant or some)[0]


def at_most(rows: Sequence[T], most: int) -> list[T]:
    """The rows, if they fit on a page; an error that says what to do otherwise."""
    if len(rows) > most:
        raise UsageError(
            f"{len(rows)} models are more than the {most} rows of a page; choose some with --models PATTERN"
        )
    return list(rows)
