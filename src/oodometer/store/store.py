"""The store: cells of predictions that survive a kill, are never mistaken for others, and are done only once.

    oodometer.json                         the format version, and the version of oodometer that made the store
    datasets/DIGEST.CHECK.parquet          id, label (and others, if any), content digest and columns of each image
    cells/KEY/cell.CHECK.json              what the cell is
    cells/KEY/parts/START-STOP.CHECK.parquet   rows as they come in (and START-STOP.logits.CHECK.parquet)
    cells/KEY/findings/START-STOP.CHECK.json   what an attack found out about itself (and warnings.CHECK.json)
    cells/KEY/rows.CHECK.parquet           all rows, once the cell is complete (and logits); parts are gone then
    shifts/KEY.CHECK.json                  which conditions are the two sides of a shift
    tables/DIGEST.CHECK.parquet            accuracies read from somebody's table
    index.CHECK.parquet                    what all this comes to: made anew where it is missing (store/index.py)

CHECK is the digest of a file's place and content, so that damage is noticed before anything is read from it. What a
file holds depends only on its name: so two runs may write one store at once, and the worst that happens is that the
same rows are written twice.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from oodometer.core.dataset import Dataset
from oodometer.core.digests import digest_of
from oodometer.core.errors import StoreError
from oodometer.core.predictions import Predictions, concatenate
from oodometer.core.records import ShiftRecord
from oodometer.store.cells import FORMAT, Cell, cell_as_json
from oodometer.store.checked import Checked, DamagedError, first_good, listed, of_stem, put, read_checked
from oodometer.store.files import Batch, Files
from oodometer.store.folder import (
    CELL,
    FINDINGS,
    LOGITS,
    PARTS,
    RANGE,
    ROWS,
    WARNINGS,
    CellFolder,
    PartFiles,
    folder_of,
    look_into,
    range_stem,
)
from oodometer.store.prediction_parquet import from_parquet, logits_to_parquet, table_of, to_parquet, values_of, written
from oodometer.store.worst_frame import judged_as_one

MARK = "oodometer.json"
FOLDERS = ("cells", "datasets", "shifts", "tables", "writing")
COLUMN = "column:"
"""Before the names of what travels along with each image, in the tables of images."""


@dataclass(frozen=True)
class Store:
    """A folder of predictions; opened by `open_store`."""

    files: Files

    def __str__(self) -> str:
        return self.files.address

    # Writing

    def add_cell(self, cell: Cell, dataset: Dataset) -> None:
        """Make room for a cell; nothing happens where it is already there."""
        self.add_cells([(cell, dataset)])

    def add_cells(self, cells: Iterable[tuple[Cell, Dataset]]) -> None:
        """Make room for cells, and keep the tables of their images, each once."""
        cells = list(cells)
        with self.files.batch() as batch:
            for dataset in {dataset.digest: dataset for _, dataset in cells}.values():
                self._add_images(batch, dataset)
            for cell, _ in cells:
                if first_good(self.files, look_into(self.files, cell.key).of(CELL)) is None:
                    content = json.dumps(cell_as_json(cell), indent=1).encode()
                    put(batch, folder_of(cell.key), CELL, "json", content)
        for cell, dataset in cells:
            if cell.n_units is not None:
                self._check_groups(cell, dataset)

    def add_shift(self, shift: ShiftRecord) -> None:
        """Remember that two conditions are a pair; nothing happens where it is already known."""
        if first_good(self.files, of_stem(listed(self.files, "shifts"), shift.key)) is None:
            put(self.files, "shifts", shift.key, "json", json.dumps(asdict(shift), indent=1).encode())

    def _add_images(self, batch: Batch, dataset: Dataset) -> None:
        """Write the table of the images, with columns that an earlier run of the same images did not know of."""
        import pyarrow as pa

        known = self.images_table(dataset.digest)
        if known is None:
            put(batch, "datasets", dataset.digest, "parquet", _images_table(dataset))
            return
        name, table = known
        new = {
            column: dataset.columns[column] for column in dataset.columns if _column(column) not in table.schema.names
        }
        for column, values in new.items():
            table = table.append_column(_column(column), pa.array(values))
        if new and put(batch, "datasets", dataset.digest, "parquet", written(table)) != name:
            batch.commit()
            self.files.remove(name.path)

    @contextlib.contextmanager
    def batch(self) -> Iterator[Batch]:
        """Parts that get into place together: those of one chunk."""
        with self.files.batch() as batch:
            yield batch

    def write_part(self, key: str, start: int, stop: int, rows: Predictions, *, batch: Batch | None = None) -> None:
        """Write the rows of positions start to stop; rows may be fewer where images are broken."""
        folder, stem = f"{folder_of(key)}/{PARTS}", range_stem(start, stop)
        with contextlib.nullcontext(batch) if batch else self.files.batch() as to:
            # The logits first: a part that is there is whole.
            if rows.logits is not None:
                put(to, folder, f"{stem}.{LOGITS}", "parquet", logits_to_parquet(rows.image, rows.logits))
            put(to, folder, stem, "parquet", to_parquet(rows))

    def write_findings(self, key: str, start: int, stop: int, findings: Mapping[str, int], *, batch: Batch) -> None:
        """Keep what an attack found out on positions start to stop; before its rows, so that none are without."""
        folder = f"{folder_of(key)}/{FINDINGS}"
        put(batch, folder, range_stem(start, stop), "json", json.dumps(dict(findings)).encode())

    def write_warnings(self, cell: Cell, lines: Sequence[str]) -> None:
        """Keep what a reader of the cell's numbers should know."""
        known = self.known_warnings(cell)
        if lines and list(lines) != known:
            put(self.files, folder_of(cell.key), WARNINGS, "json", json.dumps(list(lines)).encode())

    def known_warnings(self, cell: Cell) -> list[str]:
        """What was kept of them; none where that is damaged."""
        try:
            return self.warnings(cell)
        except DamagedError:
            return []

    def seal(self, cell: Cell, *, keep_logits: bool) -> None:
        """Put the parts of a complete cell together into one file; nothing happens to an unfinished one.

        A part that is damaged is removed, so that the next look finds it missing.
        """
        there = look_into(self.files, cell.key)
        # Logits that are all there are kept, also by a run that did not ask for them.
        keep = keep_logits or n_covered(there.ranges_with_logits) == cell.n_images
        parts = there.ranges_with_logits if keep else there.ranges
        if n_covered(parts) < cell.n_images:
            return
        rows = self._joined(parts, keep_logits=keep)
        if rows is None:
            return
        if cell.n_units is not None:
            rows = judged_as_one(rows, *self.groups_of(cell))
        self._replace(there, {ROWS: to_parquet(rows)} | self._logits_of(rows))
        self.files.remove(f"{folder_of(cell.key)}/{PARTS}")

    def _logits_of(self, rows: Predictions) -> dict[str, bytes]:
        return {} if rows.logits is None else {LOGITS: logits_to_parquet(rows.image, rows.logits)}

    def _replace(self, there: CellFolder, contents: Mapping[str, bytes]) -> None:
        """Write files in the place of those of the same name; others than the new ones are damaged or older."""
        folder = folder_of(there.key)
        with self.files.batch() as batch:
            new = {put(batch, folder, stem, "parquet", content) for stem, content in contents.items()}
        for stem in contents:
            for name in there.of(stem):
                if name not in new:
                    self.files.remove(name.path)

    def _joined(self, parts: Sequence[PartFiles], *, keep_logits: bool) -> Predictions | None:
        """The rows of all parts; None where one is damaged, or where another run is just sealing the cell."""
        rows = []
        for part in parts:
            try:
                rows.append(self._read_rows(part.rows, part.logits if keep_logits else None))
            except FileNotFoundError:
                return None
            except DamagedError:
                self.remove_part(part)
                return None
        return concatenate(rows)

    def remove_part(self, part: PartFiles) -> None:
        """Remove a damaged part, so that it is made again."""
        for name in (*part.rows, *part.logits):
            self.files.remove(name.path)

    def remove_cell(self, key: str) -> None:
        """Remove a cell: out of sight at once, then file by file."""
        folder = folder_of(key)
        if self.files.is_local and self.files.exists(folder):
            gone = f"writing/removed-{os.getpid()}-{key}"
            os.makedirs(self.files.locate("writing"), exist_ok=True)
            os.replace(self.files.locate(folder), self.files.locate(gone))
            folder = gone
        self.files.remove(folder)

    # Reading

    def cell_keys(self) -> list[str]:
        """The keys of all cells, whatever state they are in."""
        return [name for name in self.files.names("cells") if len(name) == 32 and not name.strip("0123456789abcdef")]

    def read(self, cell: Cell, *, logits: bool = False) -> Predictions:
        """The rows of a cell, in the order of the images; those of an unfinished one as far as they are there."""
        for _ in range(3):  # another run may be sealing the cell just now
            there = look_into(self.files, cell.key)
            with contextlib.suppress(FileNotFoundError):
                if there.of(ROWS):
                    return self._read_rows(there.of(ROWS), there.of(LOGITS) if logits else None)
                parts = [] if cell.n_units else there.ranges_with_logits if logits else there.ranges
                if parts:
                    return concatenate([self._read_rows(part.rows, part.logits if logits else None) for part in parts])
        what = LOGITS if logits else "predictions"
        raise StoreError(f"{self}: no {what} of {cell.model_name} on {cell.condition_name}")

    def _read_rows(self, rows: Sequence[Checked], logits: Sequence[Checked] | None) -> Predictions:
        """The rows of a file, and their logits where these are asked for.

        Raises:
            FileNotFoundError: They are not there (any more).
            DamagedError: They are, and damaged.
        """
        kept = self.content(logits) if logits is not None else None
        content = self.content(rows)
        try:
            return from_parquet(content, kept)
        except (ValueError, KeyError, OSError) as error:  # what pyarrow raises about what it can't read
            where = self.files.locate(rows[0].path)
            raise DamagedError(f"{where}: damaged ({str(error).splitlines()[0]}); run again to replace it") from error

    def content(self, names: Sequence[Checked]) -> bytes:
        """The content of the first of these files that is whole."""
        if not names:
            raise FileNotFoundError
        found = first_good(self.files, names)
        if found is not None:
            return found[1]
        read_checked(self.files, names[0])  # tells what is the matter with it
        raise FileNotFoundError

    def images_table(self, digest: str) -> tuple[Checked, Any] | None:
        """The table of the images of the data of that digest, and the file that it is in; None where there is none."""
        tables = []
        for name in of_stem(listed(self.files, "datasets"), digest):
            with contextlib.suppress(FileNotFoundError, DamagedError, ValueError, OSError):
                tables.append((name, table_of(read_checked(self.files, name))))
        return max(tables, key=lambda pair: pair[1].num_columns, default=None)

    def images_file(self, digest: str) -> str:
        """The address of the file with the ids, labels and columns of these images."""
        found = self.images_table(digest)
        if found is None:
            raise StoreError(images_problem(self, digest))
        return self.files.locate(found[0].path)

    def findings(self, cell: Cell) -> Counter[str]:
        """What an attack found out about itself, over all images of the cell."""
        total: Counter[str] = Counter()
        stop = 0
        names = [name for name in listed(self.files, f"{folder_of(cell.key)}/{FINDINGS}") if RANGE.fullmatch(name.stem)]
        for stem in sorted({name.stem for name in names}):
            first, last = (int(number) for number in stem.split("-"))
            if first >= stop:
                total.update(self._json(of_stem(names, stem)))
                stop = last
        return total

    def warnings(self, cell: Cell) -> list[str]:
        """What a reader of the cell's numbers should know."""
        names = look_into(self.files, cell.key).of(WARNINGS)
        return [str(line) for line in self._json(names)] if names else []

    def _json(self, names: Sequence[Checked]) -> Any:
        return json.loads(self.content(names))

    def groups_of(self, cell: Cell) -> tuple[np.ndarray, np.ndarray | None]:
        """The unit of each image of the cell's data, and its offset from the anchor where that is known."""
        found = self.images_table(cell.data.digest)
        if found is None:
            raise StoreError(images_problem(self, cell.data.digest))
        table = found[1]
        unit, offset = _column(str(cell.condition.unit)), _column("offset")
        return values_of(table[unit]), values_of(table[offset]) if offset in table.column_names else None

    def _check_groups(self, cell: Cell, dataset: Dataset) -> None:
        """An error where an earlier run of the same images grouped them otherwise: it would decide about this one."""
        for name, values in zip((str(cell.condition.unit), "offset"), self.groups_of(cell), strict=True):
            # As texts, because NaN is not equal to itself.
            if values is not None and [*map(str, values.tolist())] != [*map(str, dataset.columns[name].tolist())]:
                raise StoreError(
                    f"{self}: an earlier run of {dataset.title} had other values in its column {name}, by which "
                    f"{cell.condition_name} is judged; use another store, or give the images other ids"
                )


