"""Another model's answers to all images, by which answers to a few of them say more.

Where two models mostly err on the same images, the difference of their errors on a sample is known better than either
error. So the error on all images is estimated as the control's on all of them plus that difference: the difference
estimator of survey sampling (Cochran, Sampling Techniques, 1977, chapter 7), with its variance smaller by 1 − r² for
errors that are as frequent.
"""

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
        counts: Who was right on the images of the sample: A is the model, B the control.
        control_error: The control's error on all images.
    """

    counts: PairedCounts
    control_error: float

    @property
    def error(self) -> float:
        """The model's error on all images, estimated."""
        return self.control_error + (self.counts.only_b - self.counts.only_a) / self.counts.n


def control_cells(index: Index, name: str, cells: Sequence[Cell]) -> list[Cell]:
    """The control's cells on all images of what these are samples of."""
    of_control = [cell for cell in index.of_model(name) if cell.data.sample is None and index.is_complete(cell)]
    found = []
    for cell in cells:
        sample = cell.data.sample
        wanted = cell.condition_name, cell.data.name, cell.data.part, sample.of if sample else cell.n_images
        whole = [
            one
            for one in of_control
            if (one.condition_name, one.data.name, one.data.part, one.n_images) == wanted
            and one.classes == cell.classes
        ]
        if len(whole) != 1:
            raise StoreError(
                f"{index}: the control {name} has not answered all {wanted[3]} images of {cell.condition_name}; run it "
                "on them first, without --within"
            )
        found.append(whole[0])
    return found


def controlled(index: Index, cells: Sequence[Cell], controls: Sequence[Cell]) -> list[Controlled]:
    """Each cell beside that of the control."""
    return [_controlled(index, cell, control) for cell, control in zip(cells, controls, strict=True)]


def residual_variances(index: Index, cells: Sequence[Cell], controls: Sequence[Cell]) -> np.ndarray:
    """The variance of what an image's two answers differ by, of each condition, (K,)."""
    both = [one.counts for one in controlled(index, cells, controls)]
    share = np.array([(counts.only_a + counts.only_b) / counts.n for counts in both])
    mean = np.array([(counts.only_b - counts.only_a) / counts.n for counts in both])
    return np.asarray(share - mean**2)


def _controlled(index: Index, cell: Cell, control: Cell) -> Controlled:
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
    return Controlled(counts, float((theirs.verdict[theirs.verdict >= 0] != 0).mean()))
