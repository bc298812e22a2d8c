"""Several cells on the images that all of them have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from oodometer.core.errors import StoreError
from oodometer.core.predictions import Predictions
from oodometer.store.cells import Cell
from oodometer.store.images import Images, images_of
from oodometer.store.store import Store


@dataclass(frozen=True)
class Joined:
    """Cells on their common images.

    Args:
        ids: Of the common images, (N,).
        labels: Of the common images as the first cell has them, (N,).
        values: What was asked of each cell, each with the common images first: (N, ...).
        left_out: Images that some cell has and another does not.
    """

    ids: np.ndarray
    labels: np.ndarray
    values: tuple[np.ndarray, ...]
    left_out: int

    def __len__(self) -> int:
        return len(self.ids)


def joined(
    store: Store, cells: Sequence[Cell], ask: Callable[[Predictions], np.ndarray], *, labelled: bool = True
) -> Joined:
    """What ``ask`` gives of each cell, on the images that all cells have, in the order of the first.

    Cells of one data set are joined by position; of several, by the ids of the images.

    Args:
        labelled: Only images with a label count.
    """
    numbers = _Numbers(store)
    found: list[tuple[np.ndarray, np.ndarray]] = []
    labels = np.array([], dtype=np.int64)
    for cell in cells:
        rows = store.read(cell)
        kept = rows.rank >= 0 if labelled else np.ones(len(rows), dtype=bool)
        order = np.flatnonzero(kept)
        found.append((numbers.of(cell)[rows.image[order]], np.asarray(ask(rows))[order]))
        if len(found) == 1:
            labels = rows.label[order]
    common = reduce(np.intersect1d, [images for images, _ in found])
    if len(common) == 0:
        names = ", ".join(sorted({cell.condition_name for cell in cells})[:3])
        raise StoreError(f"{store}: no labelled image in common between the cells of {cells[0].model_name} ({names})")
    # Images in the order of the first cell, wherever the others have them.
    common = found[0][0][np.isin(found[0][0], common)]
    values = tuple(values[_places(images, common)] for images, values in found)
    everything = reduce(np.union1d, [images for images, _ in found])
    return Joined(
        ids=numbers.ids[common],
        labels=labels[_places(found[0][0], common)],
        values=values,
        left_out=len(everything) - len(common),
    )


def clusters_of(images: Images, rows: Predictions, by: str) -> np.ndarray:
    """The group of each row: its class, or what a column of the data says."""
    return rows.label if by == "class" else np.asarray(_column(images, by)[rows.image])


def clusters_by(store: Store, cell: Cell, common: Joined, by: str | None) -> np.ndarray | None:
    """The group of each common image, as the data of the first cell have them; None where none are asked for."""
    if by is None or by == "class":
        return common.labels if by else None
    images = images_of(store, cell)
    groups = dict(zip(images.ids.tolist(), _column(images, by).tolist(), strict=True))
    return np.array([groups[one] for one in common.ids])


def _column(images: Images, by: str) -> np.ndarray:
    if by not in images.columns:
        known = ", ".join(["class", *sorted(images.columns)])
        raise StoreError(f"these data have no column {by!r} to group the images by; known: {known}")
    return images.columns[by]


class _Numbers:
    """A number for each image id, the same in all data sets."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._number: dict[str, int] = {}
        self._of: dict[str, np.ndarray] = {}

    def of(self, cell: Cell) -> np.ndarray:
        """The number of each image of the cell's data set, by position."""
        digest = str(cell.condition["data"])
        if digest not in self._of:
            ids = images_of(self.store, cell).ids
            self._of[digest] = np.array([self._number.setdefault(one, len(self._number)) for one in ids])
        return self._of[digest]

    @property
    def ids(self) -> np.ndarray:
        """The id of each number."""
        return np.array(list(self._number), dtype=object)


def _places(images: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Where each wanted image is."""
    order = np.argsort(images)
    return np.asarray(order[np.searchsorted(images, wanted, sorter=order)])
