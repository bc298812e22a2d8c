"""An index of a store: its predictions by image, in a database of DuckDB that lives as long as the explorer.

Made once; then whatever a run adds is added here too. Each thread has a cursor of its own.
"""

from __future__ import annotations

import io
import json
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from oodometer.core.errors import StoreError
from oodometer.explorer import queries
from oodometer.explorer.catalogue import (
    Catalogue,
    Data,
    Held,
    names_of_conditions,
    names_of_data,
    names_of_models,
    own_classes,
)
from oodometer.store.cells import Cell
from oodometer.store.queries import literal
from oodometer.store.store import CELL, COLUMN, Store

SECONDS_BETWEEN_LOOKS = 1.0
LOOKING_SHARE = 0.05
"""At most this share of the time is spent on looking for what is new."""


@dataclass(frozen=True)
class _Loaded:
    """A cell whose rows are in the index."""

    cell: Cell
    number: int
    condition: int
    files: tuple[str, ...]
    sealed: bool
    totals: tuple[int, int, int, int] = (0, 0, 0, 0)


Found = tuple[Cell, tuple[str, ...]]
"""A cell and the files of its rows."""


class Index:
    """The predictions of a store, by image."""

    def __init__(self, store: Store) -> None:
        import duckdb

        self.store = store
        # On disk, where it is half as large and leaves the memory when others need it.
        self._folder = tempfile.TemporaryDirectory(prefix="oodometer-")
        self._database = duckdb.connect(str(Path(self._folder.name) / "index.duckdb"))
        if not store.files.is_local:
            self._database.register_filesystem(store.files.filesystem())
        self._database.execute(queries.TABLES)
        self._local = threading.local()
        self._lock = threading.Lock()
        self._cells: dict[str, Cell] = {}
        self._loaded: dict[str, _Loaded] = {}
        self._data: dict[str, Data] = {}
        self._conditions: dict[str, int] = {}
        self._problems: dict[str, str] = {}
        self._numbers = 0
        self._next_look = 0.0
        self._catalogue = Catalogue(store, 0, (), {})

    def close(self) -> None:
        """Forget everything."""
        self._database.close()
        self._folder.cleanup()

    def ask(self, sql: str, **values: Any) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        import duckdb

        cursor = getattr(self._local, "cursor", None)
        if cursor is None:
            cursor = self._local.cursor = self._database.cursor()
        try:
            rows: list[tuple[Any, ...]] = cursor.execute(sql, values).fetchall()
            return rows
        except duckdb.Error as error:
            raise StoreError(f"{self.store}: can't be read ({str(error).splitlines()[0]}); reload the page") from error

    def ask_named(self, sql: str, **values: Any) -> list[dict[str, Any]]:
        """The same with the names of the columns."""
        rows = self.ask(sql, **values)
        names = [column[0] for column in self._local.cursor.description]
        return [dict(zip(names, row, strict=True)) for row in rows]

    def catalogue(self) -> Catalogue:
        """What is in the store now, or was a moment ago; whatever is new is read first."""
        if time.monotonic() >= self._next_look and self._lock.acquire(blocking=self._catalogue.version == 0):
            try:
                begun = time.monotonic()
                self._look()
                spent = time.monotonic() - begun
                self._next_look = time.monotonic() + max(SECONDS_BETWEEN_LOOKS, spent / LOOKING_SHARE)
            finally:
                self._lock.release()
        return self._catalogue

    def _look(self) -> None:
        """Bring the index up to the state of the store."""
        keys = [key for key in self.store.files.names("cells") if CELL.fullmatch(key)]
        gone = [key for key in self._loaded if key not in set(keys)]
        found: dict[str, Found] = {}
        for key in keys:
            if key in self._loaded and self._loaded[key].sealed:
                continue
            cell = self._describe(key)
            files = tuple(self.store.row_files(cell)) if cell else ()
            if cell and files and (key not in self._loaded or files != self._loaded[key].files):
                found[key] = cell, files
        if not gone and not found and self._catalogue.version:
            return
        self._change(found, [key for key in (*gone, *found) if key in self._loaded])
        self._catalogue = self._described()

    def _describe(self, key: str) -> Cell | None:
        if key not in self._cells:
            path = f"cells/{key}/cell.json"
            try:
                self._cells[key] = Cell(**json.loads(self.store.files.read(path)))
            except FileNotFoundError:  # a run is just making it
                return None
            except (ValueError, TypeError) as error:
                self._problems[key] = f"{path}: not a cell's description ({error}); left out"
                return None
        return self._cells[key]

    # The tables

    def _change(self, found: Mapping[str, Found], old: Sequence[str]) -> None:
        """Put rows in the place of the old ones: all at once, or one by one where a file is damaged."""
        import duckdb

        readable = {key: one for key, one in found.items() if self._has_images(key, one[0])}
        try:
            self._change_all(readable, old)
        except duckdb.Error:
            self._change_all({}, old)
            for key, one in readable.items():
                self._add_alone(key, one)

    def _add_alone(self, key: str, one: Found) -> None:
        import duckdb

        try:
            self._change_all({key: one}, ())
        except duckdb.Error as error:
            self._problems[key] = f"{_where(one[0])}: left out, {str(error).splitlines()[0]}"

    def _change_all(self, found: Mapping[str, Found], old: Sequence[str]) -> None:
        """One transaction, so that no reader sees a cell half."""
        new = [self._begun(cell, files) for cell, files in found.values()]
        self._database.begin()
        try:
            if old:
                self._about([self._loaded[key] for key in old])
                self._database.execute(queries.COUNT_AGREEMENT, {"sign": -1})
                self._database.execute(queries.FORGET_CELLS)
            totals = self._insert(new) if new else {}
            self._database.commit()
        except BaseException:
            self._database.rollback()
            raise
        for key in old:
            del self._loaded[key]
        for one in new:
            self._problems.pop(one.cell.key, None)
            self._loaded[one.cell.key] = replace(one, totals=totals.get(one.number, (0, 0, 0, 0)))

    def _begun(self, cell: Cell, files: tuple[str, ...]) -> _Loaded:
        condition = self._conditions.setdefault(repr(cell.condition), len(self._conditions))
        self._numbers += 1
        return _Loaded(cell, self._numbers, condition, files, sealed=files[0].endswith("/rows.parquet"))

    def _insert(self, new: Sequence[_Loaded]) -> dict[int, tuple[int, int, int, int]]:
        self._about(new)
        self._database.execute(queries.LOAD_ANSWERS, {"files": literal([file for one in new for file in one.files])})
        self._database.execute(queries.COUNT_AGREEMENT, {"sign": 1})
        return {cell: (a, b, c, d) for cell, a, b, c, d in self._database.execute(queries.TOTALS).fetchall()}

    def _about(self, cells: Sequence[_Loaded]) -> None:
        """Tell the database which cells the next statements are about."""
        import pyarrow as pa

        rows = [
            (one.cell.key, one.number, self._data[str(one.cell.condition["data"])].first, one.condition)
            for one in cells
        ]
        names = ("key", "cell", "first", "condition")
        about = pa.table({name: [row[place] for row in rows] for place, name in enumerate(names)})
        self._database.execute("DELETE FROM loading")
        self._database.register("about", about)
        self._database.execute("INSERT INTO loading SELECT * FROM about")
        self._database.unregister("about")

    def _has_images(self, key: str, cell: Cell) -> bool:
        """Whether the images of the cell are in the index, now at the latest."""
        import duckdb

        try:
            self._load_images(cell)
        except (duckdb.Error, OSError, ValueError, KeyError, TypeError) as error:
            what = f"{self.store.images_path(cell)} is missing or damaged"
            self._problems[key] = f"{_where(cell)}: left out, {what} ({str(error).splitlines()[0]})"
            return False
        return True

    def _load_images(self, cell: Cell) -> None:
        digest = str(cell.condition["data"])
        if digest in self._data:
            return
        import pyarrow.parquet as pq

        file = pq.ParquetFile(io.BytesIO(self.store.files.read(self.store.images_path(cell))))
        classes = own_classes(json.loads(file.schema_arrow.metadata[b"classes"]))
        first, number = sum(one.n for one in self._data.values()), len(self._data)
        self._database.execute(
            queries.LOAD_IMAGES, {"first": first, "data": number, "files": literal([self.store.images_file(cell)])}
        )
        has_columns = any(name.startswith(COLUMN) for name in file.schema_arrow.names)
        self._data[digest] = Data(digest, number, cell.data, first, file.metadata.num_rows, classes, has_columns)

    def _described(self) -> Catalogue:
        loaded = sorted(self._loaded.values(), key=lambda one: _order(one.cell))
        cells = [one.cell for one in loaded]
        models, conditions = names_of_models(cells), names_of_conditions(cells)
        names = names_of_data({one.digest: one.name for one in self._data.values()})
        held = tuple(
            Held(
                one.number,
                one.condition,
                one.cell,
                models[one.cell.key],
                conditions[one.cell.key],
                str(one.cell.condition["data"]),
                one.files,
                *one.totals,
                one.sealed,
            )
            for one in loaded
        )
        data = {digest: replace(one, name=names[digest]) for digest, one in self._data.items()}
        return Catalogue(self.store, self._catalogue.version + 1, held, data, tuple(self._problems.values()))


def _order(cell: Cell) -> tuple[str, ...]:
    """As a store lists its cells."""
    return cell.model_name, cell.condition_name, cell.data, cell.key


def _where(cell: Cell) -> str:
    return f"{cell.model_name} on {cell.condition_name}"
