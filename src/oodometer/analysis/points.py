"""Models as points: accuracy on the clean set (or sets) and under a shift."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from oodometer.analysis.measured_shifts import MeasuredShift
from oodometer.analysis.origins import Origin
from oodometer.core.condition import Measure
from oodometer.core.estimate import Estimate
from oodometer.core.sample import Sample
from oodometer.stats.intervals import equivalent_n
from oodometer.store.cells import Cell

MOST_NAMES = 5
"""More models than these are counted, not named."""


@dataclass(frozen=True)
class Point:
    """One model: its accuracy on each clean set, and under the shift."""

    model: str
    origin: Origin
    x: tuple[Estimate, ...]
    y: Estimate


@dataclass(frozen=True)
class Points:
    """The models that were measured on both sides of a shift; people are none of them.

    Args:
        x: Names of the clean sets.
        y: The name of the shift.
        conditions: What ``y`` is the mean of; one, where it is no family.
        right_x, right_y: Per model and image of the first clean set and of the shift, whether it was right (or the
            share of the conditions in which it was), (M, N), all models on the same images; None where only accuracies
            are known.
        same_images: Whether the columns of both are the same photographs.
        notes: What a reader should know: models and images that were left out.
        cells: Model to its cells on the clean sets and those on ``conditions``; none where only accuracies are known.
        ids_x, ids_y: Of the images of ``right_x`` and ``right_y``.
        measure: What is called accuracy here.
        stopped_x, stopped_y: The samples whose first images the columns of ``right_x`` and ``right_y`` are, where how
            many there are depends on what was seen: then only confidence sequences are valid.
        apart: Where every condition has images of its own, whether each model was right on those of each condition,
            (M, n) each; there is no ``right_y`` then, and an accuracy is known better than its n says.
    """

    x: tuple[str, ...]
    y: str
    conditions: tuple[str, ...]
    models: tuple[Point, ...]
    right_x: np.ndarray | None = None
    right_y: np.ndarray | None = None
    same_images: bool = False
    notes: tuple[str, ...] = ()
    cells: Mapping[str, tuple[tuple[Cell, ...], tuple[Cell, ...]]] = field(default_factory=dict)
    ids_x: np.ndarray | None = None
    ids_y: np.ndarray | None = None
    measure: Measure = "top-1"
    stopped_x: Sample | None = None
    stopped_y: Sample | None = None
    apart: tuple[np.ndarray, ...] = ()

    @property
    def drops_at_one_level(self) -> bool:
        """Whether drops are told from the intervals of the accuracies, so that theirs can have no other level."""
        return self.measure == "map" or bool(self.apart)

    def n_behind(self, accuracy: Estimate, level: float) -> int | None:
        """How many images tell it, as if it were a share, where its own number says nothing of how sure it is."""
        by_count = self.measure == "top-1" and not self.apart
        return accuracy.n if by_count else equivalent_n(accuracy, level)


def side_names(shift: MeasuredShift) -> tuple[tuple[str, ...], str, tuple[str, ...]]:
    """The names of the clean sets, of the shift, and of the conditions that it is the mean of."""
    return tuple(side.name for side in shift.standards), shift.name, tuple(side.name for side in shift.members)


def named(models: Sequence[str]) -> str:
    """The models by name where they are few, else their number.

    >>> named(["a", "b"]), named(list("abcdef"))
    ('a, b', '6 models')
    """
    return ", ".join(models) if len(models) <= MOST_NAMES else f"{len(models)} models"
