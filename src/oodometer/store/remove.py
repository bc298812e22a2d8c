"""Undoing a run: a model, or a model on some conditions, out of a store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from oodometer.core.errors import UsageError, did_you_mean
from oodometer.store.cells import Cell
from oodometer.store.checked import listed, of_stem, read_checked
from oodometer.store.index import Index, Source, forget, index_at, look
from oodometer.store.tables import FOLDER, Accuracy, read_table, write_table


@dataclass(frozen=True)
class Removal:
    """What is to be removed, or was.

    Args:
        cells: Predictions.
        accuracies: Of imported tables.
    """

    index: Index
    cells: tuple[Cell, ...]
    accuracies: tuple[Accuracy, ...]

    def __str__(self) -> str:
        rows = sum(self.index.entry(cell).n_rows for cell in self.cells)
        names = list(dict.fromkeys(cell.condition_name for cell in self.cells))
        some = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
        said = [f"{rows} predictions on {some}"] if self.cells else []
        said += [f"{len(self.accuracies)} imported accuracies"] if self.accuracies else []
        return " and ".join(said)

    def as_json(self) -> dict[str, Any]:
        """The same as plain values."""
        cells = [{"model": cell.model_name, "condition": cell.condition_name, "key": cell.key} for cell in self.cells]
        return {"cells": cells, "imported": [asdict(row) for row in self.accuracies]}


def at_once(removal: Removal) -> bool:  # noqa: ARG001 - nothing is asked
    """Who is asked and always says yes."""
    return True


def rm(
    store: Source, model: str, *, on: Sequence[str] = (), confirm: Callable[[Removal], bool] = at_once
) -> Removal | None:
    """What was removed of a model, on all conditions or on these; None where ``confirm`` said no.

    Args:
        model: Its name in the store; where several have it, with what tells them apart, as `ls` shows it.
        on: Conditions, families of them or data sets.
        confirm: Asked before anything is removed.
    """
    removal = find_removal(store, model, on=on)
    if not confirm(removal):
        return None
    remove(removal)
    return removal


def find_removal(store: Source, model: str, *, on: Sequence[str] = ()) -> Removal:
    """What a model has in a store, on all conditions or on these: nothing is removed yet.

    Args:
        model: Its name in the store; where several have it, with what tells them apart, as `Index.models` writes it.
        on: Conditions, families of them or data sets.
    """
    index = index_at(store)
    rows = [row for row in index.tables if row.model == model]
    imported_only = bool(rows) and model not in {named.model.name for named in index.models.values()}
    cells = [] if imported_only else index.of_model(model)
    if on:
        cells, rows = [cell for cell in cells if _is_on(index, cell, on)], [row for row in rows if row.condition in on]
    if not cells and not rows:
        known = {cell.condition_name for cell in index.of_model(model)}
        raise UsageError(f"{index}: {model} was not run on {', '.join(on)}{did_you_mean(on[0], known)}")
    return Removal(index, tuple(cells), tuple(rows))


def _is_on(index: Index, cell: Cell, on: Sequence[str]) -> bool:
    family = index.families.get(cell.condition.key)
    names = {cell.condition_name, index.condition_name_of[cell.condition.key], cell.data.title}
    return bool(names & set(on)) or any(
        cell.condition_name.startswith(f"{name}/") or (family is not None and family.name == name) for name in on
    )


def remove(removal: Removal) -> None:
    """Remove it, with the shifts and tables of images that nobody refers to any more."""
    store = removal.index.store
    for cell in removal.cells:
        store.remove_cell(cell.key)
    _rewrite_tables(removal)
    forget(store, cells=[cell.key for cell in removal.cells])
    _remove_orphans(look(store))


def _rewrite_tables(removal: Removal) -> None:
    """Write the tables without what is removed; the new one is there before the old one is gone."""
    if not removal.accuracies:
        return
    store, gone = removal.index.store, set(removal.accuracies)
    for name in listed(store.files, FOLDER):
        rows = read_table(read_checked(store.files, name))
        kept = [row for row in rows if row not in gone]
        if len(kept) == len(rows):
            continue
        if kept:
            write_table(store, kept)
        store.files.remove(name.path)
        forget(store, tables=[name.name])


def _remove_orphans(index: Index) -> None:
    store = index.store
    conditions = {cell.condition.key for cell in index.cells}
    shifts = [shift for shift in index.shifts if not {shift.standard.key, shift.shifted.key} & conditions]
    _remove_stems(index, "shifts", [shift.key for shift in shifts])
    data = {cell.data.digest for cell in index.cells}
    _remove_stems(index, "datasets", {name.stem for name in listed(store.files, "datasets")} - data)


def _remove_stems(index: Index, folder: str, stems: Iterable[str]) -> None:
    store = index.store
    names = listed(store.files, folder)
    for stem in stems:
        for name in of_stem(names, stem):
            if folder == "shifts":
                forget(store, shifts=[name.name])
            store.files.remove(name.path)
