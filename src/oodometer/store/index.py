"""The index of a store: what is in it, what each thing is called, and how many rows of it are right.

The one answer to these questions, for every command. It is a value: a store as it was at one look. What was looked at
once is kept beside the cells (`oodometer.store.index_file`), so that a look at a large store costs little; a cell is
read again only if its files have changed since.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from oodometer.core.condition import Family
from oodometer.core.errors import StoreError, UsageError, did_you_mean
from oodometer.core.predictions import Predictions
from oodometer.core.records import ConditionRecord, ModelRecord, ShiftRecord, read_shift
from oodometer.store.cells import Cell, read_cell
from oodometer.store.checked import Checked, DamagedError, first_good, is_whole, listed, parse_name, read_checked
from oodometer.store.files import Files, Signature
from oodometer.store.folder import CELL, LOGITS, ROWS, CellFolder, Entry, PartFiles, folder_of, look_into
from oodometer.store.images import Images, read_images
from oodometer.store.index_file import Kept, read_kept, write_kept
from oodometer.store.prediction_parquet import ranks_of
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


def model_names(entries: Iterable[Entry]) -> dict[str, list[Entry]]:
    """The cells of each model by a name that is its own.

    The name; with the first letters of the weights' digest where several have it; and where even these are the same,
    with what differs: the preprocessing or the precision.
    """
    groups: dict[str, dict[str, dict[tuple[str, str], list[Entry]]]] = {}
    for entry in entries:
        model = entry.cell.model
        of_weights = groups.setdefault(model.name, {}).setdefault(model.weights, {})
        of_weights.setdefault((model.key, entry.cell.precision), []).append(entry)
    named: dict[str, list[Entry]] = {}
    for name, of_name in groups.items():
        for weights, ways in of_name.items():
            label = name if len(of_name) == 1 else f"{name}@{weights[:8]}"
            told = _ways_told_apart([some[0].cell for some in ways.values()])
            for way, of_way in zip(told, ways.values(), strict=True):
                for file, of_file in _files_told_apart(of_way).items():
                    named[f"{label}{way}{file}"] = of_file
    return named


def _files_told_apart(entries: Sequence[Entry]) -> dict[str, list[Entry]]:
    """The cells of a model by what to write behind its name: the file, where several answer for the same condition.

    Of a model that was run, the weights tell already whose answers they are.
    """
    conditions = [entry.cell.condition.key for entry in entries]
    files: dict[str, list[Entry]] = {}
    for entry in entries:
        several = len(set(conditions)) < len(conditions)
        files.setdefault(f"@{entry.cell.model.digest[:8]}" if several else "", []).append(entry)
    return files


def _ways_told_apart(cells: Sequence[Cell]) -> list[str]:
    """What to write behind the name of a model that was run in several ways: where they differ, in words."""
    if len(cells) == 1:
        return [""]
    told = [_way(cell) for cell in cells]
    differing = [place for place in range(len(told[0])) if len({way[place] for way in told}) > 1]
    words = [", ".join(way[place] for place in differing) for way in told]
    if len(set(words)) < len(words):
        words = [cell.model.key[:8] for cell in cells]
    return [f" ({word})" for word in words]


def _way(cell: Cell) -> tuple[str, ...]:
    """How a model was run, in words."""
    seen = cell.model.input
    if seen is None:
        return (cell.precision,)
    mean, std = (",".join(f"{number:g}" for number in numbers) for numbers in (seen.mean, seen.std))
    return str(seen.view), f"mean {mean}", f"std {std}", str(cell.model.classes)[:8], cell.precision


def condition_names(conditions: Sequence[ConditionRecord]) -> list[str]:
    """A name for each condition: its own, and where several have it with that of the data.

    With the digest of the data where these share a name, and a number where even that is one: other seeds or classes.
    """
    full = [(one.name, one.data.title, one.data.digest[:8]) for one in conditions]
    data_of: dict[str, set[tuple[str, str]]] = {}
    times: dict[tuple[str, str, str], list[int]] = {}
    for place, names in enumerate(full):
        data_of.setdefault(names[0], set()).add(names[1:])
        times.setdefault(names, []).append(place)
    found = []
    for place, names in enumerate(full):
        condition, data, digest = names
        name = condition
        if len(data_of[condition]) > 1:
            same_data = [one for one in data_of[condition] if one[0] == data]
            name += f"@{data}" if len(same_data) == 1 else f"@{data}@{digest}"
        found.append(f"{name}#{times[names].index(place) + 1}" if len(times[names]) > 1 else name)
    return found


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
        for key, (found, said) in zip(new, pool.map(lambda key: _look_at(store, key), new), strict=True):
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


def look_at(store: Store, key: str) -> Entry | None:
    """One cell as it is now; None where it is not there."""
    found, _ = _look_at(store, key)
    return found


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
    return cell.model.name, condition.name, data.name, data.part, data.subset, cell.key


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


def _look_at(store: Store, key: str) -> tuple[Entry | None, list[str]]:
    """What the folder of a cell holds, and what is wrong with it."""
    for _ in range(3):  # another run may be sealing the cell while it is looked at: what vanishes is not damaged
        signature = store.files.signature(folder_of(key))  # first, so that whatever comes later is noticed
        there = look_into(store.files, key)
        found, problems = _looked(store, there, signature)
        if not problems or look_into(store.files, key) == there:
            break
    return found, problems


def _looked(store: Store, there: CellFolder, folder: Signature | None) -> tuple[Entry | None, list[str]]:
    files = store.files
    described = first_good(files, there.of(CELL))
    cell = None if described is None else _cell_from(described[1], there.key)
    if cell is None:
        if not there.files and not there.parts:  # another run is just making it
            return None, []
        where = files.locate(f"{folder_of(there.key)}/{CELL}")
        return None, [f"{where}: missing or damaged, so nothing is known of its rows; run again to replace it"]
    if not there.of(ROWS):
        return _looked_at_parts(store, there, cell, [])
    whole = first_good(files, there.of(ROWS))
    at = f"{cell.model_name} on {cell.condition_name}"
    if whole is None:
        return _looked_at_parts(store, there, cell, [f"{at}: its rows are damaged; run again to replace them"])
    name, content = whole
    logits, problems = _logits_of(store, there, cell)
    # The time of its folder does not tell of logits that are being added in the folder of parts, or that are damaged.
    told_by = None if there.has_parts_folder or problems else folder
    signatures = files.signature(name.path), logits and files.signature(logits.path), told_by
    parts = (), _whole_with_logits(store, there)
    return Entry(cell, name, logits, *signatures, *parts, *_counts(ranks_of(content))), problems


def _logits_of(store: Store, there: CellFolder, cell: Cell) -> tuple[Checked | None, list[str]]:
    """The file of all logits, if it is whole; from far away it is only looked at when it is read."""
    names = there.of(LOGITS)
    good = [name for name in names if not store.files.is_local or is_whole(store.files, name)]
    if good or not names:
        return next(iter(good), None), []
    at = f"{cell.model_name} on {cell.condition_name}"
    return None, [f"{at}: its logits are damaged; run again with --keep logits to replace them"]


def _looked_at_parts(
    store: Store, there: CellFolder, cell: Cell, problems: list[str]
) -> tuple[Entry | None, list[str]]:
    good, totals = [], np.zeros(4, dtype=np.int64)
    for part in there.ranges:
        whole = first_good(store.files, part.rows)
        if whole is None:
            problems.append(f"{cell.model_name} on {cell.condition_name}: a part is damaged; run again to replace it")
            continue
        good.append(replace(part, rows=(whole[0],)))
        if cell.n_units is None:  # otherwise they are rows of frames, and those of groups are not there yet
            totals += _counts(ranks_of(whole[1]))
    with_logits = _whole_with_logits(store, there)
    return Entry(cell, None, None, None, None, None, tuple(good), with_logits, *totals.tolist()), problems


def _whole_with_logits(store: Store, there: CellFolder) -> tuple[PartFiles, ...]:
    """The parts whose rows and logits are both whole."""
    return tuple(
        part
        for part in there.ranges_with_logits
        if first_good(store.files, part.rows) and first_good(store.files, part.logits)
    )


def _counts(ranks: np.ndarray) -> tuple[int, int, int, int]:
    """All rows, the labelled ones, those that are right, and right among five."""
    return len(ranks), int((ranks >= 0).sum()), int((ranks == 0).sum()), int(((ranks >= 0) & (ranks < 5)).sum())


def _cell_from(content: bytes, key: str) -> Cell | None:
    """The cell of a description; None where it is none, or another cell's."""
    try:
        cell = read_cell(json.loads(content))
    except (ValueError, TypeError, KeyError):
        return None
    return cell if cell.key == key else None
