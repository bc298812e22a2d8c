"""A leaderboard: a line for each model, a column for each thing it was measured on, every number with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from oodometer.analysis.accuracy_pairs import accuracy_of
from oodometer.analysis.common_images import right_on_common
from oodometer.analysis.line_rules import DEFAULT_OPTIONS
from oodometer.analysis.named import models_of
from oodometer.analysis.origins import origin_of
from oodometer.analysis.robustness import Robustness, robustness
from oodometer.analysis.text import columns as aligned
from oodometer.core.errors import OodometerError, StoreError
from oodometer.core.estimate import Estimate
from oodometer.store.cells import Cell
from oodometer.store.index import Index

LEVEL = DEFAULT_OPTIONS.resampling.level


@dataclass(frozen=True)
class Column:
    """What is measured.

    Args:
        title: Above the numbers.
        condition: A condition, or a family of them (``cifar10-c``): then the mean over its conditions.
        about: What that is, in a sentence.
    """

    title: str
    condition: str
    about: str = ""

    def has(self, cell: Cell) -> bool:
        """Whether a cell is of this column."""
        return cell.condition_name == self.condition or cell.condition_name.startswith(f"{self.condition}/")


@dataclass(frozen=True)
class Entry:
    """One model.

    Args:
        category: ``standard``, or what was done to it.
        parent: The model that it was made from.
        accuracies: Top-1 in each column; None where it was not measured.
        rho: Effective robustness in the column that was chosen: what it has beyond what its clean accuracy leads to
            expect; None where there is no line.
    """

    model: str
    category: str
    parent: str | None
    accuracies: tuple[Estimate | None, ...]
    rho: Estimate | None


@dataclass(frozen=True)
class Leaderboard:
    """All models, the best in the first column first; prints as a table.

    Args:
        columns: The first is the clean set.
        robust_in: The place of the column under which ``rho`` is told.
        robustness: The line of that column, and every model beside it; None where there is none.
        notes: What a reader should know.
    """

    columns: tuple[Column, ...]
    entries: tuple[Entry, ...]
    robust_in: int
    robustness: Robustness | None
    notes: tuple[str, ...]

    def __str__(self) -> str:
        return self.table()

    def table(self) -> str:
        """The leaderboard as text, in per cent: the titles, how many images, and a line for each model."""
        titles = ["", *(one.title for one in self.columns)]
        sizes = ["%", *(f"n={self.n(place)}" for place in range(len(self.columns)))]
        lines = [[entry.model, *map(_percent, entry.accuracies)] for entry in self.entries]
        if self.robustness:
            titles.append("ρ")
            sizes.append(self.columns[self.robust_in].title)
            lines = [[*line, _percent(entry.rho, "+")] for line, entry in zip(lines, self.entries, strict=True)]
        return aligned([titles, sizes, *lines])

    def n(self, place: int) -> str:
        """How many images the numbers of a column are about."""
        sizes = {one.n for entry in self.entries if (one := entry.accuracies[place]) is not None}
        return " or ".join(sorted(map(str, sizes)))

    def as_json(self) -> dict[str, Any]:
        """The leaderboard as plain values."""
        return {
            "columns": [asdict(one) for one in self.columns],
            "models": [asdict(one) for one in self.entries],
            "robustness": self.robustness.as_json() if self.robustness else None,
            "notes": list(self.notes),
        }


def leaderboard(index: Index, cells: Sequence[Cell], columns: Sequence[Column], *, robust_in: int) -> Leaderboard:
    """The leaderboard of the models of these cells.

    Args:
        cells: All models on the same images; what else is in the store does not count.
        columns: The clean set first; those that no model was measured on are left out.
        robust_in: The place of the column under which effective robustness is told.
    """
    kept = tuple(column for column in columns if any(column.has(cell) for cell in cells))
    if columns[0] not in kept or columns[robust_in] not in kept:
        raise StoreError(f"{index}: no predictions on {columns[0].condition} and {columns[robust_in].condition}")
    groups = {index.model_name_of[group[0].key]: group for group in models_of(cells)}
    right = {model: [_right(index, group, column) for column in kept] for model, group in groups.items()}
    place = kept.index(columns[robust_in])
    origins = {model: origin_of(group[0], model, {}) for model, group in groups.items()}
    robust, notes = _robustness(index.only(cells), kept[place].condition)
    rho = {one.model: one.rho for one in robust.models} if robust else {}
    entries = [
        Entry(
            model,
            origin.category,
            origin.parent,
            tuple(None if one is None else accuracy_of(one, LEVEL) for one in right[model]),
            rho.get(model),
        )
        for model, origin in origins.items()
    ]
    return Leaderboard(kept, tuple(sorted(entries, key=_order)), place, robust, notes)


def _order(entry: Entry) -> tuple[float, str]:
    first = entry.accuracies[0]
    return (-first.value if first else 1.0), entry.model


def _right(index: Index, cells: Sequence[Cell], column: Column) -> np.ndarray | None:
    """Per image whether the model was right, or in which share of the conditions, (N,); None where it was not asked."""
    of_column = [cell for cell in cells if column.has(cell)]
    if not of_column:
        return None
    values = right_on_common(index, of_column).values
    return values[0] if len(values) == 1 else np.mean(values, axis=0)


def _robustness(index: Index, shift: str) -> tuple[Robustness | None, tuple[str, ...]]:
    """The line of one column, and every model beside it; and why there is none."""
    try:
        found = robustness(index, shift)
    except OodometerError as why:
        return None, (f"no effective robustness: {why}",)
    return found, found.notes


def _percent(estimate: Estimate | None, sign: str = "") -> str:
    """A number in per cent with its interval.

    >>> _percent(Estimate(0.741, 0.7127, 0.7679, 1000, "clopper-pearson 95%"))
    '74 [71, 77]'
    """
    if estimate is None:
        return "–"
    value, *bounds = (
        None if one is None else f"{100 * one:{sign}.0f}" for one in (estimate.value, estimate.low, estimate.high)
    )
    return f"{value} [{', '.join(one or '?' for one in bounds)}]"