def images_problem(store: Store, digest: str) -> str:
    """What to say about a table of images that can't be read."""
    return f"{store.files.locate(f'datasets/{digest}')}...parquet: missing or damaged; run again to replace it"


def n_covered(parts: Sequence[PartFiles]) -> int:
    """How many positions the parts cover."""
    return sum(part.stop - part.start for part in parts)


def open_store(address: str, *, create: bool = False) -> Store:
    """The store at a folder or fsspec address.

    Raises:
        StoreError: There is none (and ``create`` is off), it is of another format version, or the folder holds
            something else.
    """
    if not str(address):
        raise StoreError("the store's address is empty; give a folder, for example runs/")
    local = str(address).removeprefix("file://")
    store = Store(Files(local if "://" in local else os.path.expanduser(local)))
    try:
        mark = store.files.read(MARK)
    except FileNotFoundError:
        if not create:
            raise StoreError(f"{address}: no store there (it has no {MARK}); 'oodometer run' makes one") from None
        others = [name for name in store.files.names("") if name not in FOLDERS and not name.startswith("index.")]
        if MARK in others:  # another run has made it since
            return open_store(address, create=create)
        if others:
            raise StoreError(f"{address}: is not a store and not empty; give an empty or new folder") from None
        _write_mark(store)
        return store
    said = _mark_from(mark)
    if said is None:
        return _with_new_mark(store, create=create)
    if said["format"] != FORMAT:
        which = f" (oodometer {said['version']})" if "version" in said else ""
        raise StoreError(
            f"{address}: a store of format {said['format']}, and this version of oodometer reads format {FORMAT}; "
            f"use the version that wrote it{which}, or another folder"
        )
    return store


