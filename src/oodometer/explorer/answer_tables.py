"""The predictions of a store by image, kept up with what a run adds: the store's index tells what there is.

What is in the store is known at once. The answers of many cells are read in the background; how far that is, is told
by `AnswerTables.progress`. Images, and how many models are right on each, are in a database of DuckDB that lives as
long as the explorer, of which each thread has a cursor of its own; answers by image are in a file of blocks.
"""

from __future__ import annotations

import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from oodometer.analysis.class_names import data_names
from oodometer.core.errors import StoreError
from oodometer.explorer import queries
from oodometer.explorer.by_image import ByImage, Said
from oodometer.explorer.catalogue import Catalogue, Data, Held, names_of_data, own_classes
from oodometer.explorer.load_answers import Agreement, Loaded, blocks_of, counted, insert
from oodometer.explorer.progress import Progress
from oodometer.store.cells import Cell
from oodometer.store.folder import Entry
from oodometer.store.images import read_images
from oodometer.store.index import Index, look
from oodometer.store.queries import literal
from oodometer.store.store import Store

SECONDS_BETWEEN_LOOKS = 1.0
LOOKING_SHARE = 0.05
"""At most this share of the time is spent on looking for what is new."""
AT_ONCE = 1_000_000
"""Rows that are read while one waits; more are read in the background."""
DATABASE_MEMORY = "512MB"
"""Beyond this DuckDB lets go of what is on disk: pages ask about a cell or two at a time."""


