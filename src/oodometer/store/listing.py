"""What is in a store, cell by cell, and what was imported into it as a table."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from itertools import chain
from typing import Any

from oodometer.core.columns import columns
from oodometer.core.records import ModelRecord
from oodometer.store.folder import Entry
from oodometer.store.index import Source, index_at
from oodometer.store.store import MARK
from oodometer.store.tables import Accuracy

HEADER = ("model", "weights", "condition", "data", "rows", "images", "state", "logits")
UNKNOWN = "-"


@dataclass(frozen=True)
class Listing:
    """Cells and imported accuracies; prints as a table.

    Args:
        problems: What is damaged or missing, a line each; it is left out.
    """

    entries: tuple[Entry, ...]
    imported: tuple[Accuracy, ...]
    problems: tuple[str, ...]

    def __str__(self) -> str:
        imported = ([_imported_row(row)[name] for name in HEADER] for row in self.imported)
        every = chain(map(_row, self.entries), imported)
        return columns([HEADER, *([UNKNOWN if one is None else str(one) for one in row] for row in every)])

    def as_json(self) -> list[dict[str, Any]]:
        """A row for each as plain values; what is not known of an imported accuracy is null."""
        # A model has many cells, and what is told of it is the same in all of them.
        told: dict[str, dict[str, Any]] = {}
        for entry in self.entries:
            if entry.cell.model.key not in told:
                told[entry.cell.model.key] = _model_row(entry.cell.model)
        rows = [
            {
                **dict(zip(HEADER, _row(one), strict=True)),
                "key": one.cell.key,
                **told[one.cell.model.key],
                "versions": dict(one.cell.versions),
            }
            for one in self.entries
        ]
        return [*rows, *map(_imported_row, self.imported)]


def ls(store: Source) -> Listing:
    """What is in a store: its cells by model and condition, then the accuracies of imported tables."""
    index = index_at(store)
    imported = sorted(index.tables, key=lambda row: (row.model, row.condition, row.source))
    return Listing(index.entries, tuple(imported), index.problems)


def is_store(address: str) -> bool:
    """Whether a folder on this machine is a store."""
    return os.path.isfile(os.path.join(address, MARK))


def _model_row(model: ModelRecord) -> dict[str, Any]:
    return {"input": None if model.input is None else asdict(model.input), "card": asdict(model.card)}


def _row(entry: Entry) -> tuple[str | int, ...]:
    """What the header names."""
    cell = entry.cell
    return (
        cell.model.name,
        cell.model.digest[:8],
        cell.condition.name,
        cell.condition.data.title,
        entry.n_rows,
        cell.n_rows,
        "complete" if entry.rows else "unfinished",
        "kept" if entry.logits else UNKNOWN,
    )


def _imported_row(row: Accuracy) -> dict[str, Any]:
    return {
        "model": row.model,
        "weights": "imported",
        "condition": row.condition,
        "data": None,
        "rows": None,
        "images": row.n,
        "state": "imported",
        "logits": None,
        "accuracy": row.accuracy,
        "source": row.source,
    }
