"""The true classes of images that are not here."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from oodometer.core.errors import DataError
from oodometer.core.labels import LabelSpace


@dataclass(frozen=True)
class TrueLabels:
    """The true class of each image.

    Args:
        values: (N,) of whole numbers; -1 where there is none.
        ids: The images they belong to; None: those of the answers, one after the other.
        classes: What the numbers stand for, where that is known.
    """

    values: np.ndarray
    ids: tuple[str, ...] | None = None
    classes: LabelSpace | None = None

    def __post_init__(self) -> None:
        if self.values.ndim != 1 or not np.issubdtype(self.values.dtype, np.integer) or len(self.values) == 0:
            raise DataError(f"labels must be whole numbers, one per image, not {self._shape()}")
        if self.ids is not None and len(self.ids) != len(self.values):
            raise DataError(f"{len(self.values)} labels but {len(self.ids)} ids")
        if self.ids is not None and len(set(self.ids)) != len(self.ids):
            seen: set[str] = set()
            twice = next(name for name in self.ids if name in seen or seen.add(name))  # type: ignore[func-returns-value]
            raise DataError(f"labels: the image {twice!r} is there twice")

    def _shape(self) -> str:
        return f"{self.values.dtype} of shape {self.values.shape}"

    def __len__(self) -> int:
        return len(self.values)
