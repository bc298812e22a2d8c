"""The grid of a study: every model on every condition, from predictions and from tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from oodometer.analysis.accuracy_pairs import Origin, named
from oodometer.analysis.stored_pairs import models_by_name, origin_of
from oodometer.core.digests import digest_of
from oodometer.core.errors import StoreError
from oodometer.core.estimate import Estimate
from oodometer.stats.intervals import DEFAULT_INTERVAL, clopper_pearson_bounds
from oodometer.store.cells import Cell
from oodometer.store.queries import Counts, counts
from oodometer.store.store import Store
from oodometer.store.tables import Accuracy
from oodometer.study.study import StudyCondition, StudyModel

IMPORTED = "imported"


@dataclass(frozen=True)
class Grid:
    """What is measured.

    Args:
        cells: Of each model, those that can be read and have labelled rows.
        notes: Which can't be, and why; which are unfinished.
    """

    models: tuple[StudyModel, ...]
    conditions: tuple[StudyCondition, ...]
    cells: Mapping[str, tuple[Cell, ...]]
    notes: tuple[str, ...]

    def names_of(self, cells: Sequence[Cell]) -> tuple[str, ...]:
        """What the study calls the conditions of cells, each once."""
        return tuple(dict.fromkeys(self._names[digest_of(cell.condition)] for cell in cells))

    @cached_property
    def _names(self) -> dict[str, str]:
        return {digest_of(dict(one.described)): one.name for one in self.conditions if one.described}


def grid_of(store: Store, tables: Sequence[Accuracy], origins: Mapping[str, Origin], *, level: float) -> Grid:
    """All models on all that they were asked about."""
    damaged: list[str] = []
    cells = store.cells(damaged=damaged)
    found, unread = _counted(store, [cell for cell in cells if store.row_files(cell)])
    of_model = models_by_name([one.cell for one in found])
    models = [StudyModel(name, origin_of(group[0], name, origins), tuple(group)) for name, group in of_model.items()]
    imported = dict.fromkeys(row.model for row in tables if row.model not in of_model)
    models += [StudyModel(name, origins.get(name, Origin())) for name in imported]
    labelled = [one for one in found if one.n]
    measured = _measured(labelled, of_model, level)
    kept = {one.cell.key for one in labelled}
    return Grid(
        tuple(models),
        (*measured, *_imported(tables, {one.name for one in measured}, level)),
        {name: tuple(cell for cell in group if cell.key in kept) for name, group in of_model.items()},
        (*_damaged([*damaged, *unread]), *_unlabelled(found), *_unfinished(store, cells, found), *_twice(tables)),
    )


def _counted(store: Store, cells: Sequence[Cell]) -> tuple[list[Counts], list[str]]:
    """What is right in every cell that can be read, and why some can't be."""
    try:
        return counts(store, cells), []
    except StoreError:
        each = [_counted_alone(store, cell) for cell in cells]
        return [one for found, _ in each for one in found], [why for _, why in each if why]


def _counted_alone(store: Store, cell: Cell) -> tuple[list[Counts], str]:
    try:
        return counts(store, [cell]), ""
    except StoreError as error:
        return [], f"{cell.model_name} on {cell.condition_name}: {error}"


def _measured(found: Sequence[Counts], of_model: Mapping[str, Sequence[Cell]], level: float) -> list[StudyCondition]:
    """What was run."""
    names = {cell.key: name for name, group in of_model.items() for cell in group}
    estimates = _shares([one.top1 for one in found], [one.n for one in found], level)
    by_condition: dict[str, tuple[Cell, dict[str, Estimate]]] = {}
    for one, estimate in zip(found, estimates, strict=True):
        _, accuracies = by_condition.setdefault(digest_of(one.cell.condition), (one.cell, {}))
        accuracies[names[one.cell.key]] = estimate
    firsts = [cell for cell, _ in by_condition.values()]
    return [
        StudyCondition(name, cell.condition_name, cell.data, accuracies, cell.condition)
        for name, (cell, accuracies) in zip(own_names(firsts), by_condition.values(), strict=True)
    ]


def own_names(cells: Sequence[Cell]) -> list[str]:
    """A name for the condition of each: its own, and where several have it with that of the data.

    With the digest of the data where these share a name, and a number where even that is one: other seeds or classes.
    """
    full = [(cell.condition_name, cell.data, str(cell.condition["data"])[:8]) for cell in cells]
    names = []
    for place, (condition, data, digest) in enumerate(full):
        alike = [one for one in full if one[0] == condition]
        name = condition
        if len({one[1:] for one in alike}) > 1:
            same_data = {one[2] for one in alike if one[1] == data}
            name += f"@{data}" if len(same_data) == 1 else f"@{data}@{digest}"
        same = [at for at, one in enumerate(full) if one == full[place]]
        names.append(f"{name}#{same.index(place) + 1}" if len(same) > 1 else name)
    return names


def _imported(tables: Sequence[Accuracy], taken: set[str], level: float) -> list[StudyCondition]:
    """The conditions of imported tables; under a name of their own where predictions have the same."""
    sized = [row for row in tables if row.n is not None]
    shares = _shares([round(row.accuracy * row.n) for row in sized if row.n], [row.n for row in sized if row.n], level)
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
    return [
        StudyCondition(f"{name}@{IMPORTED}" if name in taken else name, name, IMPORTED, accuracies)
        for name, accuracies in found.items()
    ]


def _shares(right: Sequence[int], n: Sequence[int], level: float) -> list[Estimate]:
    """All shares at once, since there may be a hundred thousand."""
    hits, sizes = np.array(right, dtype=np.int64), np.array(n, dtype=np.int64)
    low, high = clopper_pearson_bounds(hits, sizes, level)
    name = f"{DEFAULT_INTERVAL} {100 * level:g}%"
    columns = (hits / np.maximum(sizes, 1)).tolist(), low.tolist(), high.tolist(), sizes.tolist()
    return [Estimate(*values, name) for values in zip(*columns, strict=True)]


def _damaged(lines: Sequence[str]) -> list[str]:
    return [f"left out, it can't be read: {line}" for line in lines]


def _unlabelled(found: Sequence[Counts]) -> list[str]:
    names = dict.fromkeys(one.cell.condition_name for one in found if not one.n)
    return [f"no accuracy on {name}: its images have no labels" for name in names]


def _unfinished(store: Store, cells: Sequence[Cell], found: Sequence[Counts]) -> list[str]:
    """A line about what is not done yet."""
    rows = {one.cell.key: one.n_rows for one in found}
    begun = [
        f"{cell.model_name} on {cell.condition_name} ({rows.get(cell.key, 0)} of {cell.n_rows})"
        for cell in cells
        if not store.is_sealed(cell)
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
