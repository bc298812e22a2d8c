"""The accuracy of many cells at once, each with the interval that is valid for it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from oodometer.analysis.sampled import accuracy_when_stopped, in_order_drawn, stopped
from oodometer.core.estimate import Estimate
from oodometer.stats.intervals import DEFAULT_INTERVAL, clopper_pearson_bounds
from oodometer.store.cells import Cell
from oodometer.store.index import Index


def accuracies_of(
    index: Index, cells: Sequence[Cell], right: Sequence[int], n: Sequence[int], level: float
) -> list[Estimate]:
    """Top-1 of each cell: exact, and a confidence sequence where a run was stopped by what it saw.

    Args:
        right: How many labelled images each is right on, of ``n``.
    """
    estimates = shares_of(right, n, level)
    for at, cell in enumerate(cells):
        sample = stopped(cell)
        if sample is not None:
            estimates[at] = accuracy_when_stopped(in_order_drawn(index, cell), sample, level=level)
    return estimates


def shares_of(right: Sequence[int], n: Sequence[int], level: float) -> list[Estimate]:
    """All shares at once with their exact intervals, since there may be a hundred thousand."""
    hits, sizes = np.array(right, dtype=np.int64), np.array(n, dtype=np.int64)
    low, high = clopper_pearson_bounds(hits, sizes, level)
    name = f"{DEFAULT_INTERVAL} {100 * level:g}%"
    columns = (hits / np.maximum(sizes, 1)).tolist(), low.tolist(), high.tolist(), sizes.tolist()
    return [Estimate(*values, name) for values in zip(*columns, strict=True)]
