"""A cell: one model on one condition, and the key by which its results are found again."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from oodometer.core.digests import digest_of

FORMAT = 1
"""The version of the store's layout; a store of another version is refused."""


@dataclass(frozen=True)
class Cell:
    """What the store knows about a cell, all of it plain values.

    Args:
        model: `Model.describe()`.
        condition: `Condition.describe()`.
        data: The name of the data set.
        space: The name of the classes that are answered; ``n_classes`` their number.
        n_images: How many images the condition has; fewer rows mean broken images or an unfinished run.
        n_units: How many groups of images are judged as one; None where each image is judged on its own.
        answers: Where images have several labels: the place of each class of the data among the answers, -1 for one
            that does not occur. None elsewhere.
        precision: Of the forward pass.
        known_classes: How many of the best classes are known per image; None: all.
        versions: Of what made the first of its rows; not part of the key, but there when two machines disagree.
    """

    model: dict[str, Any]
    condition: dict[str, Any]
    data: str
    space: str
    n_classes: int
    n_images: int
    precision: str = "float32"
    known_classes: int | None = None
    n_units: int | None = None
    answers: list[int] | None = None
    versions: dict[str, str] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The digest of everything that the predictions depend on, and the names by which they are asked for."""
        return digest_of(
            {
                "format": FORMAT,
                # The classes too: by their names the labels of the data become indices of the model's outputs.
                "model": {part: self.model.get(part) for part in ("name", "digest", "input", "classes")},
                "condition": self.condition,
                "precision": self.precision,
            }
        )

    @property
    def n_rows(self) -> int:
        """How many rows the complete cell has: one for each image, or for each group that is judged as one."""
        return self.n_images if self.n_units is None else self.n_units

    @property
    def model_name(self) -> str:
        """What the user calls the model."""
        return str(self.model["name"])

    @property
    def condition_name(self) -> str:
        """What the user calls the condition."""
        return str(self.condition["name"])

    @property
    def weights(self) -> str:
        """The digest of the model's weights; empty for answers computed elsewhere, whose name alone says whose."""
        return "" if self.model.get("kind") == "predictions" else str(self.model["digest"])
