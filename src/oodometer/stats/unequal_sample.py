"""Samples of a finite set in which some members are more likely than others, each by a chance that is known."""

from __future__ import annotations

import numpy as np

from oodometer.core.errors import UsageError

FLOOR = 0.25
"""The least spread that anything is taken to have, where that of an answer that is right or wrong is at most 0.5: what
looks certain is wrong at times, and would weigh too much if it were hardly ever drawn. Between 0.2 and 0.35 it hardly
matters (made answers of 64 models of which 3 to 12 % of the images mislead all)."""


def neyman_sizes(chances: np.ndarray, *, floor: float = FLOOR) -> np.ndarray:
    """How much each member of a set should be drawn, (N,), from the chances of being right of one or more, (M, N).

    Neyman's allocation draws in proportion to the spread of what is measured: √(p(1 − p)) of an answer that is right
    with chance p. Of several models it is the root of their mean variance.

    >>> neyman_sizes(np.array([[0.5, 0.9, 1.0]])).round(3).tolist()
    [0.5, 0.3, 0.25]
    """
    shares = np.atleast_2d(np.asarray(chances, dtype=np.float64))
    if ((shares < 0) | (shares > 1)).any() or not np.isfinite(shares).all():
        raise UsageError("chances of being right must lie between 0 and 1")
    return np.asarray(np.maximum(np.sqrt((shares * (1 - shares)).mean(axis=0)), floor))


def inclusion_probabilities(sizes: np.ndarray, n: int) -> np.ndarray:
    """The probability of each member to be among n, in proportion to its size as far as none is above 1, (N,).

    >>> inclusion_probabilities(np.array([1.0, 1.0, 2.0, 8.0]), 2).tolist()
    [0.25, 0.25, 0.5, 1.0]
    """
    if not 1 <= n <= len(sizes):
        raise UsageError(f"{n} of {len(sizes)} images: choose at least one and at most all")
    if (sizes <= 0).any():
        raise UsageError("every image needs a chance to be chosen: sizes must be above 0")
    found = np.zeros(len(sizes))
    certain = np.zeros(len(sizes), dtype=bool)
    while True:
        left = n - int(certain.sum())
        found[certain] = 1.0
        found[~certain] = left * sizes[~certain] / sizes[~certain].sum()
        above = (found >= 1) & ~certain
        if not above.any() or left == 0:
            return found
        certain |= above


def draw(probabilities: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Members drawn with these probabilities, whose sum is how many there are; in ascending order, (n,).

    Systematic sampling through a random order (Hartley and Rao, Annals of Mathematical Statistics 33, 1962): the
    probabilities are exact, the number of members is fixed, and no two members are tied to each other.

    >>> draw(np.array([1.0, 0.5, 0.5, 1.0]), np.random.default_rng(0)).tolist()
    [0, 2, 3]
    """
    order = rng.permutation(len(probabilities))
    ends = np.cumsum(probabilities[order])
    n = round(float(ends[-1]))
    ends *= n / ends[-1]  # what rounding takes away
    places = np.searchsorted(ends, rng.random() + np.arange(n), side="right")
    return np.sort(order[np.minimum(places, len(order) - 1)])
