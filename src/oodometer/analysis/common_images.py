"""Several cells on the images that all of them have."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from oodometer.analysis.intervals import FEWEST_GROUPS, few_groups
from oodometer.analysis.sampled import stopped
from oodometer.core.errors import OodometerError, StoreError
from oodometer.core.labels import NUMBERS, LabelSpace
from oodometer.core.predictions import Predictions
from oodometer.store.cells import Cell
from oodometer.store.images import Images
from oodometer.store.index import Index
from oodometer.store.worst_frame import standing


@dataclass(frozen=True)
class Joined:
    """Cells on their common images.

    Args:
        ids: Of the common images, (N,).
        labels: Of the common images as the first cell has them, (N,).
        values: What was asked of each cell, each with the common images first: (N, ...).
        left_out: Images of the data that some cell has no row of.
        rows: Which of the rows of each cell these images are, (N,) each.
    """

    ids: np.ndarray
    labels: np.ndarray
    values: tuple[np.ndarray, ...]
    left_out: int
    rows: tuple[np.ndarray, ...]

    def __len__(self) -> int:
        return len(self.ids)


def joined(
    index: Index,
    cells: Sequence[Cell],
    ask: Callable[[Predictions], np.ndarray],
    *,
    labelled: bool = True,
    columns: Collection[str] | None = None,
) -> Joined:
    """What ``ask`` gives of each cell, on the images that all cells have, in the order of the first.

    Images are the same where their ids are; an id that is of another class in another data set is an error.

    Args:
        labelled: Only images with a label count.
        columns: What ``ask`` needs besides the ranks; None: all that there are.
    """
    found: list[_Asked] = []
    labels = np.array([], dtype=np.int64)
    for cell in cells:
        rows = index.read(cell) if columns is None else index.read_some(cell, {"label", *columns})
        kept = rows.rank >= 0 if labelled else np.ones(len(rows), dtype=bool)
        labels = labels if found else rows.label[kept]
        found.append(_Asked(rows.image, kept, np.asarray(ask(rows))))
    return _on_common(index, cells, found, labels, "labelled image" if labelled else "image")


def right_on_common(index: Index, cells: Sequence[Cell]) -> Joined:
    """Whether each cell is right, on the labelled images that all cells have: as `joined`, and quicker.

    Images come in the order of the first cell; where some were stopped when sure, in that in which they were drawn.
    """
    lead = next((at for at, cell in enumerate(cells) if stopped(cell) is not None), 0)
    if lead:
        found = right_on_common(index, [cells[lead], *cells[:lead], *cells[lead + 1 :]])
        turned = [*range(1, lead + 1), 0, *range(lead + 1, len(cells))]
        return replace(
            found,
            values=tuple(found.values[at] for at in turned),
            rows=tuple(found.rows[at] for at in turned),
        )
    return _right_in_order_of_first(index, cells)


def _right_in_order_of_first(index: Index, cells: Sequence[Cell]) -> Joined:
    found = [_Asked(verdicts.image, verdicts.verdict >= 0, verdicts.verdict == 0) for verdicts in index.verdicts(cells)]
    labels = index.columns(cells[0], "label")["label"][found[0].kept]
    if len({cell.data.digest for cell in cells}) == 1 and _all_alike(cells, found):
        ids, rows = index.images(cells[0]).ids, np.arange(len(labels))
        left_out = len(ids) - len(rows)
        some = ids[found[0].image] if left_out else ids
        return Joined(some, labels, tuple(asked.values for asked in found), left_out, (rows,) * len(cells))
    return _on_common(index, cells, found, labels, "labelled image")


class _Asked(NamedTuple):
    """Of the rows of a cell their images, which of them count, and what was asked."""

    image: np.ndarray
    kept: np.ndarray
    values: np.ndarray


def _all_alike(cells: Sequence[Cell], found: Sequence[_Asked]) -> bool:
    """Whether all cells of one data set have the same images in the same order, and every row counts."""
    alike = all(asked.image is found[0].image and asked.kept.all() for asked in found)
    return alike and len(found[0].image) > 0 and all(cell.n_units is None for cell in cells)


def _on_common(index: Index, cells: Sequence[Cell], asked: Sequence[_Asked], labels: np.ndarray, what: str) -> Joined:
    """The answers on the images that count in all cells, in the order of the first, whose labels these are."""
    numbers = _Numbers(index)
    rows_of = [numbers.of(cell)[of_cell.image] for cell, of_cell in zip(cells, asked, strict=True)]
    found = [(images[of.kept], of.values[of.kept]) for images, of in zip(rows_of, asked, strict=True)]
    # In the order of the first cell, wherever the others have them.
    in_all = numbers.in_all([images for images, _ in found])
    common = found[0][0][in_all[found[0][0]]]
    if len(common) == 0:
        names = ", ".join(sorted({cell.condition_name for cell in cells})[:3])
        raise StoreError(f"{index}: no {what} in common between the cells of {cells[0].model_name} ({names})")
    return Joined(
        ids=numbers.ids[common],
        labels=labels[numbers.places(found[0][0])[common]],
        values=tuple(values[numbers.places(images)[common]] for images, values in found),
        left_out=numbers.n_expected(cells) - int(numbers.in_all(rows_of).sum()),
        rows=tuple(numbers.places(images)[common] for images in rows_of),
    )


def clusters_of(images: Images, rows: Predictions, by: str) -> np.ndarray:
    """The group of each row: its class, or what a column of the data says."""
    return rows.label if by == "class" else np.asarray(_column(images, by)[rows.image])


def clusters_by(index: Index, cell: Cell, common: Joined, by: str | None) -> np.ndarray | None:
    """The group of each common image, as the data of the first cell have them; None where none are asked for."""
    if by is None:
        return None
    if by == "class":
        if (common.labels < 0).any():
            raise OodometerError(f"{int((common.labels < 0).sum())} images have no label to group them by class")
        return common.labels
    return groups_of(index, cell, common.ids, by)


def groups_of(index: Index, cell: Cell, ids: np.ndarray, by: str) -> np.ndarray:
    """The group of each of these images: its class, or what a column of the cell's data says."""
    images = index.images(cell)
    values = images.labels if by == "class" else _column(images, by)
    groups = dict(zip(images.ids.tolist(), values.tolist(), strict=True))
    return np.array([groups[image] for image in ids])


