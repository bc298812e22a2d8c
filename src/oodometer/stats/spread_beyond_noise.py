"""How far several estimates lie from nought, beyond what their errors explain."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from oodometer.core.errors import OodometerError
from oodometer.core.estimate import Estimate


@dataclass(frozen=True)
class Spread:
    """The root mean square of M true values.

    Args:
        square: Their mean square; below nought where the errors explain more than there is.
        error: Its standard error, the errors of all estimates taken as moving together.
        n: M.
    """

    square: float
    error: float
    n: int

    @property
    def value(self) -> float:
        """The root mean square."""
        return float(np.sqrt(max(self.square, 0.0)))

    def estimate(self, level: float = 0.95) -> Estimate:
        """The root mean square with its interval."""
        from scipy.special import ndtri

        half = float(ndtri((1 + level) / 2)) * self.error
        low, high = (float(np.sqrt(max(end, 0.0))) for end in (self.square - half, self.square + half))
        return Estimate(self.value, low, high, self.n, f"normal for the mean square {100 * level:g}%")

    def p_value(self, expected: float) -> float:
        """Two-sided, of "the root mean square is as expected"."""
        from scipy.special import ndtr

        if self.error == 0:
            return float(self.square == expected**2)
        return float(2 * ndtr(-abs(self.square - expected**2) / self.error))


def spread_beyond_noise(values: np.ndarray, errors: np.ndarray) -> Spread:
    """The root mean square of what was estimated, without what the errors of the estimates add to it.

    An estimate with the standard error s has a mean square of s² around nought even if it is of nought; that is taken
    off. Its square varies with 4 v² s² + 2 s⁴, and since the estimates share images and a line, their deviations are
    added up rather than their variances: wide enough however they move together.

    Args:
        values: (M,).
        errors: Their standard errors, (M,).

    >>> print(spread_beyond_noise(np.array([0.05, -0.04, 0.03]), np.array([0.01, 0.01, 0.01])).estimate())
    0.0396 [0.0050, 0.0558]  n=3
    """
    if len(values) == 0:
        raise OodometerError("no models: their spread is undefined")
    variances = np.asarray(errors, dtype=np.float64) ** 2
    squares = np.asarray(values, dtype=np.float64) ** 2
    # Of the true square the estimate is too high by s²; the deviation is that of the corrected one.
    true_squares = np.maximum(squares - variances, 0.0)
    deviations = np.sqrt(4 * true_squares * variances + 2 * variances**2)
    return Spread(float((squares - variances).mean()), float(deviations.mean()), len(squares))
