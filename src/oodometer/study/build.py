"""A study made of a store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from oodometer.analysis.accuracy_pairs import Origin
from oodometer.analysis.robustness import DEFAULT_OPTIONS, RobustnessOptions
from oodometer.analysis.stored_pairs import clean_side, points_of_store
from oodometer.core.errors import StoreError
from oodometer.store.shifts import shifts_in
from oodometer.store.store import Store, open_store
from oodometer.store.tables import read_tables
from oodometer.study.grid import Grid, grid_of
from oodometer.study.kinds import CLEAN_NAMES, clean_of, kind_of
from oodometer.study.shifts import in_order, stored_shifts, table_shifts, with_line, with_line_as_said
from oodometer.study.study import Study, StudyCondition, StudyModel, StudyShift


def study_of(
    store: str | Store,
    *,
    origins: Mapping[str, Origin] | None = None,
    options: RobustnessOptions = DEFAULT_OPTIONS,
    only: Sequence[str] | None = None,
) -> Study:
    """All that a store knows. One bad cell is noted, and is no error.

    Args:
        origins: Category and parent of models whose cards do not say.
        options: How the lines are drawn. A knee is for adversarially filtered sets alone; without one, ImageNet-A's
            is at its ResNet-50, as published, where that is among the models.
        only: The shifts that are wanted, since each takes a while; a condition, a family, a pattern, and any of them
            with its clean set as ``SHIFT~CLEAN``. An error, where one of them can't be had.
    """
    opened = store if isinstance(store, Store) else open_store(str(store))
    said = origins or {}
    tables = read_tables(opened)
    grid = grid_of(opened, tables, said, level=options.resampling.level)
    if not grid.models:
        raise StoreError(f"{opened}: nothing in it yet; 'oodometer run' or 'oodometer import' makes it")
    notes = list(grid.notes)
    if only is None:
        run = stored_shifts(opened, grid, said, options)
        measured = {one.name for one in grid.conditions if one.described}
        read = table_shifts(tables, measured | {one.name for one in run.shifts}, said, options)
        shifts = in_order([*run.shifts, *read.shifts])
        notes += [*run.notes, *read.notes]
    else:
        shifts = tuple(_asked(opened, text, grid, said, options) for text in dict.fromkeys(only))
    conditions = _clean_first(grid.conditions, shifts)
    sources = tuple(dict.fromkeys(row.source for row in tables))
    return Study(
        opened, _best_first(grid.models, conditions), conditions, shifts, tuple(notes), options, sources=sources
    )


def _asked(
    store: Store, text: str, grid: Grid, origins: Mapping[str, Origin], options: RobustnessOptions
) -> StudyShift:
    """The shift that is asked for by name, a pattern among them, with its clean set or without."""
    name, _, clean = text.partition("~")
    pairs = shifts_in(store)
    run = next((one.kind for one in pairs if name in (one.name, one.shifted["name"])), None)
    x = (clean,) if clean else _clean_side(store, name, grid)
    points = points_of_store(store, x, name, origins=origins, level=options.resampling.level)
    draw = with_line if options.knee is None else with_line_as_said
    drawn = draw(text, run or kind_of(name), points, options)
    if points.cells:
        standard, shifted = next(iter(points.cells.values()))
        return replace(drawn, standard=grid.names_of(standard)[0], shifted=grid.names_of(shifted))
    names = {one.condition: one.name for one in reversed(grid.conditions)}
    return replace(
        drawn, standard=names.get(x[0], x[0]), shifted=tuple(names.get(one, one) for one in points.conditions)
    )


def _clean_side(store: Store, name: str, grid: Grid) -> tuple[str, ...]:
    """What the shift is compared with: its other side, the clean set, or the only standard side that there is."""
    known = {one.condition for one in grid.conditions}
    of_table = clean_of(name)
    sides = (of_table,) if of_table else clean_side(store, name)
    if sides[0] in known:
        return sides
    standard = sorted({str(one.standard["name"]) for one in shifts_in(store)})
    others = [one for one in CLEAN_NAMES if one in known] or standard
    return (others[0],) if others else sides


def _clean_first(conditions: Sequence[StudyCondition], shifts: Sequence[StudyShift]) -> tuple[StudyCondition, ...]:
    """The conditions: the clean set of most shifts first, those that were run before imported ones; then the rest."""
    used = Counter(shift.standard for shift in shifts)

    def place(one: StudyCondition) -> tuple[bool, bool, int, bool, bool]:
        n = used[one.name]
        return not n, not one.described, -n, one.condition not in CLEAN_NAMES, one.family is not None

    return tuple(sorted(conditions, key=place))


def _best_first(models: Sequence[StudyModel], conditions: Sequence[StudyCondition]) -> tuple[StudyModel, ...]:
    first = conditions[0].accuracies if conditions else {}
    return tuple(sorted(models, key=lambda one: -first[one.name].value if one.name in first else 1))
