"""The mean of differences over pairs of models that were measured on the same images: two sources of doubt in one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from oodometer.core.errors import OodometerError
from oodometer.core.estimate import Estimate
from oodometer.stats.intervals import check_level


@dataclass(frozen=True)
class OverPairs:
    """The mean over K pairs.

    Args:
        value: The mean.
        error: Its standard error; ``freedom`` its degrees of freedom.
        pairs: K.
        n: The number of images.
    """

    value: float
    error: float
    freedom: float
    pairs: int
    n: int | None

    def estimate(self, level: float = 0.95) -> Estimate:
        """The mean with its interval by Student's t."""
        from scipy.special import stdtrit

        check_level(level)
        half = float(stdtrit(self.freedom, (1 + level) / 2)) * self.error
        of = "images" if self.pairs == 1 else "images and pairs"
        return Estimate(self.value, self.value - half, self.value + half, self.n, f"t over {of} {100 * level:g}%")

    def p_value(self, expected: float) -> float:
        """Two-sided, of "the mean is as expected"."""
        from scipy.special import stdtr

        if self.error == 0:
            return float(self.value == expected)
        return float(2 * stdtr(self.freedom, -abs(self.value - expected) / self.error))


def mean_over_pairs(values: np.ndarray, covariance: np.ndarray, n: int | None) -> OverPairs:
    """The mean of the pairs' values, for pairs like these and images like these.

    The variance of the mean is that over images, which all pairs share, and that between pairs, of which these are a
    sample: the spread of the values beyond what the images explain, over their number (the estimate of moments in
    meta-analysis, DerSimonian & Laird, Controlled Clinical Trials 7, 1986, here with the pairs' covariances). Few pairs
    know their spread badly; Welch and Satterthwaite's degrees of freedom carry that. One pair knows nothing of it, and
    its interval is over images alone.

    Args:
        values: One for each pair, (K,).
        covariance: Of the values over images, (K, K).
        n: The number of images; None where it is not known.

    >>> alike = mean_over_pairs(np.array([0.02, 0.03, 0.04]), 0.0001 * np.eye(3), 1000)
    >>> print(alike.estimate())
    0.0300 [0.0187, 0.0413]  n=1000
    >>> apart = mean_over_pairs(np.array([-0.1, 0.03, 0.16]), 0.0001 * np.eye(3), 1000)
    >>> print(apart.estimate())
    0.0300 [-0.2893, 0.3493]  n=1000
    """
    pairs = len(values)
    if pairs == 0:
        raise OodometerError("no pair of models: the mean is undefined")
    of_images = float(covariance.mean())
    freedom_of_images = float(max((n or np.inf) - 1, 1))
    if pairs == 1:
        return OverPairs(float(values[0]), np.sqrt(of_images), freedom_of_images, 1, n)
    own = float(np.trace(covariance)) / pairs
    shared = float(covariance.sum() - np.trace(covariance)) / (pairs * (pairs - 1))
    between = max(float(np.var(values, ddof=1)) - (own - shared), 0.0) / pairs
    total = of_images + between
    if total == 0:
        return OverPairs(float(values.mean()), 0.0, freedom_of_images, pairs, n)
    freedom = total**2 / (of_images**2 / freedom_of_images + between**2 / (pairs - 1))
    return OverPairs(float(values.mean()), float(np.sqrt(total)), freedom, pairs, n)
