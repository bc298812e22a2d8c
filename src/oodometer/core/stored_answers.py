"""Answers that were computed elsewhere and are only read here."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from oodometer.core.errors import DataError
from oodometer.core.model import Card
from oodometer.core.reading import check_texts


@dataclass(frozen=True)
class StoredAnswers:
    """A model of which only the answers are known.

    Args:
        ids: The images that were answered.
        values: Logits (N, K), or the best classes in order (N, k).
    """

    name: str
    digest: str
    ids: tuple[str, ...]
    values: np.ndarray
    kind: Literal["logits", "classes"]
    card: Card = field(default_factory=Card)

    def __post_init__(self) -> None:
        if self.values.ndim != 2 or len(self.values) != len(self.ids):
            raise DataError(
                f"predictions {self.name}: {len(self.ids)} ids but an array of shape {self.values.shape}; "
                "expected one row per id"
            )
        check_texts((self.name,), "the model")
        check_texts(self.ids, f"predictions {self.name}: the image")
        if len(set(self.ids)) != len(self.ids):
            raise DataError(f"predictions {self.name}: an id occurs twice")

    def rows_for(self, ids: tuple[str, ...]) -> np.ndarray:
        """The row of each id, in the order asked for."""
        if ids == self.ids:
            return np.arange(len(ids))
        places = {one: row for row, one in enumerate(self.ids)}
        missing = [one for one in ids if one not in places]
        if missing:
            raise DataError(
                f"predictions {self.name}: no answer for {len(missing)} of {len(ids)} images, for example "
                f"{missing[0]!r} (the file's first id is {self.ids[0]!r}); are these predictions of these data?"
            )
        return np.array([places[one] for one in ids])
