"""Intervals for a share of images, by name."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from oodometer.core.errors import OodometerError
from oodometer.core.estimate import Estimate
from oodometer.core.registry import Registry

Interval = Callable[[int, int, float], tuple[float, float]]
"""(successes, n, level) -> (low, high)."""

DEFAULT_INTERVAL = "clopper-pearson"

intervals: Registry[Interval] = Registry(
    "interval",
    {
        "clopper-pearson": "oodometer.stats.intervals:clopper_pearson",
        "wilson": "oodometer.stats.intervals:wilson",
    },
    group="oodometer.intervals",
)


def clopper_pearson(successes: int, n: int, level: float) -> tuple[float, float]:
    """The exact interval: it covers the truth at least as often as it says.

    >>> low, high = clopper_pearson(741, 1000, 0.95)
    >>> round(low, 4), round(high, 4)
    (0.7127, 0.7679)
    """
    from scipy.special import betaincinv

    tail = (1 - level) / 2
    low = 0.0 if successes == 0 else float(betaincinv(successes, n - successes + 1, tail))
    high = 1.0 if successes == n else float(betaincinv(successes + 1, n - successes, 1 - tail))
    return low, high


def wilson(successes: int, n: int, level: float) -> tuple[float, float]:
    """The score interval: it covers the truth as often as it says, on average.

    >>> low, high = wilson(741, 1000, 0.95)
    >>> round(low, 4), round(high, 4)
    (0.713, 0.7672)
    """
    from scipy.special import ndtri

    z2 = float(ndtri((1 + level) / 2)) ** 2
    share = successes / n
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = np.sqrt(z2 * (share * (1 - share) / n + z2 / (4 * n * n))) / (1 + z2 / n)
    low = 0.0 if successes == 0 else float(middle - half)
    high = 1.0 if successes == n else float(middle + half)
    return low, high


def share_of(successes: int, n: int, *, interval: str = DEFAULT_INTERVAL, level: float = 0.95) -> Estimate:
    """The share of successes with its interval.

    >>> print(share_of(741, 1000))
    0.7410 [0.7127, 0.7679]  n=1000
    """
    if n == 0:
        raise OodometerError("no images: the share is undefined")
    if not 0 <= successes <= n:
        raise OodometerError(f"{successes} successes among {n} images: not a share")
    check_level(level)
    low, high = intervals.get(interval)(successes, n, level)
    return Estimate(successes / n, low, high, n, f"{interval} {100 * level:g}%")


def check_level(level: float) -> None:
    """An error unless the level is one."""
    if not 0 < level < 1:
        raise OodometerError(f"level {level}: must lie between 0 and 1, for example 0.95")
