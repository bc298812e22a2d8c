"""What was looked at in a store, kept in one file: a large store is looked at again in a moment.

It is made anew where it is missing or damaged. It holds, for each complete cell, what the cell is, how many rows are
right, and the signatures of its files: while these are the same, so are the numbers. It also remembers what there was,
so that a file that vanishes is told.
"""

from __future__ import annotations

import gc
import json
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from oodometer.core.errors import StoreError
from oodometer.core.records import read_condition, read_model
from oodometer.store.cells import FORMAT, Cell
from oodometer.store.checked import Checked, listed, of_stem, put, read_checked
from oodometer.store.entry import Entry
from oodometer.store.files import Signature
from oodometer.store.folder import LOGITS, ROWS, folder_of
from oodometer.store.prediction_parquet import table_of, written
from oodometer.store.store import Store

STEM = "index"


@dataclass(frozen=True)
class Kept:
    """What was looked at.

    Args:
        shifts, tables: The names of their files.
        written: When, in nanoseconds; 0: now.
        n_files: How many files there are of it; several where two wrote it at once.
    """

    cells: Mapping[str, Entry] = field(default_factory=dict)
    shifts: frozenset[str] = frozenset()
    tables: frozenset[str] = frozenset()
    written: int = 0
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
            conditions.place((one.cell.condition.key, one.cell.data.title), one.cell.condition),
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
    # Hundreds of thousands of objects that stay: looking for garbage among them would take longer than making them.
    collecting = gc.isenabled()
    gc.disable()
    try:
        return _kept(content)
    finally:
        if collecting:
            gc.enable()


def _kept(content: bytes) -> Kept:
    table = table_of(content)
    about = json.loads(table.schema.metadata[b"about"])
    if about["format"] != FORMAT:
        return Kept()
    models = [read_model(one) for one in about["models"]]
    conditions = [read_condition(one) for one in about["conditions"]]
    cells = {}
    at = 4 + len(OF_CELL)
    for row in zip(*(table[name].to_pylist() for name in COLUMNS), strict=True):
        key, model, condition, versions = row[:4]
        of_cell = dict(zip(OF_CELL, row[4:at], strict=True))
        of_cell["answers"] = None if of_cell["answers"] is None else tuple(of_cell["answers"])
        cell = Cell(models[model], conditions[condition], versions=about["versions"][versions], **of_cell)
        # The key as it was when it was looked at: a digest for each of many thousands would take a second.
        cell.__dict__["key"] = key
        rows, logits = (
            None if check is None else Checked(folder_of(key), stem, check, "parquet")
            for stem, check in zip((ROWS, LOGITS), row[at : at + 2], strict=True)
        )
        numbers = row[at + 2 : -len(COUNTS)]
        of_rows, of_logits, of_folder = (
            None if numbers[n] is None else Signature(*numbers[n : n + 4]) for n in (0, 4, 8)
        )
        cells[key] = Entry(cell, rows, logits, of_rows, of_logits, of_folder, (), (), *row[-len(COUNTS) :])
    return Kept(cells, frozenset(about["shifts"]), frozenset(about["tables"]), about["written"])
