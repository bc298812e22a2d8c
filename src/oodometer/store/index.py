"""The index of a store: what is in it, what each thing is called, and how many rows of it are right.

The one answer to these questions, for every command. It is a value: a store as it was at one look. What was looked at
once is kept beside the cells (`oodometer.store.index_file`), so that a look at a large store costs little; a cell is
read again only if its files have changed since.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from oodometer.core.condition import Family
from oodometer.core.errors import StoreError, UsageError, did_you_mean
from oodometer.core.predictions import Predictions
from oodometer.core.records import ConditionRecord, ModelRecord, ShiftRecord, read_shift
from oodometer.store.cells import Cell
from oodometer.store.checked import DamagedError, listed, parse_name, read_checked
from oodometer.store.files import Files
from oodometer.store.folder import Entry
from oodometer.store.images import Images, read_images
from oodometer.store.index_file import Kept, read_kept, write_kept
from oodometer.store.look_at_cell import look_into_cell
from oodometer.store.names import condition_names, model_names
from oodometer.store.read_columns import ColumnReader, Verdicts, verdicts_of
from oodometer.store.run import Run
from oodometer.store.store import Store, open_store
from oodometer.store.tables import Accuracy, read_table

THREADS = 8
"""Cells that are looked at together: mostly the disk is waited for."""
FEW_MISSING = 3
"""More are counted, not named."""


@dataclass(frozen=True)
class Named:
    """A model or a condition under a name that is its own in the store."""

    name: str
    entries: tuple[Entry, ...]

    @property
    def model(self) -> ModelRecord:
        """Of a model, what it is."""
        return self.entries[0].cell.model

    @property
    def condition(self) -> ConditionRecord:
        """Of a condition, what it is."""
        return self.entries[0].cell.condition


@dataclass(frozen=True, eq=False)  # the same only as itself: so it can be a key
class Index:
    """A store as it was at one look; reading from it gives what is there now.

    Args:
        entries: By model and condition.
        shifts: The pairs that were run, by name.
        tables: Accuracies that were imported.
        problems: What is damaged or missing, a line each; it is left out, and the next run makes it again.
    """

    store: Store
    entries: tuple[Entry, ...]
    shifts: tuple[ShiftRecord, ...] = ()
    tables: tuple[Accuracy, ...] = ()
    problems: tuple[str, ...] = ()
    _images: dict[str, Images] = field(default_factory=dict, repr=False, compare=False)
    _reader: ColumnReader = field(default_factory=ColumnReader, repr=False, compare=False)
    _verdicts: dict[str, Verdicts] = field(default_factory=dict, repr=False, compare=False)

    def __str__(self) -> str:
        return str(self.store)

    @cached_property
    def by_key(self) -> dict[str, Entry]:
        """The cells by their keys."""
        return {entry.cell.key: entry for entry in self.entries}

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """All cells, begun or complete."""
        return tuple(entry.cell for entry in self.entries)

    @cached_property
    def answered(self) -> tuple[Entry, ...]:
        """The cells that have rows."""
        return tuple(entry for entry in self.entries if entry.n_rows)

    def entry(self, cell: Cell) -> Entry:
        """A cell as it is in the store."""
        return self.by_key[cell.key]

    def is_complete(self, cell: Cell) -> bool:
        """Whether all of a cell is done."""
        return cell.key in self.by_key and self.by_key[cell.key].complete

    def has_rows(self, cell: Cell) -> bool:
        """Whether something of a cell is done."""
        return cell.key in self.by_key and bool(self.by_key[cell.key].files)

    def row_files(self, cell: Cell) -> list[str]:
        """The addresses of the Parquet files that hold a cell's rows, each of them whole; maybe none."""
        found = self.by_key.get(cell.key)
        return [self.store.files.locate(name.path) for name in found.files] if found else []

    def read(self, cell: Cell, *, logits: bool = False) -> Predictions:
        """The rows of a cell, in the order of the images."""
        return self.store.read(cell, logits=logits)

    def read_some(self, cell: Cell, names: Collection[str]) -> Predictions:
        """The rows of a cell of which only these columns, the images and the ranks are known."""
        return self._reader.read_some(self.store, cell, names)

    def columns(self, cell: Cell, *names: str) -> dict[str, np.ndarray]:
        """Some columns of a cell's rows by name, in the order of the images."""
        return self._reader.read(self.store, cell, names)

    def verdicts(self, cells: Sequence[Cell]) -> list[Verdicts]:
        """Of each cell whether its rows are right; each is read once."""
        return verdicts_of(self.store, cells, self._reader, self._verdicts)

    def warnings(self, cell: Cell) -> list[str]:
        """What a reader of the cell's numbers should know."""
        return self.store.warnings(cell)

    def images(self, cell: Cell) -> Images:
        """The images of a cell's data; each table is read once."""
        return self.images_of(cell.condition)

    def images_of(self, condition: ConditionRecord) -> Images:
        """The images of a condition's data; each table is read once."""
        digest = condition.data.digest
        if digest not in self._images:
            self._images[digest] = read_images(self.store, digest)
        return self._images[digest]

    # Names

    @cached_property
    def models(self) -> dict[str, Named]:
        """The models by names that are their own: other weights, preprocessing or precision, other model."""
        return {name: Named(name, tuple(entries)) for name, entries in model_names(self.entries).items()}

    @cached_property
    def conditions(self) -> dict[str, Named]:
        """The conditions by names that are their own."""
        groups: dict[str, list[Entry]] = {}
        for entry in self.entries:
            groups.setdefault(entry.cell.condition.key, []).append(entry)
        names = condition_names([entries[0].cell.condition for entries in groups.values()])
        return {name: Named(name, tuple(entries)) for name, entries in zip(names, groups.values(), strict=True)}

    @cached_property
    def model_name_of(self) -> dict[str, str]:
        """The key of a cell to the name of its model."""
        return {entry.cell.key: name for name, named in self.models.items() for entry in named.entries}

    @cached_property
    def condition_name_of(self) -> dict[str, str]:
        """The key of a condition to its name."""
        return {named.condition.key: name for name, named in self.conditions.items()}

    @cached_property
    def families(self) -> dict[str, Family]:
        """The key of a condition to the member of a family of corruptions that it is, where it was run as one."""
        return {shift.shifted.key: shift.family for shift in self.shifts if shift.family is not None}

    def of_model(self, name: str) -> list[Cell]:
        """The cells of a model by its name in the store, or by its own where that is enough."""
        if name in self.models:
            return [entry.cell for entry in self.models[name].entries]
        alike = [one for one, named in self.models.items() if _is_called(named, name)]
        if len(alike) == 1:
            return [entry.cell for entry in self.models[alike[0]].entries]
        if alike:
            raise UsageError(f"{self}: {name} stands for several models; say which: {', '.join(sorted(alike))}")
        hint = did_you_mean(name, {one for named in self.models for one in (named, self.models[named].model.name)})
        raise UsageError(f"{self}: no predictions of a model named {name!r}{hint}")

    def only(self, wanted: Iterable[Cell]) -> Index:
        """The same with these cells alone."""
        keys = {cell.key for cell in wanted}
        return replace(self, entries=tuple(entry for entry in self.entries if entry.cell.key in keys))


