"""Intervals for a share of images, by name, and for a mean of scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from oodometer.core.errors import OodometerError, UsageError
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
    low, high = clopper_pearson_bounds(np.asarray(successes), np.asarray(n), level)
    return float(low), float(high)


def clopper_pearson_bounds(successes: np.ndarray, n: np.ndarray | int, level: float) -> tuple[np.ndarray, np.ndarray]:
    """The lower and the upper bounds of many exact intervals at once; the counts broadcast.

    >>> low, high = clopper_pearson_bounds(np.array([0, 741, 1000]), 1000, 0.95)
    >>> low.round(4).tolist(), high.round(4).tolist()
    ([0.0, 0.7127, 0.9963], [0.0037, 0.7679, 1.0])
    """
    from scipy.special import betaincinv

    tail = (1 - level) / 2
    # A bound at 0 or 1 is where the beta distribution has no quantile; any parameter does there.
    failures = n - successes
    low = np.where(successes == 0, 0.0, betaincinv(np.where(successes == 0, 1, successes), failures + 1, tail))
    high = np.where(failures == 0, 1.0, betaincinv(successes + 1, np.where(failures == 0, 1, failures), 1 - tail))
    return low, high


def wilson(successes: int, n: int, level: float) -> tuple[float, float]:
    """The score interval: it covers the truth as often as it says, on average.

    >>> low, high = wilson(741, 1000, 0.95)
    >>> round(low, 4), round(high, 4)
    (0.713, 0.7672)
    """
    return wilson_bounds(successes / n, n, level)


def wilson_bounds(share: float, n: int, level: float) -> tuple[float, float]:
    """The same of a share of which some images count in part.

    >>> low, high = wilson_bounds(0.741, 1000, 0.95)
    >>> round(low, 4), round(high, 4)
    (0.713, 0.7672)
    """
    from scipy.special import ndtri

    z2 = float(ndtri((1 + level) / 2)) ** 2
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = np.sqrt(z2 * (share * (1 - share) / n + z2 / (4 * n * n))) / (1 + z2 / n)
    low = 0.0 if share == 0 else float(middle - half)
    high = 1.0 if share == 1 else float(middle + half)
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


def weighted_share_of(share: float, effective: float, *, n: int, level: float = 0.95) -> Estimate:
    """A share whose images count differently, with the exact interval of as many equal images as tell it as well.

    The interval of Korn and Graubard (Survey Methodology 24, 1998): Clopper and Pearson's with an effective number of
    images, which need not be whole.

    >>> print(weighted_share_of(0.75, 4.0, n=10))
    0.7500 [0.1941, 0.9937]  n=10
    """
    check_level(level)
    hits = share * effective
    # A share of exactly 1 has no failures, whatever rounding says.
    low, high = clopper_pearson_bounds(np.asarray(hits), np.asarray(hits if share == 1 else effective), level)
    return Estimate(share, min(float(low), share), max(float(high), share), n, f"korn-graubard {100 * level:g}%")


def least_share_of(successes: np.ndarray, n: np.ndarray, *, level: float = 0.95) -> Estimate:
    """The least of several shares (C,) with its interval, for the least of the true shares.

    The lower end is the least of the exact lower ends. The upper end is the least of upper ends that hold all at once
    (Bonferroni), since nobody knew before looking whose share would be the least.

    >>> print(least_share_of(np.array([9, 6, 10]), np.array([10, 10, 10])))
    0.6000 [0.2624, 0.9115]  n=30
    """
    check_level(level)
    shares = successes / n
    low = clopper_pearson_bounds(successes, n, level)[0].min()
    high = clopper_pearson_bounds(successes, n, 1 - (1 - level) / len(shares))[1].min()
    return Estimate(
        float(shares.min()), float(low), float(high), int(n.sum()), f"least of exact intervals {100 * level:g}%"
    )


def mean_of(scores: np.ndarray, *, level: float = 0.95, bounds: tuple[float, float] = (-np.inf, np.inf)) -> Estimate:
    """The mean of scores with Student's interval.

    One score, or scores that are all equal, say nothing about how far off the mean may be: there is no interval then,
    rather than one of no width. For scores of 0 and 1 take `share_of`.

    Args:
        bounds: What scores can be, at the least and at the most; the interval, which knows nothing of it and may reach
            beyond with few scores, ends there.

    >>> print(mean_of(np.array([0.1, 0.4, 0.2, 0.3])))
    0.2500 [0.0446, 0.4554]  n=4
    >>> print(mean_of(np.array([0.1])))
    0.1000 [no interval]  n=1
    >>> print(mean_of(np.array([0.0, 0.0, 0.2]), bounds=(0, 1)))
    0.0667 [0.0000, 0.3535]  n=3
    """
    from scipy.special import stdtrit

    scores = np.asarray(scores, dtype=np.float64)
    check_level(level)
    if scores.ndim != 1 or len(scores) == 0:
        raise OodometerError(f"scores of shape {scores.shape}: a mean needs one or more in a row")
    if not np.isfinite(scores).all():
        raise OodometerError("some scores are NaN or infinite: their mean is undefined")
    n, mean = len(scores), float(scores.mean())
    if np.ptp(scores) == 0:
        return Estimate(mean, None, None, n, "none: one score" if n == 1 else "none: all scores are equal")
    half = float(stdtrit(n - 1, (1 + level) / 2) * scores.std(ddof=1) / np.sqrt(n))
    low, high = max(mean - half, bounds[0]), min(mean + half, bounds[1])
    return Estimate(mean, low, high, n, f"student-t {100 * level:g}%")


def difference_of(a: Estimate, b: Estimate, *, n: int | None, level: float) -> Estimate:
    """The first minus the second of two independent estimates, from their own intervals.

    The squares of the distances to the limits are added: with Wilson's limits this is method 10 of Newcombe (Statistics
    in Medicine 17, 1998).

    >>> a, b = (share_of(hits, 100, interval="wilson") for hits in (80, 60))
    >>> print(difference_of(a, b, n=100, level=0.95))
    0.2000 [0.0731, 0.3185]  n=100
    """
    value = a.value - b.value
    if a.low is None or a.high is None or b.low is None or b.high is None:
        return Estimate(value, None, None, n, "none: one of the two has no interval")
    low = value - np.hypot(a.value - a.low, b.high - b.value)
    high = value + np.hypot(a.high - a.value, b.value - b.low)
    return Estimate(value, float(low), float(high), n, f"newcombe {100 * level:g}%")


def mean_of_intervals(estimates: Sequence[Estimate]) -> Estimate:
    """The mean with the mean of the intervals: wide enough however the estimates move together.

    >>> print(mean_of_intervals([share_of(80, 100), share_of(60, 100)]))
    0.7000 [0.6027, 0.7850]  n=100
    """
    if len(estimates) == 1:
        return estimates[0]
    value = float(np.mean([one.value for one in estimates]))
    ends = [(one.low, one.high) for one in estimates if one.low is not None and one.high is not None]
    if len(ends) < len(estimates):
        return Estimate(value, None, None, estimates[0].n, "none: one of the members has no interval")
    low, high = np.mean(ends, axis=0)
    return Estimate(value, float(low), float(high), estimates[0].n, f"mean of {len(estimates)} intervals")


def equivalent_n(estimate: Estimate, level: float) -> int | None:
    """How many images would tell a share as well as this: by the width of its interval; None where there is none.

    >>> equivalent_n(Estimate(0.5, 0.4, 0.6, 1000, ""), 0.95)
    96
    """
    from scipy.special import ndtri

    if estimate.low is None or estimate.high is None or estimate.high <= estimate.low:
        return None
    half, share = (estimate.high - estimate.low) / 2, estimate.value
    return max(1, round(share * (1 - share) * (float(ndtri((1 + level) / 2)) / half) ** 2))


def standard_error(estimate: Estimate, level: float) -> float:
    """The standard error behind a normal interval of this level.

    >>> round(standard_error(Estimate(0.0, -0.196, 0.196, 100, "normal 95%"), 0.95), 4)
    0.1
    """
    from scipy.special import ndtri

    if estimate.low is None or estimate.high is None:
        raise OodometerError("no interval: the standard error is not known")
    return (estimate.high - estimate.low) / 2 / float(ndtri((1 + level) / 2))


def corrected_level(level: float, n: int) -> float:
    """The level of each of n intervals that cover all of their truths together at this level (Bonferroni).

    >>> round(corrected_level(0.95, 5), 4)
    0.99
    """
    return 1 - (1 - level) / n


def check_level(level: float) -> None:
    """An error unless the level is one."""
    if not 0 < level < 1:
        raise UsageError(f"level {level}: must lie between 0 and 1, for example 0.95")
