"""A cell: one model on one condition, and the key by which its results are found again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from typing import Any

from oodometer.core.digests import digest_of
from oodometer.core.records import ConditionRecord, DataRef, ModelRecord, read_condition, read_model

FORMAT = 3
"""The version of the store's layout; a store of another version is refused. docs/explanation-store.md says what
raises it, and who converts."""


@dataclass(frozen=True)
class Cell:
    """One model on one condition.

    Args:
        space: The name of the classes that are answered; ``n_classes`` their number.
        n_images: How many images the condition has; fewer rows mean broken images or an unfinished run.
        precision: Of the forward pass.
        known_classes: How many of the best classes are known per image; None: all.
        n_units: How many groups of images are judged as one; None where each image is judged on its own.
        answers: Where images have several labels: the place of each class of the data among the answers, -1 for one
            that does not occur. None elsewhere.
        versions: Of what made the first of its rows; not part of the key, but there when two machines disagree.
    """

    model: ModelRecord
    condition: ConditionRecord
    space: str
    n_classes: int
    n_images: int
    precision: str = "float32"
    known_classes: int | None = None
    n_units: int | None = None
    answers: tuple[int, ...] | None = None
    versions: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def key(self) -> str:
        """The digest of everything that the predictions depend on, and the names by which they are asked for."""
        identity = {
            "format": FORMAT,
            "model": self.model.identity,
            "condition": self.condition.key,
            "precision": self.precision,
        }
        return digest_of(identity if self.data.sample is None else {**identity, "data": self.data.digest})

    @property
    def data(self) -> DataRef:
        """Which images."""
        return self.condition.data

    @property
    def n_rows(self) -> int:
        """How many rows the complete cell has: one for each image, or for each group that is judged as one."""
        return self.n_images if self.n_units is None else self.n_units

    @property
    def model_name(self) -> str:
        """What the user calls the model."""
        return self.model.name

    @property
    def condition_name(self) -> str:
        """What the user calls the condition."""
        return self.condition.name

    @property
    def classes(self) -> tuple[int, str | None]:
        """What says over which classes it is answered: a softmax over others can't be compared."""
        return self.n_classes, self.condition.label_map


def cell_as_json(cell: Cell) -> dict[str, Any]:
    """The cell as plain values."""
    return asdict(cell)


def read_cell(value: Any) -> Cell:
    """The cell that `cell_as_json` told of; a `ValueError` or `TypeError` where it is none."""
    names = {one.name for one in fields(Cell)}
    if not isinstance(value, Mapping) or set(value) != names:
        raise ValueError("not a cell")
    answers = value["answers"]
    return Cell(
        **{
            **value,
            "model": read_model(value["model"]),
            "condition": read_condition(value["condition"]),
            "answers": None if answers is None else tuple(answers),
        }
    )