def _is_called(named: Named, name: str) -> bool:
    """Whether a name is another one of the model: its own, alone or with the first letters of a digest or a key."""
    plain = named.model.name
    digest = name.removeprefix(f"{plain}@")
    known = (named.model.digest, *(entry.cell.key for entry in named.entries))
    return name == plain or (digest not in ("", name) and any(one.startswith(digest) for one in known))


# Looking


Source = str | Store | Run | Index
"""What a store can be given as: its address, opened, what a run was about, or looked at already."""


def index_at(source: Source) -> Index:
    """The index of a store; of a run, with what it was about alone."""
    if isinstance(source, Index):
        return source
    if isinstance(source, Run):
        keys = {shift.key for shift in source.shifts}
        index = look(source.store).only(source.cells)
        return replace(index, shifts=tuple(shift for shift in index.shifts if shift.key in keys), tables=())
    return look(source if isinstance(source, Store) else open_store(str(source)))


def index_of_table(rows: Iterable[Accuracy]) -> Index:
    """The index of a table alone, which is in no store."""
    return Index(Store(Files("the table")), (), tables=tuple(rows))


def look(store: Store, *, save: bool = True) -> Index:
    """What is in a store now.

    Args:
        save: Keep what was looked at, for the next look; where the store can't be written, it is not.
    """
    kept = read_kept(store)
    keys = store.cell_keys()
    problems: list[str] = []
    looked: dict[str, Entry] = {}
    new: list[str] = []
    for key in keys:
        before = kept.cells.get(key)
        if before is not None and key not in kept.unsettled and before.unchanged(store.files):
            looked[key] = before
        else:
            new.append(key)
    with ThreadPoolExecutor(THREADS) as pool:
        for key, (found, said) in zip(new, pool.map(lambda key: look_into_cell(store, key), new), strict=True):
            problems += said or _lost(kept.cells.get(key), found)
            if found is not None:
                looked[key] = found
    shifts = _Checks(store, "shifts", kept.shifts)
    pairs = shifts.read(_shift_from)
    tables = _Checks(store, "tables", kept.tables)
    accuracies = tables.read(read_table)
    problems += [*_gone(kept, keys), *shifts.problems, *tables.problems]
    entries = sorted(looked.values(), key=_order)
    index = Index(
        store,
        tuple(entries),
        tuple(sorted(pairs, key=lambda pair: (pair.name, pair.standard.data.digest, pair.key))),
        tuple(row for table in accuracies for row in table),
        tuple(problems),
        _reader=ColumnReader(looked.values()),
    )
    # A cell that lost its logits is kept in mind as it was, so that it is told until they are there again.
    found_new = {key: looked[key] for key in new if key in looked}
    sealed = {key: one for key, one in found_new.items() if one.complete and not _lost(kept.cells.get(key), one)}
    changed = shifts.changed or tables.changed or bool(sealed)
    if save and (changed or kept.n_files > 1):
        # What is gone is kept in mind, so that it is told until it is there again or forgotten.
        cells = {**kept.cells, **sealed}
        with contextlib.suppress(StoreError):  # a store that one may only read
            write_kept(store, Kept(cells, kept.shifts | set(shifts.names), kept.tables | set(tables.names)))
    return index


