"""The store: cells of predictions that survive a kill, are never mistaken for others, and are done only once.

    oodometer.json                       the format version
    datasets/DIGEST.parquet              id, label (and others, if any), content digest and columns of each image
    cells/KEY/cell.json                  what the cell is
    cells/KEY/parts/START-STOP.parquet   rows as they come in (and START-STOP.logits.parquet)
    cells/KEY/findings/START-STOP.json   what an attack found out about itself; warnings.json what that means
    cells/KEY/rows.parquet               all rows, once the cell is complete (and logits.parquet); parts are gone then
    shifts/DIGEST.json                   which conditions are the two sides of a shift
    tables/DIGEST.parquet                accuracies read from somebody's table

Every file is written aside and renamed, and what it holds depends only on its name: so two runs may write one store
at once, and the worst that happens is that the same rows are written twice.
"""

from __future__ import annotations

import io
import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from oodometer.core.condition import Shift
from oodometer.core.dataset import Dataset
from oodometer.core.digests import digest_of
from oodometer.core.errors import StoreError
from oodometer.core.predictions import Predictions, concatenate
from oodometer.store.cells import FORMAT, Cell
from oodometer.store.files import Files
from oodometer.store.prediction_parquet import from_parquet, logits_to_parquet, table_of, to_parquet
from oodometer.store.worst_frame import judged_as_one

MARK = "oodometer.json"
COLUMN = "column:"
"""Before the names of what travels along with each image, in the tables of images."""
CELL = re.compile(r"[0-9a-f]{32}")
PART = re.compile(r"(\d{9,})-(\d{9,})\.parquet")


