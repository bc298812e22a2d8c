"""What a model is asked to look at, and the pairs of such that make a shift."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from oodometer.core.attack import Attack
from oodometer.core.dataset import Dataset
from oodometer.core.errors import UsageError
from oodometer.core.labels import LabelMap, LabelSpace
from oodometer.core.preprocessing import Geometry

ShiftKind = Literal[
    "dataset", "consistency", "adversarially filtered", "corruption", "adversarial", "style", "attribute"
]

Measure = Literal["top-1", "map", "none"]

MEASURES: dict[Measure, str] = {"top-1": "accuracy", "map": "mAP", "none": ""}
"""What each is called on an axis."""
"""What a shift is judged by: accuracy, mean average precision over several labels, or nothing (images of no class)."""


@dataclass(frozen=True)
class Transform:
    """A change of the canonical pixels, made once for all models.

    Args:
        parameters: Everything the result depends on, severity and seed included; part of the cell's key.
        apply: (H, W, 3) uint8 and the image's id -> (H, W, 3) uint8; must not change its input.
        view: The canonical pixels on which the transform is defined; None: what each model wants to see.
    """

    name: str
    parameters: Mapping[str, Any]
    apply: Callable[[np.ndarray, str], np.ndarray]
    view: Geometry | None = field(default_factory=lambda: Geometry(224, 224, resize=256))


@dataclass(frozen=True)
class Condition:
    """One column of the grid: a data set, maybe seen through a label map, maybe transformed or under attack.

    Args:
        transform: A change of the pixels that is the same for every model.
        attack: A change of the pixels that each model gets its own of.
        unit: A column of the data: images of one value are judged as one, right only if all of them are. So are the
            frames around an anchor (column ``anchor``).
    """

    name: str
    dataset: Dataset
    label_map: LabelMap | None = None
    transform: Transform | None = None
    attack: Attack | None = None
    unit: str | None = None

    def __post_init__(self) -> None:
        if self.unit is not None and self.unit not in self.dataset.columns:
            raise UsageError(f"condition {self.name}: {self.dataset.name} has no column {self.unit!r}")
        if self.transform is not None and self.attack is not None:
            raise UsageError(f"condition {self.name}: either a transform or an attack, not both")

    @property
    def groups(self) -> dict[str, np.ndarray]:
        """The columns that say which images are judged as one, and under which of them; none without a unit."""
        names = () if self.unit is None else (self.unit, "offset")
        return {name: self.dataset.columns[name] for name in names if name in self.dataset.columns}

    @property
    def space(self) -> LabelSpace:
        """The classes that are answered."""
        return self.label_map.target if self.label_map else self.dataset.space


def clean(dataset: Dataset, *, label_map: LabelMap | None = None) -> Condition:
    """The images as they are."""
    return Condition("clean", dataset, label_map)


@dataclass(frozen=True)
class Family:
    """Which member of a family of corruptions a shift is.

    Args:
        name: Of the family: ``imagenet-c``, ``imagenet-c:disk``, ``cifar-10-c``...
        corruption: ``fog`` for one.
        severity: From 1 to 5; of a perturbation sequence the frame.

    >>> print(Family("imagenet-c", "fog", 3))
    imagenet-c/fog/3
    """

    name: str
    corruption: str
    severity: int

    def __str__(self) -> str:
        return f"{self.name}/{self.corruption}/{self.severity}"


@dataclass(frozen=True)
class Shift:
    """A standard condition and a shifted one over the same classes; robustness is a statement about this pair.

    Args:
        family: Where it is a member of one: corruptions are averaged over their family.
        measure: What it is judged by; ``map`` needs all logits, which a run then keeps without being asked.
    """

    name: str
    kind: ShiftKind
    standard: Condition
    shifted: Condition
    family: Family | None = None
    measure: Measure = "top-1"

    def __post_init__(self) -> None:
        if self.standard.space.classes != self.shifted.space.classes:
            raise UsageError(
                f"shift {self.name}: its two conditions have different classes "
                f"({self.standard.space.name} and {self.shifted.space.name}); map both to the same ones"
            )
