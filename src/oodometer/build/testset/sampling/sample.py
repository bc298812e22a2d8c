"""What a strategy chose, and how."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from oodometer.build.testset.candidates import Candidates


@dataclass(frozen=True, eq=False)
class Sample:
    """Chosen candidates.

    Args:
        strategy: Its name.
        arguments: What it was asked for, as plain values.
        seed: Of every draw.
        candidates: What was chosen from.
        rows: The chosen ones, in the order of their classes and ids, (n,).
        counts: What happened on the way that was not asked for, in words.
        short: By class, how many are missing.
    """

    strategy: str
    arguments: Mapping[str, object]
    seed: int
    candidates: Candidates
    rows: np.ndarray
    counts: Mapping[str, int]
    short: Mapping[int, int]

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def ids(self) -> tuple[str, ...]:
        """Of the chosen ones."""
        return tuple(self.candidates.ids[row] for row in self.rows.tolist())

    @property
    def per_class(self) -> dict[int, int]:
        """How many were chosen of each class that there are candidates for."""
        found = Counter(self.candidates.labels[self.rows].tolist())
        return {label: found[label] for label in self.candidates.classes}

    @property
    def mean_frequency(self) -> float:
        """The mean selection frequency of the chosen ones; NaN where one was never asked about."""
        return float(self.candidates.frequency[self.rows].mean()) if len(self.rows) else float("nan")


def rows_with(candidates: Candidates, ids: Collection[str]) -> set[int]:
    """The rows of these ids; one that is not there any more is none."""
    wanted = set(ids)
    return {row for row, one in enumerate(candidates.ids) if one in wanted}


def short_of(candidates: Candidates, rows: np.ndarray, per_class: int) -> dict[int, int]:
    """By class, how many are missing, of those that lack some."""
    found = Counter(candidates.labels[rows].tolist())
    return {label: per_class - found[label] for label in candidates.classes if found[label] < per_class}


def in_order(candidates: Candidates, rows: np.ndarray) -> np.ndarray:
    """The rows by class, and by id within it."""
    return np.array(
        sorted(rows.tolist(), key=lambda row: (candidates.labels[row], candidates.ids[row])), dtype=np.int64
    )
