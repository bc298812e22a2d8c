"""The grid of a study: every model on every condition, from predictions and from tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from oodometer.analysis.cell_accuracies import accuracies_of, shares_of
from oodometer.analysis.measured_shifts import IMPORTED, Side, measured_shifts
from oodometer.analysis.origins import Origin, origin_of
from oodometer.analysis.people import models_alone, people_alone
from oodometer.analysis.points import named
from oodometer.catalogue.names import family_of
from oodometer.core.estimate import Estimate
from oodometer.core.records import ConditionRecord
from oodometer.store.index import Index
from oodometer.store.tables import Accuracy
from oodometer.study.people import about_people, apart_from_people
from oodometer.study.study import StudyCondition, StudyModel


@dataclass(frozen=True)
class Grid:
    """What is measured.

    Args:
        notes: What can't be read, and why; what is unfinished.
    """

    models: tuple[StudyModel, ...]
    conditions: tuple[StudyCondition, ...]
    notes: tuple[str, ...]


def grid_of(every: Index, origins: Mapping[str, Origin], *, level: float) -> Grid:
    """All models on all that they were asked about, and what people reach there."""
    index, answered = models_alone(every), people_alone(every)
    models = [
        StudyModel(name, origin_of(model.entries[0].cell, name, origins), tuple(cells))
        for name, model in index.models.items()
        if (cells := [entry.cell for entry in model.entries if entry.files])
    ]
    run = {model.name for model in models} | set(answered.models)
    imported = dict.fromkeys(row.model for row in index.tables if row.model not in run)
    models += [StudyModel(name, origins.get(name, Origin())) for name in imported]
    people = {model.name for model in models if model.origin.is_human} | set(answered.models)
    notes = (*_damaged(index.problems), *_unlabelled(index), *_unfinished(index), *_twice(index.tables))
    return Grid(
        tuple(model for model in models if model.name not in people),
        apart_from_people([*_columns(index, level), *_columns(answered, level)], people),
        (*notes, *about_people(people)),
    )


def _columns(index: Index, level: float) -> Iterator[StudyCondition]:
    """What was run, and the columns of tables; one column where both mean the same."""
    measured = _measured(index, level)
    imported = _imported(index.tables, level)
    meant = {side.column: side.name for side in _sides(index) if side.condition and side.column}
    for name, (record, accuracies) in measured.items():
        columns = [column for column, own in meant.items() if own == name]
        beside = {model: one for column in columns for model, one in imported.get(column, {}).items()}
        yield StudyCondition(
            name, record.name, record.data.title, {**beside, **accuracies}, record, family_of(record.name)
        )
    for column, accuracies in imported.items():
        if column not in meant:
            own = f"{column}@{IMPORTED}" if column in measured else column
            yield StudyCondition(own, column, IMPORTED, accuracies, None, family_of(column))


def _sides(index: Index) -> Iterator[Side]:
    for shift in measured_shifts(index).shifts:
        yield from (*shift.standards, *shift.members)


def _measured(index: Index, level: float) -> dict[str, tuple[ConditionRecord, dict[str, Estimate]]]:
    """What was run: name to the condition, and the accuracies."""
    labelled = [entry for entry in index.entries if entry.n]
    cells = [entry.cell for entry in labelled]
    estimates = accuracies_of(index, cells, [entry.top1 for entry in labelled], [entry.n for entry in labelled], level)
    found: dict[str, tuple[ConditionRecord, dict[str, Estimate]]] = {}
    for entry, estimate in zip(labelled, estimates, strict=True):
        name = index.condition_name_of[entry.cell.condition.key]
        _, accuracies = found.setdefault(name, (entry.cell.condition, {}))
        accuracies[index.model_name_of[entry.cell.key]] = estimate
    return found


def _imported(tables: Sequence[Accuracy], level: float) -> dict[str, dict[str, Estimate]]:
    """The columns of imported tables: name to the accuracies."""
    sized = [row for row in tables if row.n is not None]
    counts = [(round(row.accuracy * row.n), row.n) for row in sized if row.n]
    shares = shares_of([right for right, _ in counts], [n for _, n in counts], level)
    bounds = {(row.model, row.condition, row.source): one for row, one in zip(sized, shares, strict=True)}
    found: dict[str, dict[str, Estimate]] = {}
    for row in tables:
        near = bounds.get((row.model, row.condition, row.source))
        estimate = (
            Estimate(row.accuracy, near.low, near.high, row.n, near.interval)
            if near
            else Estimate(row.accuracy, None, None, None, "none: n is not known")
        )
        found.setdefault(row.condition, {}).setdefault(row.model, estimate)
    return found


def _damaged(lines: Sequence[str]) -> list[str]:
    return [f"left out: {line}" for line in lines]


def _unlabelled(index: Index) -> list[str]:
    keys = dict.fromkeys(entry.cell.condition.key for entry in index.answered if not entry.n)
    names = [index.condition_name_of[key] for key in keys]
    return [f"no accuracy on {name}: its images have no labels" for name in names]


def _unfinished(index: Index) -> list[str]:
    """A line about what is not done yet."""
    begun = [
        f"{entry.cell.model_name} on {entry.cell.condition_name} ({entry.n_rows} of {entry.cell.n_rows})"
        for entry in index.entries
        if not entry.complete
    ]
    if not begun:
        return []
    more = f" and {len(begun) - 3} more" if len(begun) > 3 else ""
    return [f"unfinished: {', '.join(begun[:3])}{more}"]


def _twice(tables: Sequence[Accuracy]) -> list[str]:
    """A line about numbers that two tables tell differently; the first is shown."""
    first: dict[tuple[str, str], Accuracy] = {}
    other: dict[str, Any] = {}
    for row in tables:
        known = first.setdefault((row.model, row.condition), row)
        if (known.accuracy, known.n) != (row.accuracy, row.n):
            other[f"{row.model} on {row.condition}"] = None
    return [f"two tables differ about {named(list(other))}; the first is shown"] if other else []