def few_groups_in(index: Index, cells: Sequence[Cell], by: str | None) -> list[str]:
    """A warning for each data set that has too few groups to resample."""
    if by is None:
        return []
    data = {cell.data.digest: cell for cell in cells}
    return [
        line for cell in data.values() for line in few_groups(_n_groups(index.images(cell), by), by, str(cell.data))
    ]


def _n_groups(images: Images, by: str) -> int:
    """How many groups there are; where the data lack the column, nothing is resampled by it."""
    if by != "class":
        return len(np.unique(images.columns[by])) if by in images.columns else FEWEST_GROUPS
    return len(np.unique(images.labels[images.labels >= 0]))


def _column(images: Images, by: str) -> np.ndarray:
    if by not in images.columns:
        known = ", ".join(["class", *sorted(images.columns)])
        raise StoreError(f"these data have no column {by!r} to group the images by; known: {known}")
    return images.columns[by]


class _Numbers:
    """A number for each image id, the same in all data sets: of the first, its position."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._of: dict[str, np.ndarray] = {}
        self._first: tuple[Cell, Images] | None = None

    def of(self, cell: Cell) -> np.ndarray:
        """The number of each image of the cell's data set, by position."""
        digest = cell.data.digest
        if digest not in self._of:
            images = self._index.images(cell)
            if self._first is None:
                self._first = cell, images
                self._of[digest] = np.arange(len(images.ids))
            else:
                numbers = np.array([self._number.setdefault(one, len(self._number)) for one in images.ids.tolist()])
                self._check_labels(cell, images, numbers)
                self._of[digest] = numbers
        return self._of[digest]

    @cached_property
    def _number(self) -> dict[str, int]:
        """By id; of one data set alone nobody asks for it."""
        assert self._first is not None
        return {image: number for number, image in enumerate(self._first[1].ids.tolist())}

    def __len__(self) -> int:
        if len(self._of) > 1:
            return len(self._number)
        return len(self._first[1].ids) if self._first else 0

    def in_all(self, cells: Sequence[np.ndarray]) -> np.ndarray:
        """Which numbers are among those of every cell, each of which has none twice, (numbers,) bool."""
        times = np.zeros(len(self), dtype=np.int64)
        for images in cells:
            times[images] += 1
        return np.asarray(times == len(cells))

    def places(self, images: np.ndarray) -> np.ndarray:
        """Where each number is among these, (numbers,); anything for those that are not."""
        found = np.zeros(len(self), dtype=np.int64)
        found[images] = np.arange(len(images))
        return found

    def n_expected(self, cells: Sequence[Cell]) -> int:
        """How many images there are of which some cell should have a row."""
        wanted = np.zeros(len(self), dtype=bool)
        for cell in cells:
            wanted[self._expected(cell)] = True
        return int(wanted.sum())

    def _expected(self, cell: Cell) -> np.ndarray:
        of_cell = self.of(cell)
        return of_cell if cell.n_units is None else of_cell[standing(*self._index.store.groups_of(cell))]

    @property
    def ids(self) -> np.ndarray:
        """The id of each number."""
        if len(self._of) == 1 and self._first is not None:
            return np.asarray(self._first[1].ids, dtype=object)
        return np.array(list(self._number), dtype=object)

    def _check_labels(self, cell: Cell, images: Images, numbers: np.ndarray) -> None:
        """An error where an image of these data has another class than in the first."""
        assert self._first is not None
        first, of_first = self._first
        here = np.flatnonzero(numbers < len(of_first.ids))
        there = numbers[here]
        mine, theirs = _comparable(images, of_first)
        other = (mine[here] != theirs[there]) & (images.labels[here] >= 0) & (of_first.labels[there] >= 0)
        if other.any():
            one = images.ids[here[np.flatnonzero(other)[0]]]
            raise StoreError(
                f"{one!r} has another label in {cell.data.title} than in {first.data.title}: not the same images"
            )


def _comparable(a: Images, b: Images) -> tuple[np.ndarray, np.ndarray]:
    """The labels of both as numbers that mean the same: by the names of the classes where both have names."""
    if (a.space.name == NUMBERS) != (b.space.name == NUMBERS) or a.space == b.space:
        return a.labels, b.labels
    codes: dict[str, int] = {}

    def coded(labels: np.ndarray, space: LabelSpace) -> np.ndarray:
        table = np.array([codes.setdefault(name, len(codes)) for name in space.classes])
        return table[labels] if len(table) else labels

    return coded(a.labels, a.space), coded(b.labels, b.space)