class AnswerTables:
    """The predictions of a store, by image."""

    def __init__(self, store: Store) -> None:
        import duckdb

        self.store = store
        self._folder = tempfile.TemporaryDirectory(prefix="oodometer-")
        self._database = duckdb.connect(str(Path(self._folder.name) / "index.duckdb"))
        self._database.execute(f"SET memory_limit = '{DATABASE_MEMORY}'")
        if not store.files.is_local:
            self._database.register_filesystem(store.files.filesystem())
        self._database.execute(queries.TABLES)
        self._by_image = ByImage(Path(self._folder.name) / "answers")
        self._local = threading.local()
        self._lock = threading.Lock()
        self._opening = threading.Lock()
        self._loader: threading.Thread | None = None
        self._closed = False
        self._progress: Progress | None = None
        self._loaded: dict[str, Loaded] = {}
        self._data: dict[str, Data] = {}
        self._conditions: dict[str, int] = {}
        self._problems: dict[str, str] = {}
        self._numbers = 0
        self._next_look = 0.0
        self._catalogue = Catalogue(Index(store, ()), 0, (), {})

    def close(self) -> None:
        """Forget everything."""
        self._closed = True
        with self._lock:  # a look that has begun is ended first
            self.wait()
        with self._opening:  # a connection refuses to close while another thread opens a cursor
            self._database.close()
        self._by_image.close()
        self._folder.cleanup()

    def ask(self, sql: str, **values: Any) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        import duckdb

        try:
            rows: list[tuple[Any, ...]] = self._cursor().execute(sql, values).fetchall()
            return rows
        except duckdb.Error as error:
            raise self._unreadable(error) from error

    def ask_columns(self, sql: str, **values: Any) -> dict[str, np.ndarray]:
        """The columns of a query that gives numbers, none of them missing."""
        import duckdb

        try:
            columns: dict[str, np.ndarray] = self._cursor().execute(sql, values).fetchnumpy()
            return {name: np.asarray(column) for name, column in columns.items()}
        except duckdb.Error as error:
            raise self._unreadable(error) from error

    def _unreadable(self, error: Exception) -> StoreError:
        return StoreError(f"{self.store}: can't be read ({str(error).splitlines()[0]}); reload the page")

    def _cursor(self) -> Any:
        """A connection of the thread's own: one refuses what a second thread asks meanwhile."""
        cursor = getattr(self._local, "cursor", None)
        if cursor is None:
            with self._opening:
                cursor = self._local.cursor = self._database.cursor()
        return cursor

    def ask_named(self, sql: str, **values: Any) -> list[dict[str, Any]]:
        """The same with the names of the columns."""
        rows = self.ask(sql, **values)
        names = [column[0] for column in self._local.cursor.description]
        return [dict(zip(names, row, strict=True)) for row in rows]

    def about(self, place: int) -> list[Said]:
        """Every answer to an image by its place, of those that are read."""
        return self._by_image.about(place)

    def progress(self) -> Progress | None:
        """How far the reading in the background is; None where there is nothing to read."""
        return self._progress

    def wait(self) -> None:
        """Until everything is read."""
        if self._loader is not None:
            self._loader.join()

    def catalogue(self) -> Catalogue:
        """What is in the store now, or was a moment ago."""
        if time.monotonic() >= self._next_look and self._lock.acquire(blocking=self._catalogue.version == 0):
            try:
                begun = time.monotonic()
                if self._progress is None and not self._closed:  # what is being read is finished first
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
        found = {
            key: entry
            for key, entry in there.items()
            if key not in self._loaded or self._files(entry) != self._loaded[key].files
        }
        before = self._catalogue
        same = (index.problems, index.shifts, index.tables) == (
            before.index.problems, before.index.shifts, before.index.tables
        )  # fmt: skip
        if not gone and not found and same and before.version:
            return
        old = [self._loaded.pop(key) for key in (*gone, *found) if key in self._loaded]
        new = [self._begun(entry) for key, entry in found.items() if self._has_images(key, entry.cell)]
        self._loaded |= {loaded.entry.cell.key: loaded for loaded in new}
        if sum(loaded.entry.n_rows for loaded in new) <= AT_ONCE:
            self._load(index, new, old)
            self._catalogue = self._described(index)
            self._by_image.change((), [loaded.number for loaded in old])
            return
        self._progress = Progress("cells read", 0, len(new), time.monotonic())
        self._catalogue = self._described(index)
        self._loader = threading.Thread(target=self._load_behind, args=(index, new, old), daemon=True)
        self._loader.start()

    def _files(self, entry: Entry) -> tuple[str, ...]:
        return tuple(self.store.files.locate(name.path) for name in entry.files)

    def _begun(self, entry: Entry) -> Loaded:
        condition = self._conditions.setdefault(entry.cell.condition.key, len(self._conditions))
        self._numbers += 1
        return Loaded(entry, self._numbers, condition, self._files(entry), self._data[entry.cell.data.digest])

    # Answers

    def _load_behind(self, index: Index, new: Sequence[Loaded], old: Sequence[Loaded]) -> None:
        try:
            self._load(index, new, old)
            self._by_image.change((), [loaded.number for loaded in old])
            if any(loaded.entry.cell.key not in self._loaded for loaded in new):
                self._catalogue = self._described(index)
        finally:
            self._progress = None

    def _load(self, index: Index, new: Sequence[Loaded], old: Sequence[Loaded]) -> None:
        """Read the new cells, and take the old ones out of the counts; a cell that can't be read is told, and left out.

        How many models are right is counted for a condition as soon as all of its cells are read.
        """
        changed: dict[int, list[Agreement]] = {}
        for loaded in old:
            first, ranks = self._by_image.ranks(loaded.number)
            changed.setdefault(loaded.condition, []).append(counted(first, ranks[:, None], -1))
        waiting = Counter(loaded.condition for loaded in new)
        for block, cells, problems in blocks_of(index, _in_order(new)):
            if self._closed:
                return
            self._problems |= problems
            failed = [self._loaded.pop(key) for key in problems]
            for loaded in cells:
                self._problems.pop(loaded.entry.cell.key, None)
            self._by_image.change([block], ())
            for condition in {loaded.condition for loaded in cells}:
                places = [at for at, loaded in enumerate(cells) if loaded.condition == condition]
                changed.setdefault(condition, []).append(counted(block.first, block.answers["rank"][:, places]))
            waiting.subtract(loaded.condition for loaded in (*cells, *failed))
            for condition in [known for known in changed if not waiting[known]]:
                insert(self._cursor(), condition, changed.pop(condition))
            if self._progress:
                self._progress = self._progress.further(len(cells) + len(failed))
        for condition, counts in changed.items():
            insert(self._cursor(), condition, counts)

    # Images

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
        first, number = sum(data.n for data in self._data.values()), len(self._data)
        self._cursor().execute(
            queries.LOAD_IMAGES, {"first": first, "data": number, "files": literal([self.store.images_file(digest)])}
        )
        classes = own_classes(data_names(images.space, cell.space))
        self._data[digest] = Data(
            digest, number, cell.data.title, first, len(images.ids), classes, bool(images.columns)
        )

    def _described(self, index: Index) -> Catalogue:
        loaded = [self._loaded[entry.cell.key] for entry in index.entries if entry.cell.key in self._loaded]
        names = names_of_data({data.digest: data.name for data in self._data.values()})
        data = {digest: replace(known, name=names[digest]) for digest, known in self._data.items()}
        problems = (*index.problems, *self._problems.values())
        return Catalogue(index, self._catalogue.version + 1, tuple(_held(index, loaded)), data, problems)


def _in_order(cells: Sequence[Loaded]) -> list[Loaded]:
    """By data set and condition, so that a condition is done before the next begins."""
    return sorted(cells, key=lambda loaded: (loaded.data.number, loaded.condition, loaded.number))


def _held(index: Index, loaded: Sequence[Loaded]) -> Iterator[Held]:
    for one in loaded:
        entry = one.entry
        yield Held(
            one.number,
            one.condition,
            entry.cell,
            index.model_name_of[entry.cell.key],
            index.condition_name_of[entry.cell.condition.key],
            entry.cell.data.digest,
            one.files,
            entry.n_rows,
            entry.n,
            entry.top1,
            entry.top5,
            entry.complete,
        )


def _where(cell: Cell) -> str:
    return f"{cell.model_name} on {cell.condition_name}"
