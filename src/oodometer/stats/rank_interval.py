"""Intervals of rank correlations: all correlations of normal values under which such ranks are not unusual.

The formulas by Fisher's z fail where the ranks nearly agree: they take the distribution as symmetric that ends at 1.
Here it is simulated, and inverted as a test is.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

import numpy as np

from oodometer.core.random import rng_for

RankKind = Literal["spearman", "kendall"]

MOST_SIMULATED = 60
"""Of more models the spread is that of so many, narrowed by the square root of their number."""
DRAWS = 4000
STEP, LAST = 0.1, 50
"""Correlations are simulated at atanh(r) = k * STEP for k up to LAST, an r of 0.9999, and interpolated between."""


def rank_bounds(kind: RankKind, value: float, n: int, level: float) -> tuple[float, float]:
    """The ends of the interval of a rank correlation of n models.

    >>> for value in (0.5, 1.0):
    ...     low, high = rank_bounds("spearman", value, 8, 0.95)
    ...     print(f"{low:.2f} to {high:.2f}")
    -0.31 to 0.91
    0.89 to 1.00
    """
    tail = (1 - level) / 2
    # As high a value as this is so rare at the lower end; and as low a one at the upper, which is the same of -value.
    low, high = _of_normal(kind, _lower(kind, value, n, tail)), -_of_normal(kind, _lower(kind, -value, n, tail))
    return min(low, value), max(high, value)


def _lower(kind: RankKind, value: float, n: int, tail: float) -> float:
    """Pearson's correlation at which a rank correlation as high as this has the probability ``tail``; -1 if at none."""
    from scipy.special import ndtri

    below, above = -LAST, LAST
    if _share_as_high(kind, value, n, below) >= tail:
        return -1.0
    if _share_as_high(kind, value, n, above) < tail:
        return float(np.tanh(STEP * LAST))
    while above - below > 1:  # The share grows with the correlation.
        middle = (below + above) // 2
        below, above = (below, middle) if _share_as_high(kind, value, n, middle) >= tail else (middle, above)
    # The normal quantile of the share is nearly linear between two steps.
    quantiles = [float(ndtri(_share_as_high(kind, value, n, step))) for step in (below, above)]
    return float(np.tanh(STEP * np.interp(ndtri(tail), quantiles, [below, above])))


def _share_as_high(kind: RankKind, value: float, n: int, step: int) -> float:
    """Of the draws, never 0 or 1."""
    hair = 1e-9
    found = _draws(kind, n, abs(step))  # Those of -r are those of r with other signs.
    if step < 0:
        as_high = np.searchsorted(found, -value + hair, side="right")
    else:
        as_high = len(found) - np.searchsorted(found, value - hair)
    return float((as_high + 0.5) / (len(found) + 1))


def _of_normal(kind: RankKind, r: float) -> float:
    """The rank correlation of normal values of which r is Pearson's."""
    return float(6 / np.pi * np.arcsin(r / 2) if kind == "spearman" else 2 / np.pi * np.arcsin(r))


@lru_cache(1024)
def _draws(kind: RankKind, n: int, step: int) -> np.ndarray:
    """The rank correlation in each draw of n normal values that have Pearson's tanh(step * STEP), sorted, (D,)."""
    r = float(np.tanh(step * STEP))
    if n > MOST_SIMULATED:
        middle = np.arctanh(_of_normal(kind, r))
        nearest = 1 - 1 / MOST_SIMULATED**3  # A correlation of 1 is none that atanh has.
        spread = np.arctanh(np.minimum(_draws(kind, MOST_SIMULATED, step), nearest)) - middle
        return np.asarray(np.tanh(middle + spread * np.sqrt((MOST_SIMULATED - 3) / (n - 3))))
    x, noise = _normal(n)
    y = r * x + np.sqrt(1 - r * r) * noise
    # x is sorted, so that its ranks are 0, 1, 2, ...
    if kind == "spearman":
        order = np.argsort(y, axis=0)
        middle = (n - 1) / 2
        found = (np.arange(n) - middle) @ (order - middle) / (n * (n * n - 1) / 12)
    else:
        in_order = sum(np.count_nonzero(y[at + 1 :] > y[at], axis=0) for at in range(n - 1))
        found = in_order * (4 / (n * (n - 1))) - 1
    found.sort()
    return np.asarray(found)


@lru_cache(4)
def _normal(n: int) -> tuple[np.ndarray, np.ndarray]:
    """The same draws for every correlation, so that what is simulated changes with it smoothly; (n, D), x sorted."""
    x, noise = rng_for("rank interval", n).normal(size=(2, n, DRAWS))
    return np.sort(x, axis=0), noise
