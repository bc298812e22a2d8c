"""How far off a number over images may be, whatever it is made of: from leaving out one group of images at a time."""

from __future__ import annotations

import numpy as np

from oodometer.core.errors import OodometerError
from oodometer.core.estimate import Estimate
from oodometer.core.random import rng_for
from oodometer.stats.intervals import check_level

N_GROUPS = 20
"""More would cost more and gain little: an interval is 6 % wider than it would be with very many."""

FEWEST_GROUPS = 5
"""With fewer groups of images there is no interval."""


def groups_of_images(n: int, *, n_groups: int = N_GROUPS, seed: int = 0) -> np.ndarray:
    """A group for each of n images, at random and all as large as can be, (n,); fewer groups where images are few.

    >>> np.bincount(groups_of_images(1003)).tolist()[:5], len(np.unique(groups_of_images(3)))
    ([51, 51, 51, 50, 50], 3)
    """
    if n < 1:
        raise OodometerError("no images: they can't be grouped")
    order = rng_for("groups of images", seed=seed).permutation(n)
    return np.asarray(order % min(n_groups, n))


def jackknife_error(without: np.ndarray) -> np.ndarray:
    """The standard error of a number, from its values without each of G groups, (G, ...) -> (...).

    The delete-a-group jackknife: of a mean over groups of one size it is the usual standard error of the G means.

    >>> means = np.array([1.0, 2.0, 3.0, 6.0])
    >>> round(float(jackknife_error((means.sum() - means) / 3)), 6), round(float(means.std(ddof=1) / 2), 6)
    (1.080123, 1.080123)
    """
    n = len(without)
    if n < 2:
        raise OodometerError(f"{n} group: leaving it out leaves nothing; give at least two")
    squares = ((without - without.mean(axis=0)) ** 2).sum(axis=0)
    return np.asarray(np.sqrt((n - 1) / n * squares))


def jackknife_interval(
    value: float,
    without: np.ndarray,
    *,
    n: int,
    level: float = 0.95,
    bounds: tuple[float, float] = (0.0, 1.0),
) -> Estimate:
    """A number with Student's interval by the jackknife over groups of images.

    Args:
        without: Its values without each group, (G,).
        n: How many images are behind it.
        bounds: What it can be at the least and at the most; the interval ends there.

    >>> print(jackknife_interval(0.5, np.array([0.5, 0.51, 0.49, 0.52, 0.48]), n=100))
    0.5000 [0.4215, 0.5785]  n=100
    """
    from scipy.special import stdtrit

    check_level(level)
    if len(without) < FEWEST_GROUPS:
        return Estimate(value, None, None, n, f"none: fewer than {FEWEST_GROUPS} groups of images")
    if not (np.isfinite(without).all() and np.isfinite(value)):
        return Estimate(value, None, None, n, "none: undefined without some of the images")
    if np.ptp(without) == 0:
        return Estimate(value, None, None, n, "none: no image changes it")
    half = float(stdtrit(len(without) - 1, (1 + level) / 2) * jackknife_error(without))
    low, high = max(value - half, bounds[0]), min(value + half, bounds[1])
    return Estimate(value, low, high, n, f"jackknife over groups of images {100 * level:g}%")
