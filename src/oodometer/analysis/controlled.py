"""A model's answers to a sample beside those of a control, which answered all images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from oodometer.core.errors import StoreError
from oodometer.stats.paired import PairedCounts
from oodometer.store.cells import Cell
from oodometer.store.index import Index


@dataclass(frozen=True)
class Controlled:
    """A sample of a model's answers beside a control's.

    Args:
        kinds: Images on which both are right, the control alone errs, the model alone, both, (C, 4).
        of_control: The control's errors on all images, (C,).
    """

    kinds: np.ndarray
    of_control: np.ndarray


def control_cells(index: Index, name: str, cells: Sequence[Cell]) -> list[Cell]:
    """The control's cells on all images of what these are samples of."""
    found = []
    for cell in cells:
        sample = cell.data.sample
        of = sample.of if sample else cell.n_images
        found.append(whole_cell(index, name, cell.condition_name, cell.data.name, of, classes=cell.classes))
    return found


def whole_cell(
    index: Index, name: str, condition: str, data: str, n_images: int, *, classes: tuple[int, str | None] | None = None
) -> Cell:
    """The control's answers to all images of a condition; an error where they are not there.

    Args:
        data: What the data are called.
        classes: Those that the sample's model answers; None: any.
    """
    for cell in index.of_model(name):
        is_whole = cell.data.sample is None and index.is_complete(cell) and classes in (None, cell.classes)
        if is_whole and (cell.condition_name, cell.data.name, cell.n_images) == (condition, data, n_images):
            return cell
    raise StoreError(
        f"{index}: the control {name} has not answered all {n_images} images of {condition}; run it on them first, "
        "without --within"
    )


def controlled(index: Index, cells: Sequence[Cell], controls: Sequence[Cell]) -> Controlled:
    """Each cell beside that of the control."""
    kinds, errors = zip(
        *(_beside(index, cell, control) for cell, control in zip(cells, controls, strict=True)), strict=True
    )
    return Controlled(np.stack(kinds), np.array(errors))


def kinds_beside(index: Index, cell: Cell, other: Cell) -> np.ndarray:
    """How many images of a sample both are right on, the other alone errs on, this one alone, both, (4,)."""
    return _beside(index, cell, other)[0]


def _beside(index: Index, cell: Cell, control: Cell) -> tuple[np.ndarray, float]:
    mine, theirs = index.verdicts([cell, control])
    place = {image: at for at, image in enumerate(index.images(control).ids.tolist())}
    right = np.full(len(place), -1, dtype=np.int8)
    right[theirs.image] = theirs.verdict
    ids = index.images(cell).ids[mine.image]
    at = np.array([place.get(image, -1) for image in ids.tolist()])
    if (at < 0).any():
        raise StoreError(f"{index}: {control.model_name} was asked about other images than {cell.model_name}")
    known = (mine.verdict >= 0) & (right[at] >= 0)
    counts = PairedCounts.of(mine.verdict[known] == 0, right[at][known] == 0)
    kinds = np.array([counts.both, counts.only_a, counts.only_b, counts.neither])
    return kinds, float((theirs.verdict[theirs.verdict >= 0] != 0).mean())
