"""A share of a finite set of which some members were drawn, with its exact interval."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from oodometer.core.errors import OodometerError
from oodometer.core.estimate import Estimate
from oodometer.stats.intervals import check_level, clopper_pearson


def finite_share_of(successes: int, n: int, *, of: int, level: float = 0.95) -> Estimate:
    """The share of successes among all, from a plain random sample without replacement.

    All shares that neither tail of the hypergeometric distribution rejects: Clopper and Pearson's interval for a finite
    set (Buonaccorsi, The American Statistician 41, 1987). It is theirs where the set is large, and has no width where
    all members were drawn.

    >>> print(finite_share_of(741, 1000, of=10**9))
    0.7410 [0.7127, 0.7679]  n=1000
    >>> print(finite_share_of(741, 1000, of=2000))
    0.7410 [0.7210, 0.7600]  n=1000
    """
    check_level(level)
    if not 0 <= successes <= n <= of or n == 0:
        raise OodometerError(f"{successes} successes among {n} of {of} images: not a share")
    tail, failures = (1 - level) / 2, n - successes
    low, high = clopper_pearson(successes, n, level)
    fewest = successes if successes == 0 else _fewest(successes, n, of, tail, low)
    most = of - (failures if failures == 0 else _fewest(failures, n, of, tail, 1 - high))
    return Estimate(successes / n, fewest / of, most / of, n, f"hypergeometric {100 * level:g}%")


@lru_cache(1024)  # many models on the same labels have the same number of right answers
def _fewest(successes: int, n: int, of: int, tail: float, least: float) -> int:
    """The fewest successes among all with which so many among those drawn are not too many.

    Args:
        least: A share that is too small, or just not: where the search begins.
    """
    low, high = max(successes, int(least * of) - 1), of - (n - successes)
    if _at_least(successes, n, of, low) > tail:
        return low if low == successes else _fewest(successes, n, of, tail, 0.0)
    while high - low > 1:
        middle = (low + high) // 2
        if _at_least(successes, n, of, middle) > tail:
            high = middle
        else:
            low = middle
    return high


def _at_least(successes: int, n: int, of: int, there: int) -> float:
    """The probability of so many successes or more among n of a set that has so many."""
    from scipy.special import gammaln  # scipy.stats would take a second to import

    drawn = np.arange(successes, min(n, there) + 1)
    if len(drawn) == 0:
        return 0.0

    def ways(some: np.ndarray | int, many: int) -> np.ndarray:
        """The logarithm of in how many ways some of many are chosen."""
        with np.errstate(invalid="ignore"):
            return np.asarray(gammaln(many + 1) - gammaln(np.asarray(some) + 1) - gammaln(many - np.asarray(some) + 1))

    possible = n - drawn <= of - there
    logs = ways(drawn, there) + ways(n - drawn, of - there) - ways(n, of)
    return float(np.exp(logs[possible]).sum())
