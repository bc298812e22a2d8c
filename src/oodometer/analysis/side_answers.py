"""The models of a side, two by two, on the images that both saw: read once where all saw the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from oodometer.analysis.common_images import right_on_common
from oodometer.analysis.compare import images_of_both
from oodometer.analysis.compared_sides import ComparedSide
from oodometer.analysis.judged_pair import NO_ANSWERS, PairAnswers, answers_of_pair
from oodometer.analysis.sampled import drawn_apart, first_stopped, pair_drawn_apart
from oodometer.core.errors import StoreError
from oodometer.store.index import Index


@dataclass(frozen=True)
class SameImages:
    """All models of a side on the same images.

    Args:
        place: Of each model.
        right: Whether each is right on each image, or the share of conditions in which it is, (M, N).
        labels: Of these images, (N,).
    """

    place: Mapping[str, int]
    right: np.ndarray
    labels: np.ndarray


@dataclass(frozen=True)
class SideAnswers:
    """Who is right on which image of a side.

    Args:
        same: Where all models saw the same images, and these were not drawn by what was seen.
    """

    index: Index
    side: ComparedSide
    same: SameImages | None

    @classmethod
    def of(cls, index: Index, side: ComparedSide) -> SideAnswers:
        """What a store knows of it."""
        return cls(index, side, _same_images(index, side))

    def pair(self, a: str, b: str) -> PairAnswers:
        """Two models on the images that both saw.

        Raises:
            StoreError: There are none, or not the same under the same ids; or accuracies alone are known.
        """
        if self.same is not None and a in self.same.place and b in self.same.place:
            return PairAnswers(self.same.right[[self.same.place[a], self.same.place[b]]], self.same.labels)
        cells = self.side.cells
        if a not in cells or b not in cells:
            raise StoreError(NO_ANSWERS)
        self.check(a, b)
        return answers_of_pair(self.index, cells[a], cells[b])

    def apart(self, a: str, b: str) -> bool:
        """Whether each condition of the two has images of its own."""
        cells = self.side.cells
        return a in cells and b in cells and pair_drawn_apart(cells[a], cells[b])

    def check(self, a: str, b: str) -> None:
        """An error where the two saw other images under the same ids."""
        for one, other in zip(self.side.cells[a], self.side.cells[b], strict=True):
            if one.data.digest != other.data.digest:
                images_of_both(self.index, one, other)


def _same_images(index: Index, side: ComparedSide) -> SameImages | None:
    cells = [cell for of_model in side.cells.values() for cell in of_model]
    by_member = zip(*side.cells.values(), strict=True)
    if not cells or any(len({cell.data.digest for cell in member}) > 1 for member in by_member):
        return None
    if first_stopped(cells) is not None or drawn_apart(cells):
        return None
    try:
        common = right_on_common(index, cells)
    except StoreError:
        return None
    if common.left_out:
        return None
    n_members = len(cells) // len(side.cells)
    several = [common.values[at : at + n_members] for at in range(0, len(cells), n_members)]
    right = np.stack([values[0] if n_members == 1 else np.mean(values, axis=0) for values in several])
    return SameImages({name: at for at, name in enumerate(side.cells)}, right, common.labels)