def _write_mark(store: Store) -> None:
    from oodometer import __version__

    said: dict[str, Any] = {"format": FORMAT, "version": __version__}
    store.files.write(MARK, json.dumps({**said, "check": digest_of(said)}).encode())


def _mark_from(mark: bytes) -> dict[str, Any] | None:
    """The format that a store's mark says, and which version wrote it; None where it is damaged."""
    try:
        said: dict[str, Any] = json.loads(mark)
        check = said.pop("check", None)
        is_number = isinstance(said["format"], int)
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    # Format 1 had no check, and its mark held nothing else.
    whole = check == digest_of(said) if check is not None else said == {"format": 1}
    return said if whole and is_number else None


def _with_new_mark(store: Store, *, create: bool) -> Store:
    """The store whose mark is damaged: whoever may write it makes the mark anew, since its files say what they are."""
    where = store.files.locate(MARK)
    if not create:
        raise DamagedError(f"{where}: damaged; the next 'oodometer run' or 'oodometer verify' on it replaces it")
    _write_mark(store)
    return store


def _column(name: str) -> str:
    return f"{COLUMN}{name}"


def _images_table(dataset: Dataset) -> bytes:
    import pyarrow as pa

    columns: dict[str, Any] = {
        "image": pa.array(np.arange(len(dataset), dtype=np.int32)),
        "id": pa.array(dataset.ids),
        "label": pa.array(dataset.labels.astype(np.int32)),
        "content": pa.array(dataset.scan().contents, type=pa.binary()),
        "row": pa.array(dataset.rows.astype(np.int64)),
    }
    if dataset.other_labels is not None:
        columns["other_labels"] = pa.array(dataset.other_labels, type=pa.list_(pa.int32()))
    columns.update({_column(name): pa.array(values) for name, values in dataset.columns.items()})
    about = {"name": dataset.title, "space": dataset.space.name, "classes": json.dumps(dataset.space.classes)}
    return written(pa.table(columns).replace_schema_metadata(about))
