"""Two models on the same images: the exact McNemar test, the interval of the difference, whether they err together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from oodometer.core.errors import OodometerError
from oodometer.core.estimate import Estimate
from oodometer.core.random import rng_for
from oodometer.stats.bootstrap import DEFAULT, MOST_UNDEFINED, Resampling, interval_of
from oodometer.stats.intervals import check_level

McNemar = Literal["exact", "mid-p"]
"""How the images on which two models differ are tested."""


@dataclass(frozen=True)
class PairedCounts:
    """How often each of two models was right on the same images."""

    both: int
    only_a: int
    only_b: int
    neither: int

    @classmethod
    def of(cls, a: np.ndarray, b: np.ndarray) -> PairedCounts:
        """Of the images on which A and B are right, (N,) bool both.

        >>> PairedCounts.of(np.array([True, True, False]), np.array([True, False, False]))
        PairedCounts(both=1, only_a=1, only_b=0, neither=1)
        """
        both, right_a, right_b = (int(np.count_nonzero(right)) for right in (a & b, a, b))
        return cls(both, right_a - both, right_b - both, len(a) - right_a - right_b + both)

    @property
    def n(self) -> int:
        """The number of images."""
        return self.both + self.only_a + self.only_b + self.neither


def mcnemar_exact(counts: PairedCounts) -> float:
    """The two-sided p-value of "both models are equally accurate", from the images on which they differ.

    >>> round(mcnemar_exact(PairedCounts(both=80, only_a=8, only_b=2, neither=10)), 4)
    0.1094
    """
    return float(mcnemar_p_values(counts.only_a, counts.only_b))


def mcnemar_mid_p(counts: PairedCounts) -> float:
    """The same, of which what was seen counts half: less cautious, right on average (Fagerland et al. 2013).

    >>> round(mcnemar_mid_p(PairedCounts(both=80, only_a=8, only_b=2, neither=10)), 4)
    0.0654
    """
    return float(mcnemar_p_values(counts.only_a, counts.only_b, "mid-p"))


def mcnemar_p_values(only_a: np.ndarray | int, only_b: np.ndarray | int, test: McNemar = "exact") -> np.ndarray:
    """Two-sided p-values of "both are equally accurate" for many pairs at once; the counts broadcast.

    Args:
        only_a, only_b: On how many images only the one, and only the other, is right.

    >>> mcnemar_p_values(np.array([8, 5, 0]), np.array([2, 5, 0])).round(4).tolist()
    [0.1094, 1.0, 1.0]
    """
    from scipy.special import bdtr  # scipy.stats would take a second to import

    fewer, differing = np.minimum(only_a, only_b), np.add(only_a, only_b)
    tail = np.asarray(bdtr(fewer, differing, 0.5))
    if test == "mid-p":
        below = np.where(fewer > 0, bdtr(np.maximum(fewer - 1, 0), differing, 0.5), 0.0)
        tail = (tail + below) / 2
    return np.asarray(np.where(differing == 0, 1.0, np.minimum(2 * tail, 1.0)))


def paired_difference(counts: PairedCounts, *, level: float = 0.95) -> Estimate:
    """Accuracy of B minus accuracy of A on the same images, with Tango's score interval.

    Tango, Statistics in Medicine 17 (1998): all differences that the score test does not reject. It keeps its
    coverage where the usual formula fails: few images, few disagreements, none at all.

    >>> print(paired_difference(PairedCounts(both=80, only_a=2, only_b=8, neither=10)))
    0.0600 [-0.0024, 0.1336]  n=100
    """
    from scipy.optimize import brentq
    from scipy.special import ndtri

    n, b, c = counts.n, counts.only_b, counts.only_a
    if n == 0:
        raise OodometerError("no images in common: the difference is undefined")
    check_level(level)
    z = float(ndtri((1 + level) / 2))
    difference = (b - c) / n
    edge = 1 - 1e-12

    def excess(delta: float, sign: float) -> float:
        return _score(delta, n, b, c) - sign * z

    low = -1.0 if excess(-edge, 1) <= 0 else brentq(excess, -edge, max(difference, -edge), args=(1,), xtol=1e-12)
    high = 1.0 if excess(edge, -1) >= 0 else brentq(excess, min(difference, edge), edge, args=(-1,), xtol=1e-12)
    return Estimate(difference, float(low), float(high), n, f"tango score {100 * level:g}%")


def mean_paired_difference(mean: float, sd: float, n: int, *, level: float = 0.95) -> Estimate:
    """The mean of the images' own differences, each in [-1, 1], with the interval of the paired t test.

    Where no image differs at all, the t interval would have no width: it is Tango's for no disagreement then, which is
    the wider the fewer images there are. Where all differ by the same, nothing is known of their spread.

    Args:
        mean, sd: Of the differences, one for each image: its answers under several conditions are averaged first.

    >>> print(mean_paired_difference(-0.02, 0.2, 400))
    -0.0200 [-0.0397, -0.0003]  n=400
    """
    from scipy.special import stdtrit

    check_level(level)
    if sd == 0:
        if mean:
            return Estimate(mean, None, None, n, "none: all differences are equal")
        return paired_difference(PairedCounts(n, 0, 0, 0), level=level)
    half = float(stdtrit(n - 1, (1 + level) / 2)) * sd / np.sqrt(n)
    return Estimate(mean, float(max(mean - half, -1.0)), float(min(mean + half, 1.0)), n, f"paired t {100 * level:g}%")


def mean_paired_p(mean: float, sd: float, n: int) -> float:
    """The two-sided p-value of the paired t test; NaN where all differences are equal, but not 0.

    >>> round(mean_paired_p(-0.02, 0.2, 400), 4)
    0.0462
    """
    from scipy.special import stdtr

    if sd == 0:
        return 1.0 if mean == 0 else float("nan")
    return float(2 * stdtr(n - 1, -abs(mean) / (sd / np.sqrt(n))))


def error_consistency_of(counts: PairedCounts, *, resampling: Resampling = DEFAULT) -> Estimate | None:
    """Cohen's kappa on being right, with the interval of the bootstrap over images; None where it is undefined.

    Images are of four kinds, so that resampling them is drawing the four counts: no image is needed.

    >>> print(error_consistency_of(PairedCounts(both=70, only_a=8, only_b=2, neither=20)))
    0.7346 [0.5702, 0.8824]  n=100
    """
    # In an order of their own, so that A and B have the interval of B and A.
    less, more = sorted((counts.only_a, counts.only_b))
    observed = np.array([[counts.both, less, more, counts.neither]])
    value = float(_kappa(observed)[0])
    if np.isnan(value):  # both models always right, or both always wrong
        return None
    rng = rng_for("bootstrap of four counts", seed=resampling.seed)
    draws = rng.multinomial(counts.n, observed[0] / counts.n, size=resampling.draws)
    drawn = _kappa(draws)
    if np.isnan(drawn).mean() > MOST_UNDEFINED:
        return Estimate(value, None, None, counts.n, "none: too few images for a bootstrap")
    percentile = Resampling(resampling.draws, resampling.level, seed=resampling.seed)
    return interval_of(drawn, value, n=counts.n, resampling=percentile)


def _kappa(counts: np.ndarray) -> np.ndarray:
    """Kappa of each row of both, only A, only B, neither, (D, 4) -> (D,); NaN where it is 0 / 0."""
    both, only_a, only_b, neither = (counts / counts.sum(axis=1, keepdims=True)).T
    right_a, right_b = both + only_a, both + only_b
    expected = right_a * right_b + (1 - right_a) * (1 - right_b)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(expected < 1, (both + neither - expected) / (1 - expected), np.nan))


def _score(delta: float, n: int, b: int, c: int) -> float:
    """The score statistic of the hypothesis that the difference is ``delta``; it falls with ``delta``."""
    # The share of "only A right" under the hypothesis: the positive root of Tango's quadratic.
    linear = -b - c + (2 * n - b + c) * delta
    constant = -c * delta * (1 - delta)
    share = (np.sqrt(max(linear * linear - 8 * n * constant, 0.0)) - linear) / (4 * n)
    variance = n * (2 * share + delta * (1 - delta))
    distance = b - c - n * delta
    if variance <= 0:
        return 0.0 if distance == 0 else float(np.sign(distance)) * np.inf
    return float(distance / np.sqrt(variance))
