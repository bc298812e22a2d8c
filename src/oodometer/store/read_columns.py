"""Some columns of the rows of a cell, and of each row whether it is right: less work than all of them."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from oodometer.core.errors import StoreError
from oodometer.core.model import n_cores
from oodometer.core.predictions import UNKNOWN, Predictions
from oodometer.store.cells import Cell
from oodometer.store.checked import Checked, DamagedError
from oodometer.store.files import Signature
from oodometer.store.folder import ROWS, Entry, look_into
from oodometer.store.prediction_parquet import FLOATS, INTEGERS, columns_at, columns_from
from oodometer.store.store import Store

MOST_THREADS = 4
"""Cells that are read together, where there are so many cores: unpacking needs no lock of the interpreter. More threads
than cores wait for that lock in between, and were a fifth slower on two cores."""
MOST_KEPT = 1 << 29
"""Bytes of verdicts that are kept, one for each row: more than 400 models have on 50,000 images under ten shifts."""


@dataclass(frozen=True, eq=False)
class Verdicts:
    """Of the rows of a cell.

    Args:
        image: The position of each image in its data, (N,).
        verdict: 0 where the model is right, 1 where it is wrong, -1 where nobody knows, (N,) int8.
        in_order: Whether the images are the first N; then cells have one array of them.
    """

    image: np.ndarray
    verdict: np.ndarray
    in_order: bool


class ColumnReader:
    """Reads columns of cells.

    A file is checked as a whole when it is first read, or when the index first looked at it; after that, as long as it
    has not changed, only what is wanted of it is read. That the disk gives back what was written, `verify` finds out.
    """

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        """Nothing is read yet; these cells were checked, and are as they were then if their signatures are."""
        self._checked: dict[str, Signature] = {
            entry.rows.path: entry.of_rows for entry in entries if entry.rows and entry.of_rows
        }

    def read(self, store: Store, cell: Cell, names: Sequence[str]) -> dict[str, np.ndarray]:
        """Columns of `Predictions` by name, (N,) each, in the order of the images; of an unfinished cell those done."""
        for _ in range(3):  # another run may be sealing the cell just now
            there = look_into(store.files, cell.key)
            files = [there.of(ROWS)] if there.of(ROWS) else [] if cell.n_units else [part.rows for part in there.ranges]
            with contextlib.suppress(FileNotFoundError):
                if files:
                    parts = [self._of_file(store, some, names) for some in files]
                    return {name: _joined([part[name] for part in parts]) for name in names}
        raise StoreError(f"{store}: no predictions of {cell.model_name} on {cell.condition_name}")

    def _of_file(self, store: Store, files: Sequence[Checked], names: Sequence[str]) -> dict[str, np.ndarray]:
        """Of the first of these files that is whole."""
        path, where = files[0].path, store.files.locate(files[0].path)
        signature = store.files.signature(path)
        try:
            if signature is not None and self._checked.get(path) == signature:
                return columns_at(where, names)
            found = columns_from(store.content(files), names)
        except FileNotFoundError:
            raise
        except (ValueError, KeyError, OSError) as error:  # what pyarrow raises about what it can't read
            raise DamagedError(f"{where}: damaged ({str(error).splitlines()[0]}); run again to replace it") from error
        if signature is not None and len(files) == 1:
            self._checked[path] = signature
        return found

    def read_some(self, store: Store, cell: Cell, names: Collection[str]) -> Predictions:
        """The rows of which only these columns, the images and the ranks are known; others are as nobody knows them."""
        if not {"top5", "logits"}.isdisjoint(names):
            return store.read(cell)
        known = self.read(store, cell, tuple({"image", "rank", *names}))
        n = len(known["image"])
        whole, real = np.broadcast_to(np.int32(UNKNOWN), n), np.broadcast_to(np.float32(np.nan), n)
        others: dict[str, np.ndarray] = dict.fromkeys(INTEGERS, whole) | dict.fromkeys(FLOATS, real)
        return Predictions(**{**others, "top5": np.broadcast_to(np.int32(UNKNOWN), (n, 5)), **known})


def _joined(parts: Sequence[np.ndarray]) -> np.ndarray:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def verdicts_of(store: Store, cells: Sequence[Cell], reader: ColumnReader, kept: dict[str, Verdicts]) -> list[Verdicts]:
    """Those of each cell; ``kept`` has those that were read before, and gets the others unless they are too many."""
    missing = {cell.key: cell for cell in cells if cell.key not in kept}
    if not missing:
        return [kept[cell.key] for cell in cells]
    in_order = {len(verdicts.image): verdicts.image for verdicts in kept.values() if verdicts.in_order}
    with ThreadPoolExecutor(min(MOST_THREADS, n_cores(), len(missing))) as threads:
        read = threads.map(
            lambda cell: _verdicts(reader.read(store, cell, ("image", "rank")), in_order), missing.values()
        )
        new = dict(zip(missing, read, strict=True))
    found = [kept.get(cell.key) or new[cell.key] for cell in cells]
    room = MOST_KEPT - sum(len(verdicts.verdict) for verdicts in kept.values())
    for key, verdicts in new.items():
        room -= len(verdicts.verdict)
        if room >= 0:
            kept[key] = verdicts
    return found


def _verdicts(rows: dict[str, np.ndarray], in_order: dict[int, np.ndarray]) -> Verdicts:
    image, n = rows["image"], len(rows["image"])
    every = in_order.setdefault(n, np.arange(n, dtype=image.dtype))
    same = np.array_equal(image, every)
    return Verdicts(every if same else image, np.sign(rows["rank"]).astype(np.int8), same)