def forget(store: Store, *, cells: Iterable[str] = (), shifts: Iterable[str] = (), tables: Iterable[str] = ()) -> None:
    """Keep in mind no longer what was removed on purpose."""
    kept = read_kept(store)
    gone = set(cells)
    write_kept(
        store,
        Kept(
            {key: one for key, one in kept.cells.items() if key not in gone},
            kept.shifts - set(shifts),
            kept.tables - set(tables),
            kept.written,
        ),
    )


def forget_gone(store: Store) -> None:
    """Keep in mind no longer what is not there any more."""
    kept = read_kept(store)
    keys = set(store.cell_keys())
    names = {folder: {name.name for name in listed(store.files, folder)} for folder in ("shifts", "tables")}
    cells = {key: one for key, one in kept.cells.items() if key in keys}
    write_kept(store, Kept(cells, kept.shifts & names["shifts"], kept.tables & names["tables"]))


def _order(entry: Entry) -> tuple[str, ...]:
    cell = entry.cell
    condition, data = cell.condition, cell.condition.data
    # Of two samples of one order the larger comes last, and is the one that is found by model and condition.
    size = f"{cell.n_images:012}" if data.sample else ""
    return cell.model.name, condition.name, data.name, data.part, size, data.subset, cell.key


def _gone(kept: Kept, keys: Sequence[str]) -> list[str]:
    """A line about cells that were there and are not any more, though nobody removed them by 'oodometer rm'."""
    there = set(keys)
    lost = [one.cell for key, one in kept.cells.items() if key not in there]
    if not lost:
        return []
    some = ", ".join(f"{cell.model_name} on {cell.condition_name}" for cell in lost[:FEW_MISSING])
    more = f" and {len(lost) - FEW_MISSING} more" if len(lost) > FEW_MISSING else ""
    return [f"missing: {some}{more}: the files are gone; run again, or forget them with 'oodometer verify --forget'"]


def _lost(before: Entry | None, now: Entry | None) -> list[str]:
    """A line about a cell that was complete and lacks its rows, or the logits that it had."""
    if before is None:
        return []
    at = f"{before.cell.model_name} on {before.cell.condition_name}"
    if now is None or now.rows is None:
        return [f"missing: the rows of {at}: the file is gone; run again"]
    if before.has_logits and not now.has_logits:
        return [f"missing: the logits of {at}: the file is gone; run again with --keep logits"]
    return []


class _Checks:
    """The checked files of a folder that is small: all are read at every look."""

    def __init__(self, store: Store, folder: str, before: frozenset[str]) -> None:
        self._store, self._folder, self._before = store, folder, before
        self._files = listed(store.files, folder)
        self.names = [name.name for name in self._files]
        self.problems: list[str] = []

    @property
    def changed(self) -> bool:
        """Whether there are files that were not there before."""
        return not set(self.names) <= self._before

    def read(self, parse: Callable[[bytes], Any]) -> list[Any]:
        """What each file holds, once for each stem; what is damaged or lost is told in ``problems``."""
        found: dict[str, Any] = {}
        for name in self._files:
            with contextlib.suppress(DamagedError, FileNotFoundError, ValueError, TypeError, OSError):
                found.setdefault(name.stem, parse(read_checked(self._store.files, name)))
        known = [parse_name(self._folder, one) for one in {*self._before, *self.names}]
        for lost in sorted({one.stem for one in known if one} - set(found)):
            where = self._store.files.locate(f"{self._folder}/{lost}")
            again = "import the table again" if self._folder == "tables" else "run again to replace it"
            self.problems.append(f"{where}: missing or damaged; {again}")
        strange = [name for name in self._store.files.names(self._folder) if not parse_name(self._folder, name)]
        self.problems += [
            f"{self._store.files.locate(f'{self._folder}/{name}')}: no file of a store" for name in strange
        ]
        return list(found.values())


def _shift_from(content: bytes) -> ShiftRecord:
    return read_shift(json.loads(content))
