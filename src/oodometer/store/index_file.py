"""What was looked at in a store, kept in one file: a large store is looked at again in a moment.

It is made anew where it is missing or damaged. It holds, for each complete cell, what the cell is, how many rows are
right, and the signatures of its files: while these are the same, so are the numbers. It also remembers what there was,
so that a file that vanishes is told.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from oodometer.core.errors import StoreError
from oodometer.core.records import read_condition, read_model
from oodometer.store.cells import FORMAT, Cell
from oodometer.store.checked import Checked, listed, of_stem, put, read_checked
from oodometer.store.files import Signature
from oodometer.store.folder import LOGITS, ROWS, PartFiles, folder_of
from oodometer.store.prediction_parquet import table_of, written
from oodometer.store.store import Store

STEM = "index"
GRAIN = 20_000_000
"""Nanoseconds: a file that was changed so shortly before the index was written may have been changed once more within
the same tick of the clock, unnoticed; it is looked at again (git's rule)."""


@dataclass(frozen=True)
class Looked:
    """A cell and what its files held at the last look; fields as of `oodometer.store.index.Entry`.

    Args:
        signature, folder: Of the file of its rows, and of its folder; None where they can't be told.
        logits: The file of all logits, where they were kept, and ``logits_signature`` its own.
    """

    cell: Cell
    rows: Checked | None
    signature: Signature | None
    folder: Signature | None
    logits: Checked | None
    logits_signature: Signature | None
    parts: tuple[PartFiles, ...]
    parts_with_logits: tuple[PartFiles, ...]
    n_rows: int
    n: int
    top1: int
    top5: int

    @property
    def has_logits(self) -> bool:
        """Whether all logits were kept."""
        return self.logits is not None

    def unchanged(self, store: Store, written: int) -> bool:
        """Whether its files are those of the last look."""
        if self.rows is None:
            return False
        before = {self.rows.path: self.signature, self.rows.folder: self.folder}
        if self.logits is not None:
            before[self.logits.path] = self.logits_signature
        return all(
            one is not None and max(one.modified, one.changed) < written - GRAIN and store.files.signature(path) == one
            for path, one in before.items()
        )


@dataclass(frozen=True)
class Kept:
    """What was looked at.

    Args:
        shifts, tables: The names of their files.
        written: When, in nanoseconds; 0: now.
    """

    cells: Mapping[str, Looked] = field(default_factory=dict)
    shifts: frozenset[str] = frozenset()
    tables: frozenset[str] = frozenset()
    written: int = 0


def read_kept(store: Store) -> Kept:
    """What was looked at before; nothing where that is not known."""
    for name in of_stem(listed(store.files, ""), STEM):
        try:
            return _parsed(read_checked(store.files, name))
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
            None if one.rows is None else one.rows.check,
            *(one.signature or (None,) * 4),
            *(one.folder or (None,) * 4),
            None if one.logits is None else one.logits.check,
            *(one.logits_signature or (None,) * 4),
            *(getattr(one, name) for name in OF_LOOK),
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
OF_LOOK = ("n_rows", "n", "top1", "top5")
COLUMNS = (
    "key", "model", "condition", "versions", *OF_CELL, "check",
    "size", "modified", "changed", "inode", "folder_size", "folder_modified", "folder_changed", "folder_inode",
    "logits", "logits_size", "logits_modified", "logits_changed", "logits_inode",
    *OF_LOOK,
)  # fmt: skip


def _type(column: str) -> Any:
    import pyarrow as pa

    if column in ("key", "space", "precision", "check", "logits"):
        return pa.string()
    if column == "answers":
        return pa.list_(pa.int64())
    return pa.int64()


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
    cells = {}
    for row in zip(*(table[name].to_pylist() for name in COLUMNS), strict=True):
        key, model, condition, versions = row[:4]
        of_cell = dict(zip(OF_CELL, row[4:], strict=False))
        of_cell["answers"] = None if of_cell["answers"] is None else tuple(of_cell["answers"])
        check, *signatures = row[4 + len(OF_CELL) : -len(OF_LOOK)]
        cell = Cell(models[model], conditions[condition], versions=about["versions"][versions], **of_cell)
        # The key as it was when it was looked at: a digest for each of many thousands would take a second.
        cell.__dict__["key"] = key
        cells[key] = Looked(
            cell,
            Checked(folder_of(key), ROWS, check, "parquet"),
            _signature(signatures[:4]),
            _signature(signatures[4:8]),
            None if signatures[8] is None else Checked(folder_of(key), LOGITS, signatures[8], "parquet"),
            _signature(signatures[9:]),
            (),
            (),
            *row[-len(OF_LOOK) :],
        )
    return Kept(cells, frozenset(about["shifts"]), frozenset(about["tables"]), about["written"])


def _signature(numbers: list[Any]) -> Signature | None:
    return None if numbers[0] is None else Signature(*numbers)