@dataclass(frozen=True)
class Store:
    """A folder of predictions; opened by `open_store`."""

    files: Files

    def __str__(self) -> str:
        return self.files.address

    # Writing

    def add_cell(self, cell: Cell, dataset: Dataset) -> None:
        """Make room for a cell; nothing happens where it is already there."""
        table = f"datasets/{dataset.digest}.parquet"
        if not self.files.exists(table):
            self.files.write(table, _images_table(dataset))
        elif dataset.columns:
            self._add_columns(table, dataset)
            if cell.n_units is not None:
                self._check_groups(cell, dataset)
        path = f"cells/{cell.key}/cell.json"
        if not self.files.exists(path):
            self.files.write(path, json.dumps(asdict(cell), indent=1).encode())

    def add_shift(self, shift: Shift) -> None:
        """Remember that two conditions are a pair; nothing happens where it is already known."""
        described = shift.describe()
        path = f"shifts/{digest_of(described)}.json"
        if not self.files.exists(path):
            self.files.write(path, json.dumps(described, indent=1).encode())

    def _add_columns(self, table: str, dataset: Dataset) -> None:
        """Keep columns that an earlier run of the same images did not know of."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        known = table_of(self.files.read(table))
        new = {name: values for name, values in dataset.columns.items() if f"{COLUMN}{name}" not in known.column_names}
        for name, values in new.items():
            known = known.append_column(f"{COLUMN}{name}", pa.array(values))
        if new:
            buffer = io.BytesIO()
            pq.write_table(known, buffer, compression="zstd")
            self.files.write(table, buffer.getvalue())

    def write_part(self, key: str, start: int, stop: int, rows: Predictions) -> None:
        """Write the rows of positions start to stop; rows may be fewer where images are broken."""
        stem = f"cells/{key}/parts/{start:09d}-{stop:09d}"
        # The logits first: a part that is there is whole.
        if rows.logits is not None:
            self.files.write(f"{stem}.logits.parquet", logits_to_parquet(rows.image, rows.logits))
        self.files.write(f"{stem}.parquet", to_parquet(rows))

    def write_findings(self, key: str, start: int, stop: int, findings: Mapping[str, int]) -> None:
        """Keep what an attack found out on positions start to stop; before its rows, so that none are without."""
        self.files.write(f"cells/{key}/findings/{start:09d}-{stop:09d}.json", json.dumps(dict(findings)).encode())

    def write_warnings(self, cell: Cell, lines: Sequence[str]) -> None:
        """Keep what a reader of the cell's numbers should know."""
        path = f"cells/{cell.key}/warnings.json"
        if list(lines) != self.warnings(cell):
            self.files.write(path, json.dumps(list(lines)).encode())

    def covered(self, cell: Cell, *, keep_logits: bool) -> list[tuple[int, int]]:
        """The ranges of positions that need no more work, in order and without overlap."""
        folder = f"cells/{cell.key}"
        if self.files.exists(f"{folder}/{'logits' if keep_logits else 'rows'}.parquet"):
            return [(0, cell.n_images)]
        return _parts(self.files.names(f"{folder}/parts"), keep_logits=keep_logits)

    def seal(self, cell: Cell, *, keep_logits: bool) -> None:
        """Put the parts of a complete cell together into one file; nothing happens to an unfinished one."""
        folder = f"cells/{cell.key}"
        names = self.files.names(f"{folder}/parts")
        with_logits = _parts(names, keep_logits=True)
        # Logits that are all there are kept, also by a run that did not ask for them.
        keep = keep_logits or _n_covered(with_logits) == cell.n_images
        ranges = with_logits if keep else _parts(names, keep_logits=False)
        if _n_covered(ranges) < cell.n_images:
            return
        try:
            rows = self._join(folder, ranges, keep_logits=keep)
        except FileNotFoundError:  # another run is sealing the cell just now
            return
        if cell.n_units is not None:
            rows = judged_as_one(rows, *self.groups_of(cell))
        # The logits last: where they are, the rows are too.
        self.files.write(f"{folder}/rows.parquet", to_parquet(rows), durable=True)
        if rows.logits is not None:
            self.files.write(f"{folder}/logits.parquet", logits_to_parquet(rows.image, rows.logits), durable=True)
        self.files.remove(f"{folder}/parts")

    def _check_groups(self, cell: Cell, dataset: Dataset) -> None:
        """An error where an earlier run of the same images grouped them otherwise: it would decide about this one."""
        known = self.groups_of(cell)
        for name, values in zip((str(cell.condition["unit"]), "offset"), known, strict=True):
            # As texts, because NaN is not equal to itself.
            if values is not None and [*map(str, values.tolist())] != [*map(str, dataset.columns[name].tolist())]:
                raise StoreError(
                    f"{self}: an earlier run of {dataset.name} had other values in its column {name}, by which "
                    f"{cell.condition_name} is judged; use another store, or give the images other ids"
                )

    def groups_of(self, cell: Cell) -> tuple[np.ndarray, np.ndarray | None]:
        """The unit of each image of the cell's data, and its offset from the anchor where that is known."""
        images = table_of(self.files.read(self.images_path(cell)))
        unit, offset = (f"{COLUMN}{name}" for name in (cell.condition["unit"], "offset"))
        return images[unit].to_numpy(), images[offset].to_numpy() if offset in images.column_names else None

    # Reading

    def cells(self, *, damaged: list[str] | None = None) -> list[Cell]:
        """All cells, by model and condition.

        Args:
            damaged: Where given, descriptions that can't be read are left out and told here, rather than an error.
        """
        described = [self._described(key, damaged) for key in self.files.names("cells") if CELL.fullmatch(key)]
        found = [cell for cell in described if cell is not None]
        return sorted(found, key=lambda cell: (cell.model_name, cell.condition_name, cell.data, cell.key))

    def _described(self, key: str, damaged: list[str] | None) -> Cell | None:
        try:
            return self._describe(key)
        except StoreError as error:
            if damaged is None:
                raise
            damaged.append(str(error))
            return None

    def _describe(self, key: str) -> Cell | None:
        path = f"cells/{key}/cell.json"
        try:
            return Cell(**json.loads(self.files.read(path)))
        except FileNotFoundError:  # another run is just making it
            return None
        except (ValueError, TypeError) as error:
            raise StoreError(f"{self.files.locate(path)}: not a cell's description ({error})") from error

    def findings(self, cell: Cell) -> Counter[str]:
        """What an attack found out about itself, over all images of the cell."""
        total: Counter[str] = Counter()
        folder = f"cells/{cell.key}/findings"
        names = [name.replace(".json", ".parquet") for name in self.files.names(folder)]
        for start, stop in _parts(names, keep_logits=False):
            total.update(self._json(f"{folder}/{start:09d}-{stop:09d}.json"))
        return total

    def warnings(self, cell: Cell) -> list[str]:
        """What a reader of the cell's numbers should know."""
        path = f"cells/{cell.key}/warnings.json"
        return [str(line) for line in self._json(path)] if self.files.exists(path) else []

    def _json(self, path: str) -> Any:
        try:
            return json.loads(self.files.read(path))
        except ValueError as error:
            raise StoreError(f"{self.files.locate(path)}: damaged ({error}); remove it and run again") from error

    def is_sealed(self, cell: Cell) -> bool:
        """Whether the cell is complete."""
        return self.files.exists(f"cells/{cell.key}/rows.parquet")

    def has_logits(self, cell: Cell) -> bool:
        """Whether all logits of the cell were kept."""
        return self.covered(cell, keep_logits=True) == [(0, cell.n_images)]

    def row_files(self, cell: Cell) -> list[str]:
        """The addresses of the Parquet files that hold the cell's rows; none where nothing is done yet."""
        folder = f"cells/{cell.key}"
        if self.is_sealed(cell):
            return [self.files.locate(f"{folder}/rows.parquet")]
        if cell.n_units is not None:  # its parts hold images, which are judged together once all are there
            return []
        ranges = _parts(self.files.names(f"{folder}/parts"), keep_logits=False)
        return [self.files.locate(f"{folder}/parts/{start:09d}-{stop:09d}.parquet") for start, stop in ranges]

    def read(self, cell: Cell, *, logits: bool = False) -> Predictions:
        """The rows of a cell, in the order of the images."""
        folder = f"cells/{cell.key}"
        names = ("rows", "logits" if logits else None)
        with suppress(FileNotFoundError):
            return self._rows(folder, *names)
        ranges = [] if cell.n_units else _parts(self.files.names(f"{folder}/parts"), keep_logits=logits)
        with suppress(FileNotFoundError):  # another run may be sealing the cell just now
            if ranges:
                return self._join(folder, ranges, keep_logits=logits)
        try:
            return self._rows(folder, *names)
        except FileNotFoundError:
            what = "logits" if logits else "predictions"
            raise StoreError(f"{self}: no {what} of {cell.model_name} on {cell.condition_name}") from None

    def images_file(self, cell: Cell) -> str:
        """The address of the Parquet file with the ids, labels and columns of the cell's images."""
        return self.files.locate(self.images_path(cell))

    def images_path(self, cell: Cell) -> str:
        """The same, relative to the store."""
        return f"datasets/{cell.condition['data']}.parquet"

    def _join(self, folder: str, ranges: list[tuple[int, int]], *, keep_logits: bool) -> Predictions:
        def read(start: int, stop: int) -> Predictions:
            stem = f"parts/{start:09d}-{stop:09d}"
            return self._rows(folder, stem, f"{stem}.logits" if keep_logits else None)

        return concatenate([read(start, stop) for start, stop in ranges])

    def _rows(self, folder: str, rows: str, logits: str | None) -> Predictions:
        kept = self.files.read(f"{folder}/{logits}.parquet") if logits else None
        content = self.files.read(f"{folder}/{rows}.parquet")
        try:
            return from_parquet(content, kept)
        except (ValueError, KeyError, OSError) as error:  # what pyarrow raises about a damaged file
            where = self.files.locate(f"{folder}/{rows}.parquet")
            raise StoreError(f"{where}: damaged ({str(error).splitlines()[0]}); remove it and run again") from error


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
        mark = json.loads(store.files.read(MARK))
        version = mark["format"]
    except FileNotFoundError:
        if not create:
            raise StoreError(f"{address}: no store there (it has no {MARK}); 'oodometer run' makes one") from None
        names = store.files.names("")
        if MARK in names:  # another run has made it since
            return open_store(address, create=create)
        if any(not name.startswith(MARK) for name in names):  # not just the mark that another run is writing
            raise StoreError(f"{address}: is not a store and not empty; give an empty or new folder") from None
        store.files.write(MARK, json.dumps({"format": FORMAT}).encode())
        return store
    except (ValueError, KeyError, TypeError) as error:
        raise StoreError(f'{store.files.locate(MARK)}: damaged; it should hold {{"format": {FORMAT}}}') from error
    if version != FORMAT:
        raise StoreError(
            f"{address}: a store of format {version}, and this version of oodometer reads format {FORMAT}; "
            "use the version that wrote it, or another folder"
        )
    return store


