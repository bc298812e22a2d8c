"""Accuracies and differences over a family whose conditions have images of their own: errors average out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from oodometer.analysis.common_images import right_on_common
from oodometer.analysis.sampled import (
    accuracy_when_stopped,
    in_order_drawn,
    one_minus,
    stopped,
    sum_when_stopped,
)
from oodometer.core.estimate import Estimate
from oodometer.stats.mean_of_shares import Answers, mean_of_shares
from oodometer.stats.paired import PairedCounts
from oodometer.store.cells import Cell
from oodometer.store.index import Index


def mean_accuracy_apart(index: Index, cells: Sequence[Cell], *, level: float) -> Estimate:
    """The mean accuracy over conditions that have images of their own."""
    if len(cells) == 1 and (sample := stopped(cells[0])) is not None:
        return accuracy_when_stopped(in_order_drawn(index, cells[0]), sample, level=level)
    if all(stopped(cell) is not None for cell in cells):
        wrong = sum_when_stopped(index, cells, np.full(len(cells), 1 / len(cells)), level=level)
        return one_minus(wrong)
    several = []
    for cell in cells:
        (verdicts,) = index.verdicts([cell])
        known = verdicts.verdict >= 0
        several.append(Answers(index.images(cell).ids[verdicts.image[known]], verdicts.verdict[known] == 0))
    return mean_of_shares(several, level=level)


def covariances_apart(right: Sequence[np.ndarray]) -> np.ndarray:
    """Of models' mean accuracies over conditions that have images of their own, (M, M).

    Within a condition all models saw the same images; between conditions nothing is shared, and variances add up.

    Args:
        right: Whether each model is right on the images of each condition, (M, n) each.
    """
    total = np.zeros((len(right[0]), len(right[0])))
    for of_condition in right:
        n = of_condition.shape[1]
        centred = of_condition - of_condition.mean(axis=1, keepdims=True)
        total += centred @ centred.T / (n * max(n - 1, 1))
    return np.asarray(total / len(right) ** 2)


def mean_difference_apart(index: Index, pairs: Sequence[tuple[Cell, Cell]], *, level: float) -> Estimate:
    """The mean over conditions of the accuracy of the second model minus that of the first.

    Each condition's images are paired, and drawn apart from those of the others: the variances add up.

    Args:
        pairs: The cells of both models on each condition.
    """
    every = []
    for pair in pairs:
        a, b = right_on_common(index, pair).values
        every.append(PairedCounts.of(a, b))
    return mean_difference_of(every, level=level)


def mean_difference_of(counts: Sequence[PairedCounts], *, level: float) -> Estimate:
    """The mean of differences of accuracies, B minus A, each over images of its own.

    The normal interval; each condition counts as if one more image were right for A alone and one for B alone, so that
    few images on which nobody differs are not taken for certainty (Agresti and Min, Statistics in Medicine 24, 2005).

    >>> print(mean_difference_of([PairedCounts(5, 1, 3, 1)] * 75, level=0.95))
    0.2000 [0.1546, 0.2454]  n=750
    """
    from scipy.special import ndtri

    b, c, n = (np.array([getattr(one, name) for one in counts], dtype=np.float64) for name in ("only_b", "only_a", "n"))
    value = float(np.mean((b - c) / n))
    share, mean = (b + c + 2 / len(counts)) / (n + 2 / len(counts)), (b - c) / (n + 2 / len(counts))
    error = float(np.sqrt(((share - mean**2) / np.maximum(n - 1, 1)).sum())) / len(counts)
    half = float(ndtri((1 + level) / 2)) * error
    total = int(n.sum())
    name = f"normal, images drawn apart {100 * level:g}%"
    return Estimate(value, max(value - half, -1.0), min(value + half, 1.0), total, name)
