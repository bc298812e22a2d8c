"""Errors of conditions whose images were drawn apart: each is resampled by itself, so that their errors average out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from oodometer.analysis.controlled import controlled
from oodometer.analysis.intervals import IntervalOptions, SharedDraws
from oodometer.core.random import rng_for
from oodometer.store.cells import Cell
from oodometer.store.index import Index

NAME = "bootstrap, images drawn apart"


def draws_apart(
    index: Index, cells: Sequence[Cell], others: Sequence[Cell | None], how: IntervalOptions
) -> SharedDraws:
    """The error on each of the cells, and beside it that of another model on the same images where there is one.

    An image is one of four kinds: both are right, one, the other, none. Resampling images is drawing four counts.

    Args:
        others: A cell of the same condition for each; None: of this one alone.

    Returns:
        Means (1 + D, 2 C): the errors on the cells, then those on the others; NaN where there is none.
    """
    resampling = replace(how.resampling, method="percentile")
    rng = rng_for("bootstrap of images drawn apart", seed=resampling.seed)
    means = np.full((1 + resampling.draws, 2 * len(cells)), np.nan)
    sizes = []
    for at, (cell, other) in enumerate(zip(cells, others, strict=True)):
        counts = _kinds(index, cell, other)
        n = int(counts.sum())
        drawn = np.concatenate([counts[None], rng.multinomial(n, counts / n, size=resampling.draws)]) / n
        means[:, at] = drawn[:, 1] + drawn[:, 3]
        if other is not None:
            means[:, len(cells) + at] = drawn[:, 2] + drawn[:, 3]
        sizes.append(n)
    return SharedDraws(means, min(sizes), resampling, NAME)


def with_control(index: Index, cells: Sequence[Cell], controls: Sequence[Cell], how: IntervalOptions) -> SharedDraws:
    """The error on each of the cells, (1 + D, C), with what a control answered to all images.

    Its error on all images is known; only by how much the two differ is resampled.
    """
    drawn = draws_apart(index, cells, controls, how)
    known = np.array([beside.control_error for beside in controlled(index, cells, controls)])
    mine, theirs = np.split(drawn.means, 2, axis=1)
    return replace(drawn, means=known + mine - theirs, name=f"{NAME}, with a control")


def _kinds(index: Index, cell: Cell, other: Cell | None) -> np.ndarray:
    """How many images both are right on, only the other, only this one, none, (4,)."""
    if other is None:
        (verdicts,) = index.verdicts([cell])
        right, wrong = (int((verdicts.verdict == value).sum()) for value in (0, 1))
        return np.array([right, wrong, 0, 0])
    (beside,) = controlled(index, [cell], [other])
    counts = beside.counts
    return np.array([counts.both, counts.only_b, counts.only_a, counts.neither])
