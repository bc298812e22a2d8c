"""Which of many models can be told apart: all pairs tested at once, corrected after Holm, and groups of ties."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def holm(p_values: np.ndarray) -> np.ndarray:
    """Holm's adjusted p-values, (K,) -> (K,): comparing them with a level keeps all errors together below it.

    Holm, Scandinavian Journal of Statistics 6 (1979). NaN stays NaN and is no test.

    >>> holm(np.array([0.01, 0.04, 0.03])).round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    adjusted = np.full(len(p_values), np.nan)
    order = np.argsort(p_values)[: int((~np.isnan(p_values)).sum())]
    stepped = p_values[order] * np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(stepped), 1)
    return adjusted


def p_of_differences(means: np.ndarray, variances: np.ndarray) -> np.ndarray:
    """Two-sided p-values of "the two are equal" of every pair, by the normal distribution.

    Two that never differ have a difference of 0 and a variance of 0: they can't be told apart.

    Args:
        means: (M,).
        variances: Of the difference of each pair, (M, M); NaN where it is not known.

    Returns:
        (M, M), NaN where nothing is known.
    """
    from scipy.special import ndtr

    difference = np.abs(means[:, None] - means[None, :])
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(difference == 0, 0.0, difference / np.sqrt(variances))
    p = 2 * ndtr(-z)
    return np.where(np.isnan(variances), np.nan, p)


def p_of_counts(right: np.ndarray) -> np.ndarray:
    """McNemar's exact two-sided p-values of every pair of models, from who was right on which image.

    Args:
        right: (M, N) bool.

    Returns:
        (M, M).
    """
    from scipy.special import bdtr

    ones = right.astype(np.float32)
    both = ones @ ones.T
    only = np.rint(ones.sum(axis=1)[:, None] - both).astype(np.int64)  # right where the other is wrong
    fewer, differing = np.minimum(only, only.T), only + only.T
    p: np.ndarray = np.minimum(2 * bdtr(fewer, differing, 0.5), 1.0)
    return p


def told_apart(p_values: np.ndarray, level: float) -> np.ndarray:
    """Whether each pair differs, all pairs together at the level, (M, M) -> (M, M) bool."""
    above = np.triu_indices(len(p_values), 1)
    apart = np.zeros(p_values.shape, bool)
    with np.errstate(invalid="ignore"):
        apart[above] = holm(p_values[above]) <= 1 - level
    return apart | apart.T


def tie_groups(apart: np.ndarray, order: Sequence[int]) -> list[tuple[int, int]]:
    """The first and the last place of every run of places in which no two models can be told apart.

    Each run is as long as it can be; runs may overlap, since being alike does not carry on: the first may be like the
    second and the second like the third, and the first still better than the third.

    >>> apart = np.array([[False, False, True], [False, False, False], [True, False, False]])
    >>> tie_groups(apart, [0, 1, 2])
    [(0, 1), (1, 2)]
    """
    ordered = apart[np.ix_(order, order)]
    groups: list[tuple[int, int]] = []
    for first in range(len(order)):
        last = first
        while last + 1 < len(order) and not ordered[first : last + 1, last + 1].any():
            last += 1
        if not groups or last > groups[-1][1]:
            groups.append((first, last))
    return groups
