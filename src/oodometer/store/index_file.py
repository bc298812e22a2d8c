"""What was looked at in a store, kept in one file: a large store is looked at again in a moment.

It is made anew where it is missing or damaged. It holds, for each complete cell, what the cell is, how many rows are
right, and the signatures of its files: while these are the same, so are the numbers. It also remembers what there was,
so that a file that vanishes is told.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import repeat
from typing import Any

import numpy as np

from oodometer.core.errors import StoreError
from oodometer.core.records import ConditionRecord, ModelRecord, read_condition, read_model
from oodometer.store.cells import FORMAT, Cell
from oodometer.store.checked import Checked, listed, of_stem, put, read_checked
from oodometer.store.files import Signature
from oodometer.store.folder import LOGITS, ROWS, Entry, folder_of
from oodometer.store.prediction_parquet import table_of, values_of, written
from oodometer.store.store import Store

STEM = "index"

GRAIN = 20_000_000
"""Nanoseconds: a file that was changed so shortly before the index was written may have been changed once more within
the same tick of the clock, unnoticed; it is looked at again (git's rule)."""


@dataclass(frozen=True)
class Kept:
    """What was looked at.

    Args:
        shifts, tables: The names of their files.
        written: When, in nanoseconds; 0: now.
        unsettled: The cells whose files had just been changed then: they are looked at again.
        n_files: How many files there are of it; several where two wrote it at once.
    """

    cells: Mapping[str, Entry] = field(default_factory=dict)
    shifts: frozenset[str] = frozenset()
    tables: frozenset[str] = frozenset()
    written: int = 0
    unsettled: frozenset[str] = frozenset()
    n_files: int = 0


def read_kept(store: Store) -> Kept:
    """What was looked at before; nothing where that is not known."""
    names = of_stem(listed(store.files, ""), STEM)
    for name in names:
        try:
            return replace(_parsed(read_checked(store.files, name)), n_files=len(names))
        except (FileNotFoundError, StoreError, ValueError, TypeError, KeyError, OSError):
            continue
    return Kept()


def write_kept(store: Store, kept: Kept) -> None:
    """Keep what was looked at, in the place of what was kept before."""
    before = of_stem(listed(store.files, ""), STEM)
    name = put(store.files, "", STEM, "parquet", _written(kept, kept.written or time.time_ns()))
    for old in before:
        if old != name:
            store.files.remove(old.path)


def _written(kept: Kept, now: int) -> bytes:
    import pyarrow as pa

    models, conditions, versions = _Shared(), _Shared(), _Shared()
    rows = [
        (
            key,
            models.place((one.cell.model.key, one.cell.model.digest, str(one.cell.model.card)), one.cell.model),
            conditions.place(
                (one.cell.condition.key, str(one.cell.data), str(one.cell.data.sample)), one.cell.condition
            ),
            versions.place(tuple(sorted(one.cell.versions.items())), one.cell.versions),
            *(getattr(one.cell, name) for name in OF_CELL),
            *(None if file is None else file.check for file in (one.rows, one.logits)),
            *(number for signature in (one.of_rows, one.of_logits, one.of_folder) for number in signature or NOTHING),
            *(getattr(one, name) for name in COUNTS),
        )
        for key, one in kept.cells.items()
    ]
    about = {
        "format": FORMAT,
        "written": now,
        "models": [asdict(model) for model in models.values],
        "conditions": [asdict(condition) for condition in conditions.values],
        "versions": [dict(one) for one in versions.values],
        "shifts": sorted(kept.shifts),
        "tables": sorted(kept.tables),
    }
    columns = dict(zip(COLUMNS, zip(*rows, strict=True) if rows else ([] for _ in COLUMNS), strict=True))
    table = pa.table({name: pa.array(list(values), _type(name)) for name, values in columns.items()})
    return written(table.replace_schema_metadata({"about": json.dumps(about)}))


OF_CELL = ("space", "n_classes", "n_images", "precision", "known_classes", "n_units", "answers")
CHECKS = ("rows", "logits")
SIGNATURES = tuple(f"{part}_{name}" for part in (*CHECKS, "folder") for name in Signature._fields)
COUNTS = ("n_rows", "n", "top1", "top5")
COLUMNS = ("key", "model", "condition", "versions", *OF_CELL, *CHECKS, *SIGNATURES, *COUNTS)
NOTHING = (None,) * len(Signature._fields)


def _type(column: str) -> Any:
    import pyarrow as pa

    if column in ("key", "space", "precision", *CHECKS):
        return pa.string()
    return pa.list_(pa.int64()) if column == "answers" else pa.int64()


class _Shared:
    """Values that many cells have in common, each kept once."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self._places: dict[tuple[Any, ...], int] = {}

    def place(self, key: tuple[Any, ...], value: Any) -> int:
        """The place of the value of that key."""
        if key not in self._places:
            self._places[key] = len(self.values)
            self.values.append(value)
        return self._places[key]


def _parsed(content: bytes) -> Kept:
    table = table_of(content)
    about = json.loads(table.schema.metadata[b"about"])
    if about["format"] != FORMAT:
        return Kept()
    models = [read_model(one) for one in about["models"]]
    conditions = [read_condition(one) for one in about["conditions"]]
    cells = _cells(table, models, conditions, about["versions"])
    rows, logits = (_names(table, stem) for stem in (ROWS, LOGITS))
    signatures = [_signatures(table, part) for part in (*CHECKS, "folder")]
    counts = [_values(table, name) for name in COUNTS]
    entries = map(Entry, cells, rows, logits, *signatures, repeat(()), repeat(()), *counts)
    known = {entry.cell.key: entry for entry in entries}
    unsettled = _unsettled(table, about["written"])
    return Kept(known, frozenset(about["shifts"]), frozenset(about["tables"]), about["written"], unsettled)


def _unsettled(table: Any, written: int) -> frozenset[str]:
    """The keys of cells with a file that was changed shortly before they were kept."""
    latest = np.zeros(len(table), dtype=np.int64)
    for name in (f"{part}_{name}" for part in (*CHECKS, "folder") for name in ("modified", "changed")):
        times = _values(table, name)
        latest = np.maximum(latest, [0 if one is None else one for one in times] if None in times else times)
    keys = _values(table, "key")
    return frozenset(keys[place] for place in np.flatnonzero(latest >= written - GRAIN).tolist())


def _values(table: Any, name: str) -> list[Any]:
    """A column as plain values; in most, nothing is missing, or everything."""
    column = table[name]
    if column.null_count == len(column):
        return [None] * len(column)
    if column.null_count == 0 and str(column.type) == "int64":
        return list(values_of(column).tolist())
    return list(column.to_pylist())


def _cells(
    table: Any, models: Sequence[ModelRecord], conditions: Sequence[ConditionRecord], versions: Sequence[Any]
) -> list[Cell]:
    """The cells, with their keys as they were: a digest for each of many thousands would take a second."""
    names = ("model", "condition", "versions", *(name for name in OF_CELL if name != "answers"))
    columns = [_values(table, name) for name in names]
    answers = [None if one is None else tuple(one) for one in _values(table, "answers")]
    # By what they hold, not by the constructor, which for a frozen class is slow.
    cells = [Cell.__new__(Cell) for _ in answers]
    for cell, key, own, *values in zip(cells, _values(table, "key"), answers, *columns, strict=True):
        cell.__dict__.update(
            zip(names, values, strict=True),
            key=key,
            model=models[values[0]],
            condition=conditions[values[1]],
            versions=versions[values[2]],
            answers=own,
        )
    return cells


def _names(table: Any, stem: str) -> list[Checked | None]:
    """The names of the files of one kind; None where a cell has none."""
    keys, checks = _values(table, "key"), _values(table, stem)
    return [
        None if check is None else Checked(folder_of(key), stem, check, "parquet")
        for key, check in zip(keys, checks, strict=True)
    ]


def _signatures(table: Any, part: str) -> list[Signature | None]:
    columns = (_values(table, f"{part}_{name}") for name in Signature._fields)
    return [None if numbers[0] is None else Signature._make(numbers) for numbers in zip(*columns, strict=True)]
