"""Accuracies and differences over a family whose conditions have images of their own: errors average out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from oodometer.analysis.common_images import right_on_common
from oodometer.analysis.judged_pair import Judged, judged_when_stopped
from oodometer.analysis.sampled import (
    accuracy_when_stopped,
    first_stopped,
    in_order_drawn,
    one_minus,
    stopped,
    sum_when_stopped,
)
from oodometer.core.estimate import Estimate
from oodometer.stats.intervals import standard_error
from oodometer.stats.mean_of_shares import Answers, mean_of_shares
from oodometer.stats.paired import PairedCounts
from oodometer.store.cells import Cell
from oodometer.store.index import Index

LEVEL = 0.95
"""At which an interval tells its standard error; which one does not matter."""


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


def judged_apart(index: Index, pairs: Sequence[tuple[Cell, Cell]]) -> Judged:
    """Whether the mean over conditions of the accuracy of the second model is that of the first.

    Each condition's images are paired, and drawn apart from those of the others: the variances add up. By the normal
    law, or by a bet where the samples were stopped by what was seen.

    Args:
        pairs: The cells of both models on each condition.
    """
    from scipy.special import ndtr

    every = [right_on_common(index, pair).values for pair in pairs]
    sample = first_stopped([cell for pair in pairs for cell in pair])
    if sample is not None:
        n = min(len(a) for a, _ in every)
        # Each step is one image of every condition.
        first, second = (np.mean([values[side][:n] for values in every], axis=0) for side in (0, 1))
        return judged_when_stopped(first, second, replace(sample, members=1))
    counts = [PairedCounts.of(a, b) for a, b in every]
    n = sum(one.n for one in counts)
    known = mean_difference_of(counts, level=LEVEL)
    error = standard_error(known, LEVEL)
    p_value = float(2 * ndtr(-abs(known.value) / error))
    return Judged("z, images drawn apart", p_value, lambda level: mean_difference_of(counts, level=level), n)


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
