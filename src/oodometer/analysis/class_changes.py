"""What a shift does to each class: its accuracy on both sides, and the change between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from oodometer.analysis.asked_shifts import asked_shift
from oodometer.analysis.class_names import answer_names, name_in
from oodometer.analysis.common_images import joined
from oodometer.analysis.measured_shifts import MeasuredShift, same_photographs
from oodometer.analysis.model_cells import cells_under
from oodometer.analysis.sampled import accuracy_of
from oodometer.analysis.text import columns, plural
from oodometer.core.errors import StoreError, UsageError
from oodometer.core.estimate import Estimate
from oodometer.stats.effective_robustness import accuracy_drop
from oodometer.stats.intervals import check_level, corrected_level, difference_of
from oodometer.stats.paired import PairedCounts, mean_paired_difference, paired_difference
from oodometer.store.cells import Cell
from oodometer.store.index import Index, Source, index_at

LABELS = ("label",)
"""What is read of the rows, besides images and ranks."""


@dataclass(frozen=True)
class ClassChange:
    """One class on both sides of a shift.

    Args:
        standard, shifted: The accuracy on the images of this class, each with its own interval.
        change: The second minus the first; its interval is corrected for the number of classes.
    """

    name: str
    standard: Estimate
    shifted: Estimate
    change: Estimate


@dataclass(frozen=True)
class ClassChanges:
    """The classes of a shift that have images on both sides, the greatest loss first; prints as a table.

    Args:
        on: The shift, and in ``standard`` the name of its clean side.
        paired: Whether both sides are the same photographs.
        n_tests: For how many classes the intervals of the changes are corrected (Bonferroni).
        left_out: Classes that have images on one side alone.
    """

    model: str
    on: str
    standard: str
    rows: tuple[ClassChange, ...]
    paired: bool
    n_tests: int
    left_out: tuple[str, ...] = ()

    @property
    def convention(self) -> str:
        """What the intervals are."""
        return (
            f"change: shifted minus clean; its interval is corrected for {plural(self.n_tests, 'class', 'classes')} "
            "(Bonferroni), so that all hold together; those of the accuracies are not"
        )

    def __str__(self) -> str:
        return self.table()

    def table(self, top: int | None = None) -> str:
        """The changes as text.

        Args:
            top: How many classes, at most; None: all.
        """
        head = f"{self.model} from {self.standard} to {self.on}: {plural(self.n_tests, 'class', 'classes')}"
        lines = [["class", "clean", "shifted", "change"]]
        for row in self.rows[:top]:
            told = (f"{estimate:.4f} n={estimate.n}" for estimate in (row.standard, row.shifted))
            lines.append([row.name, *told, f"{row.change:+.4f}"])
        left = self.n_tests - len(lines) + 1
        return "\n".join([head, columns(lines), *([f"{left} more"] if left else [])])

    def as_json(self, top: int | None = None) -> dict[str, Any]:
        """The same as plain values."""
        return {**vars(self), "convention": self.convention, "rows": [asdict(row) for row in self.rows[:top]]}


def class_changes(store: Source, model: str, on: str, *, level: float = 0.95) -> ClassChanges:
    """What a shift does to each class of a model's answers.

    The same photographs on both sides are paired (Tango's interval, over several conditions Student's over the images);
    different ones are not (Newcombe's). Images that one side lacks do not count where they are paired.

    Args:
        model: Its name in the store.
        on: The shift; all of its conditions count together.
        level: Of the intervals; all changes hold together at this level.
    """
    index = index_at(store)
    return changes_of(index, model, asked_shift(index, on), level=level)


def changes_of(
    index: Index, model: str, shift: MeasuredShift, *, level: float = 0.95, most: int | None = None
) -> ClassChanges:
    """What a shift of the store does to each class of a model's answers.

    Args:
        most: How many classes are wanted, those that lose most; None: all. The correction is for all of them.
    """
    check_level(level)
    if shift.measure != "top-1":
        raise UsageError(f"{shift.name} is not judged by top-1, so there is no accuracy of a class")
    (clean,) = cells_under(index, model, [shift.standard.condition], shift.standard.name)
    members = cells_under(index, model, [side.condition for side in shift.members], shift.name)
    if len({cell.classes for cell in (clean, *members)}) > 1:
        raise StoreError(f"{index}: the two sides of {shift.name} are not over the same classes")
    paired = not shift.of_other_images and _are_same(index, clean, members[0])
    sides = _paired_sides(index, clean, members) if paired else _sides(index, clean, members)
    names = answer_names(index, clean) | answer_names(index, members[0])
    x, y = _by_class(*sides[:2]), _by_class(*sides[2:])
    both = sorted(
        (label for label in x if label in y),
        key=lambda label: (y[label].mean() - x[label].mean(), name_in(names, label)),
    )
    change = _difference(paired, corrected_level(level, max(len(both), 1)))
    rows = tuple(
        ClassChange(
            name_in(names, label),
            accuracy_of(x[label], level),
            accuracy_of(y[label], level),
            change(x[label], y[label]),
        )
        for label in both[:most]
    )
    alone = tuple(name_in(names, label) for label in sorted(x.keys() ^ y.keys()))
    return ClassChanges(index.model_name_of[clean.key], shift.name, shift.standard.name, rows, paired, len(both), alone)


def _by_class(labels: np.ndarray, right: np.ndarray) -> dict[int, np.ndarray]:
    """Of each class whether the model is right on its images, in their order."""
    order = np.argsort(labels, kind="stable")
    found, starts = np.unique(labels[order], return_index=True)
    return dict(zip(found.tolist(), np.split(right[order], starts[1:]), strict=True))


class _Sides(NamedTuple):
    """On each side the class of every image, and whether the model is right (or in which share), (N,) each."""

    labels_x: np.ndarray
    right_x: np.ndarray
    labels_y: np.ndarray
    right_y: np.ndarray


def _are_same(index: Index, a: Cell, b: Cell) -> bool:
    return a.data.digest == b.data.digest or same_photographs(index.images(a), index.images(b))


def _paired_sides(index: Index, clean: Cell, members: Sequence[Cell]) -> _Sides:
    if all(cell.data.digest == clean.data.digest for cell in members):
        return _sides_by_position(index, clean, members)
    common = joined(index, [clean, *members], lambda rows: rows.rank == 0, columns=LABELS)
    return _Sides(common.labels, common.values[0], common.labels, _mean(common.values[1:]))


def _sides_by_position(index: Index, clean: Cell, members: Sequence[Cell]) -> _Sides:
    """Where all are of one data set, its positions tell which images are the same."""
    rows = [index.read_some(cell, LABELS) for cell in (clean, *members)]
    rank = np.full((len(rows), clean.n_images), -1)
    for at, of_cell in enumerate(rows):
        rank[at, of_cell.image] = of_cell.rank
    label = np.zeros(clean.n_images, dtype=np.int64)
    label[rows[0].image] = rows[0].label
    common = (rank >= 0).all(axis=0)
    if not common.any():
        raise StoreError(f"{index}: no labelled image in common between {clean.condition_name} and the shift")
    right = rank[:, common] == 0
    return _Sides(label[common], right[0], label[common], _mean(right[1:]))


def _sides(index: Index, clean: Cell, members: Sequence[Cell]) -> _Sides:
    of_x = joined(index, [clean], lambda rows: rows.rank == 0, columns=LABELS)
    of_y = joined(index, members, lambda rows: rows.rank == 0, columns=LABELS)
    return _Sides(of_x.labels, of_x.values[0], of_y.labels, _mean(of_y.values))


def _mean(values: Sequence[np.ndarray] | np.ndarray) -> np.ndarray:
    return np.mean(values, axis=0) if len(values) > 1 else values[0]


def _difference(paired: bool, level: float) -> Callable[[np.ndarray, np.ndarray], Estimate]:
    """How the change from the first to the second is told."""
    tango = cache(lambda *counts: paired_difference(PairedCounts(*counts), level=level))

    def of(x: np.ndarray, y: np.ndarray) -> Estimate:
        if not paired:
            return _unpaired(x, y, level)
        if y.dtype == bool:
            both, only_x, only_y = int((x & y).sum()), int((x & ~y).sum()), int((y & ~x).sum())
            return tango(both, only_x, only_y, len(x) - both - only_x - only_y)
        difference = y - x
        if len(difference) == 1:
            return Estimate(float(difference[0]), None, None, 1, "none: one image")
        return mean_paired_difference(float(difference.mean()), float(difference.std(ddof=1)), len(x), level=level)

    return of


def _unpaired(x: np.ndarray, y: np.ndarray, level: float) -> Estimate:
    if y.dtype == bool:
        return replace(accuracy_drop(float(y.mean()), float(x.mean()), len(y), len(x), level=level), n=len(y))
    return difference_of(accuracy_of(y, level), accuracy_of(x, level), n=len(y), level=level)
