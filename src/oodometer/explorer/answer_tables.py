"""The predictions of a store by image, in a database of DuckDB that lives as long as the explorer.

Made once; then whatever a run adds is added here too: the store's index tells what there is. Each thread has a cursor
of its own.
"""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from oodometer.core.errors import StoreError
from oodometer.explorer import queries
from oodometer.explorer.catalogue import Catalogue, Data, Held, names_of_data, own_classes
from oodometer.store.cells import Cell
from oodometer.store.folder import Entry
from oodometer.store.images import read_images
from oodometer.store.index import Index, look
from oodometer.store.queries import literal
from oodometer.store.store import Store

SECONDS_BETWEEN_LOOKS = 1.0
LOOKING_SHARE = 0.05
"""At most this share of the time is spent on looking for what is new."""


@dataclass(frozen=True)
class _Loaded:
    """A cell whose rows are in the tables."""

    entry: Entry
    number: int
    condition: int
    files: tuple[str, ...]


class AnswerTables:
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
        self._loaded: dict[str, _Loaded] = {}
        self._data: dict[str, Data] = {}
        self._conditions: dict[str, int] = {}
        self._problems: dict[str, str] = {}
        self._numbers = 0
        self._next_look = 0.0
        self._catalogue = Catalogue(Index(store, ()), 0, (), {})

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
        """Bring the tables up to the state of the store."""
        index = look(self.store)
        there = {entry.cell.key: entry for entry in index.entries if entry.files}
        gone = [key for key in self._loaded if key not in there]
        new = {
            key: one
            for key, one in there.items()
            if key not in self._loaded or self._files(one) != self._loaded[key].files
        }
        before = self._catalogue
        same = (index.problems, index.shifts, index.tables) == (
            before.index.problems, before.index.shifts, before.index.tables
        )  # fmt: skip
        if not gone and not new and same and before.version:
            return
        self._change(new, [key for key in (*gone, *new) if key in self._loaded])
        self._catalogue = self._described(index)

    def _files(self, entry: Entry) -> tuple[str, ...]:
        return tuple(self.store.files.locate(name.path) for name in entry.files)

    # The tables

    def _change(self, found: Mapping[str, Entry], old: Sequence[str]) -> None:
        """Put rows in the place of the old ones: all at once, or one by one where a file is damaged."""
        import duckdb

        readable = {key: one for key, one in found.items() if self._has_images(key, one.cell)}
        try:
            self._change_all(readable, old)
        except duckdb.Error:
            self._change_all({}, old)
            for key, one in readable.items():
                self._add_alone(key, one)

    def _add_alone(self, key: str, one: Entry) -> None:
        import duckdb

        try:
            self._change_all({key: one}, ())
        except duckdb.Error as error:
            self._problems[key] = f"{_where(one.cell)}: left out, {str(error).splitlines()[0]}"

    def _change_all(self, found: Mapping[str, Entry], old: Sequence[str]) -> None:
        """One transaction, so that no reader sees a cell half."""
        new = [self._begun(entry) for entry in found.values()]
        self._database.begin()
        try:
            if old:
                self._about([self._loaded[key] for key in old])
                self._database.execute(queries.COUNT_AGREEMENT, {"sign": -1})
                self._database.execute(queries.FORGET_CELLS)
            if new:
                self._insert(new)
            self._database.commit()
        except BaseException:
            self._database.rollback()
            raise
        for key in old:
            del self._loaded[key]
        for one in new:
            self._problems.pop(one.entry.cell.key, None)
            self._loaded[one.entry.cell.key] = one

    def _begun(self, entry: Entry) -> _Loaded:
        condition = self._conditions.setdefault(entry.cell.condition.key, len(self._conditions))
        self._numbers += 1
        return _Loaded(entry, self._numbers, condition, self._files(entry))

    def _insert(self, new: Sequence[_Loaded]) -> None:
        self._about(new)
        self._database.execute(queries.LOAD_ANSWERS, {"files": literal([file for one in new for file in one.files])})
        self._database.execute(queries.COUNT_AGREEMENT, {"sign": 1})

    def _about(self, cells: Sequence[_Loaded]) -> None:
        """Tell the database which cells the next statements are about."""
        import pyarrow as pa

        rows = [
            (one.entry.cell.key, one.number, self._data[one.entry.cell.data.digest].first, one.condition)
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
        except (duckdb.Error, StoreError, OSError, ValueError, KeyError, TypeError) as error:
            self._problems[key] = f"{_where(cell)}: left out, {str(error).splitlines()[0]}"
            return False
        return True

    def _load_images(self, cell: Cell) -> None:
        digest = cell.data.digest
        if digest in self._data:
            return
        images = read_images(self.store, digest)
        first, number = sum(one.n for one in self._data.values()), len(self._data)
        self._database.execute(
            queries.LOAD_IMAGES, {"first": first, "data": number, "files": literal([self.store.images_file(digest)])}
        )
        classes = own_classes(images.space.classes)
        self._data[digest] = Data(
            digest, number, cell.data.title, first, len(images.ids), classes, bool(images.columns)
        )

    def _described(self, index: Index) -> Catalogue:
        loaded = [self._loaded[entry.cell.key] for entry in index.entries if entry.cell.key in self._loaded]
        names = names_of_data({one.digest: one.name for one in self._data.values()})
        held = tuple(
            Held(
                one.number,
                one.condition,
                one.entry.cell,
                index.model_name_of[one.entry.cell.key],
                index.condition_name_of[one.entry.cell.condition.key],
                one.entry.cell.data.digest,
                one.files,
                one.entry.n_rows,
                one.entry.n,
                one.entry.top1,
                one.entry.top5,
                one.entry.complete,
            )
            for one in loaded
        )
        data = {digest: replace(one, name=names[digest]) for digest, one in self._data.items()}
        problems = (*index.problems, *self._problems.values())
        return Catalogue(index, self._catalogue.version + 1, held, data, problems)


def _where(cell: Cell) -> str:
    return f"{cell.model_name} on {cell.condition_name}"
