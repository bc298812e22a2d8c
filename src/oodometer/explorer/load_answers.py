"""From the files of cells to blocks of answers by image, and to how many models are right on each image."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from oodometer.core.errors import StoreError
from oodometer.core.model import n_cores
from oodometer.explorer import queries
from oodometer.explorer.by_image import ABSENT, MOST_CELLS, Block, no_answers
from oodometer.explorer.catalogue import Data
from oodometer.store.folder import Entry
from oodometer.store.index import Index

COLUMNS = ("image", "prediction", "rank", "confidence")


@dataclass(frozen=True)
class Loaded:
    """A cell whose answers are read, or are going to be.

    Args:
        number, condition: By which the explorer knows it and what it is about.
    """

    entry: Entry
    number: int
    condition: int
    files: tuple[str, ...]
    data: Data


class Agreement(NamedTuple):
    """How many models were asked about images, and how many of them are right, (N,) each, from a place on.

    Of images that no cell has, both are 0; ``asked`` says which have one.
    """

    first: int
    asked: np.ndarray
    n: np.ndarray
    n_right: np.ndarray


class Read(NamedTuple):
    """A block, whose cells these are; and by key why others could not be read."""

    block: Block
    cells: list[Loaded]
    problems: dict[str, str]


def blocks_of(index: Index, cells: Sequence[Loaded]) -> Iterator[Read]:
    """The answers of cells that come by data set."""

    def answers(loaded: Loaded) -> dict[str, np.ndarray] | str:
        try:
            return index.columns(loaded.entry.cell, *COLUMNS)
        except (StoreError, OSError, ValueError) as error:
            return str(error).splitlines()[0]

    with ThreadPoolExecutor(n_cores()) as threads:
        for data, group in groupby(cells, key=lambda loaded: loaded.data):
            of_data = list(group)
            for start in range(0, len(of_data), MOST_CELLS):
                some = of_data[start : start + MOST_CELLS]
                yield _block(data, some, list(threads.map(answers, some)))


def _block(data: Data, cells: Sequence[Loaded], found: Sequence[dict[str, np.ndarray] | str]) -> Read:
    kept: list[Loaded] = []
    columns: list[dict[str, np.ndarray]] = []
    problems = {}
    for loaded, rows in zip(cells, found, strict=True):
        cell = loaded.entry.cell
        if isinstance(rows, str):
            problems[cell.key] = f"{cell.model_name} on {cell.condition_name}: left out, {rows}"
        elif len(rows["image"]) and int(rows["image"].max()) >= data.n:
            problems[cell.key] = f"{cell.model_name} on {cell.condition_name}: left out, it has rows of no image"
        else:
            kept.append(loaded)
            columns.append(rows)
    answers = no_answers(data.n, len(kept))
    for at, rows in enumerate(columns):
        for name in COLUMNS[1:]:
            answers[name][rows["image"], at] = rows[name]
    return Read(Block(tuple(loaded.number for loaded in kept), data.first, answers), kept, problems)


def counted(first: int, ranks: np.ndarray, sign: int = 1) -> Agreement:
    """Of some cells of one condition, by their ranks, (N, K); with a sign of -1 what they no longer add."""
    asked = (ranks != ABSENT).any(axis=1)
    return Agreement(first, asked, sign * (ranks >= 0).sum(axis=1), sign * (ranks == 0).sum(axis=1))


def insert(database: Any, condition: int, changes: Sequence[Agreement]) -> None:
    """Add what has changed about a condition to the table of agreement, at once."""
    import pyarrow as pa

    first = changes[0].first
    asked = np.logical_or.reduce([change.asked for change in changes])
    places = np.flatnonzero(asked)
    n, n_right = (sum(getattr(change, name) for change in changes)[places] for name in ("n", "n_right"))
    rows = {
        "place": pa.array((first + places).astype(np.uint32)),
        "condition": pa.array(np.full(len(places), condition, dtype=np.uint32)),
        "n": pa.array(n.astype(np.int32)),
        "n_right": pa.array(n_right.astype(np.int32)),
    }
    database.register("changes", pa.table(rows))
    database.execute(queries.ADD_AGREEMENT)
    database.unregister("changes")
