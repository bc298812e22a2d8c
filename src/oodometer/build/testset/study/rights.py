"""Which images of a set each model of a store gets right, and the accuracies that follow."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from oodometer.build.testset.stored_answers import rows_about
from oodometer.build.testset.study.image_sets import ImageSet
from oodometer.core.estimate import Estimate
from oodometer.stats.intervals import mean_of, share_of
from oodometer.store.index import Source, index_at

UNASKED = -1


@dataclass(frozen=True, eq=False)
class Rights:
    """What models get right of a set.

    Args:
        right: By model, 1, 0, or -1 where it was not asked or nobody knows, (N,) int8.
        answered: By model what says over which classes it answered: others can't be compared.
    """

    right: Mapping[str, np.ndarray]
    answered: Mapping[str, object]

    @property
    def models(self) -> tuple[str, ...]:
        """Their names, in order."""
        return tuple(self.right)

    def only(self, models: Collection[str]) -> Rights:
        """Of these models, as far as they are there; of all, where none is named."""
        return Rights({one: right for one, right in self.right.items() if not models or one in models}, self.answered)

    def accuracy(self, model: str, rows: np.ndarray | None = None, *, level: float = 0.95) -> Estimate | None:
        """Of all images, or of these, (N,) bool; None where the model was asked about none of them."""
        right = self.right[model] if rows is None else self.right[model][rows]
        known = right[right != UNASKED]
        return share_of(int(known.sum()), len(known), level=level) if len(known) else None

    def share_right(self) -> np.ndarray:
        """Of each image the share of models that get it right, of those that were asked, (N,); NaN without any."""
        every = np.stack(list(self.right.values())).astype(float)
        every[every == UNASKED] = np.nan
        n = (~np.isnan(every)).sum(axis=0)
        return np.asarray(np.where(n > 0, np.nansum(every, axis=0) / np.maximum(n, 1), np.nan))

    def mean_accuracy(self, rows: np.ndarray | None = None, *, level: float = 0.95) -> Estimate | None:
        """Of the models, over the images that all were asked about; None without any.

        The interval is Student's over images: it is about other images, for these models.
        """
        if not self.right:
            return None
        every = np.stack(list(self.right.values()))
        every = every if rows is None else every[:, rows]
        whole = every[:, (every != UNASKED).all(axis=0)]
        return mean_of(whole.mean(axis=0), level=level, bounds=(0.0, 1.0)) if whole.shape[1] else None


def rights_about(source: Source, images: ImageSet) -> Rights:
    """What every model of a store gets right of these images; of none, where none was asked."""
    index = index_at(source)
    right: dict[str, np.ndarray] = {}
    answered: dict[str, object] = {}
    for one in rows_about(index, images.ids, data=images.data):
        values = np.full(len(images), UNASKED, dtype=np.int8)
        values[one.at] = np.where(one.rows.rank < 0, UNASKED, one.rows.rank == 0)
        if (values != UNASKED).any():
            right[one.model], answered[one.model] = values, one.cell.classes
    return Rights(right, answered)
