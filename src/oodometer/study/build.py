"""A study made of a store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from oodometer.analysis.asked_shifts import asked_shift
from oodometer.analysis.line_rules import DEFAULT_OPTIONS, RobustnessOptions
from oodometer.analysis.measured_shifts import is_clean
from oodometer.analysis.origins import Origin
from oodometer.analysis.people import models_alone
from oodometer.core.errors import StoreError
from oodometer.store.index import Source, index_at
from oodometer.study.grid import grid_of
from oodometer.study.shifts import Progress, study_shift, study_shifts
from oodometer.study.study import Study, StudyCondition, StudyModel, StudyShift


def study_of(
    store: Source,
    *,
    origins: Mapping[str, Origin] | None = None,
    options: RobustnessOptions = DEFAULT_OPTIONS,
    only: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> Study:
    """All that a store knows. One bad cell is noted, and is no error.

    Args:
        origins: Category and parent of models whose cards do not say.
        options: How the lines are drawn; cut and knee are by default those that the catalogue knows of each shift.
        only: The shifts that are wanted, since each takes a while; a condition, a family, a pattern, and any of them
            with its clean set as ``SHIFT~CLEAN``. An error, where one of them can't be had.
        progress: Called with the number of shifts that are done, and of all.
    """
    every = index_at(store)
    index, said = models_alone(every), origins or {}
    grid = grid_of(every, said, level=options.resampling.level)
    if not grid.models:
        raise StoreError(f"{index}: nothing in it yet; 'oodometer run' or 'oodometer import' makes it")
    notes = list(grid.notes)
    if only is None:
        found = study_shifts(index, said, options, progress)
        shifts = found.shifts
        notes += found.notes
    else:
        shifts = tuple(study_shift(index, asked_shift(index, text), said, options) for text in dict.fromkeys(only))
    conditions = _clean_first(grid.conditions, shifts)
    sources = tuple(dict.fromkeys(row.source for row in index.tables))
    return Study(
        index, _best_first(grid.models, conditions), conditions, shifts, tuple(notes), options, sources=sources
    )


def _clean_first(conditions: Sequence[StudyCondition], shifts: Sequence[StudyShift]) -> tuple[StudyCondition, ...]:
    """The conditions: the clean set of most shifts first, those that were run before imported ones; then the rest."""
    used = Counter(shift.standard for shift in shifts)

    def place(condition: StudyCondition) -> tuple[bool, bool, int, bool, bool]:
        n = used[condition.name]
        plain = is_clean(condition.condition)
        return not n, condition.record is None, -n, not plain, condition.family is not None

    return tuple(sorted(conditions, key=place))


def _best_first(models: Sequence[StudyModel], conditions: Sequence[StudyCondition]) -> tuple[StudyModel, ...]:
    first = conditions[0].accuracies if conditions else {}
    return tuple(sorted(models, key=lambda model: -first[model.name].value if model.name in first else 1))
