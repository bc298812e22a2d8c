"""Errors of conditions whose images were drawn apart: each is resampled by itself, so that their errors average out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from oodometer.analysis.controlled import controlled, kinds_beside
from oodometer.analysis.intervals import IntervalOptions, SharedDraws
from oodometer.stats.control_variate import errors_with_control
from oodometer.stats.drawn_apart import errors_drawn_apart
from oodometer.store.cells import Cell
from oodometer.store.index import Index

NAME = "bootstrap, images drawn apart"


def draws_apart(
    index: Index, cells: Sequence[Cell], others: Sequence[Cell | None], how: IntervalOptions
) -> SharedDraws:
    """The error on each of the cells, and beside it that of another model on the same images where there is one.

    Args:
        others: A cell of the same condition for each; None: of this one alone.

    Returns:
        Means (1 + D, 2 C): the errors on the cells, then those on the others; NaN where there is none.
    """
    resampling = replace(how.resampling, method="percentile")
    kinds = np.stack([_kinds(index, cell, other) for cell, other in zip(cells, others, strict=True)])
    means = errors_drawn_apart(kinds, resampling)
    means[:, len(cells) :][:, [other is None for other in others]] = np.nan
    return SharedDraws(means, int(kinds.sum(axis=1).min()), resampling, NAME)


def with_control(index: Index, cells: Sequence[Cell], controls: Sequence[Cell], how: IntervalOptions) -> SharedDraws:
    """The error on each of the cells, (1 + D, C), with what a control answered to all images."""
    resampling = replace(how.resampling, method="percentile")
    beside = controlled(index, cells, controls)
    means = errors_with_control(beside.kinds, beside.of_control, resampling)
    return SharedDraws(means, int(beside.kinds.sum(axis=1).min()), resampling, f"{NAME}, with a control")


def _kinds(index: Index, cell: Cell, other: Cell | None) -> np.ndarray:
    """How many images both are right on, only this one, only the other, none, (4,)."""
    if other is not None:
        return kinds_beside(index, cell, other)
    (verdicts,) = index.verdicts([cell])
    right, wrong = (int((verdicts.verdict == value).sum()) for value in (0, 1))
    return np.array([right, 0, wrong, 0])