def _parts(names: list[str], *, keep_logits: bool) -> list[tuple[int, int]]:
    """The ranges of the parts named, in order; of parts that overlap, the one that starts first."""
    present = set(names)
    ranges: list[tuple[int, int]] = []
    for start, stop in sorted(_ranges(names)):
        if keep_logits and f"{start:09d}-{stop:09d}.logits.parquet" not in present:
            continue
        if not ranges or start >= ranges[-1][1]:
            ranges.append((start, stop))
    return ranges


def _n_covered(ranges: list[tuple[int, int]]) -> int:
    return sum(stop - start for start, stop in ranges)


def _ranges(names: list[str]) -> Iterator[tuple[int, int]]:
    for name in names:
        if part := PART.fullmatch(name):
            yield int(part[1]), int(part[2])


def _images_table(dataset: Dataset) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns: dict[str, Any] = {
        "image": pa.array(np.arange(len(dataset), dtype=np.int32)),
        "id": pa.array(dataset.ids),
        "label": pa.array(dataset.labels.astype(np.int32)),
        "content": pa.array(dataset.scan().contents, type=pa.binary()),
        "row": pa.array(dataset.rows.astype(np.int64)),
    }
    if dataset.other_labels is not None:
        columns["other_labels"] = pa.array(dataset.other_labels, type=pa.list_(pa.int32()))
    columns.update({f"{COLUMN}{name}": pa.array(values) for name, values in dataset.columns.items()})
    about = {"name": dataset.name, "space": dataset.space.name, "classes": json.dumps(dataset.space.classes)}
    buffer = io.BytesIO()
    pq.write_table(pa.table(columns).replace_schema_metadata(about), buffer, compression="zstd")
    return buffer.getvalue()
