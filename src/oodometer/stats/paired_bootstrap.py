"""Models on the same resampled images, or on the same resampled classes: differences with intervals and p-values.

In each draw all models are judged on the same images, so that what makes an image hard for all of them cancels out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from oodometer.core.errors import OodometerError
from oodometer.core.estimate import Estimate
from oodometer.stats.bootstrap import DEFAULT, Resampling, draws_of_means, interval_of, stretch

STEPS = 30
"""Halvings of where a p-value may lie."""


@dataclass(frozen=True)
class PairedBootstrap:
    """Resampled accuracies of several models.

    Args:
        right: Whether each model is right on each image, or the share of conditions in which it is, (M, N).
        clusters: The class, video... of each image, (N,): whole clusters are resampled; None: single images.
    """

    right: np.ndarray
    clusters: np.ndarray | None = None
    resampling: Resampling = DEFAULT

    def __post_init__(self) -> None:
        if self.right.ndim != 2 or self.right.shape[1] == 0:
            raise OodometerError(f"answers of shape {self.right.shape}: expected a row of images for each model")

    @cached_property
    def draws(self) -> np.ndarray:
        """The accuracy of each model in each resample, (D, M)."""
        return draws_of_means(self.right.T, resampling=self.resampling, clusters=self.clusters)

    @cached_property
    def groups(self) -> int | None:
        """How many clusters are resampled; None: single images are."""
        return None if self.clusters is None else len(np.unique(self.clusters))

    def difference(self, a: int, b: int) -> Estimate:
        """The accuracy of the model at place b minus that at place a."""
        name = "paired bootstrap" if self.clusters is None else "paired bootstrap of clusters"
        return interval_of(
            self.draws[:, b] - self.draws[:, a],
            self._value(a, b),
            n=self.right.shape[1],
            resampling=self.resampling,
            name=name,
            groups=self.groups,
            bounds=(-1.0, 1.0),
        )

    def p_value(self, a: int, b: int) -> float:
        """Two-sided, of "both are equally accurate": the level at which the interval would just reach 0.

        NaN where all draws are equal though the two differ: then nothing is known of the spread.
        """
        draws, value = self.draws[:, b] - self.draws[:, a], self._value(a, b)
        if np.ptp(draws) <= 1e-12:
            return 1.0 if abs(value) <= 1e-12 else float("nan")
        return p_of_draws(draws, value, groups=self.groups)

    def _value(self, a: int, b: int) -> float:
        return float(np.subtract(self.right[b], self.right[a], dtype=np.float64).mean())


def p_of_draws(draws: np.ndarray, value: float, *, groups: int | None = None) -> float:
    """The level, 1 - p, at which the percentile interval just reaches 0; never below what so many draws can tell.

    Args:
        groups: How many clusters were resampled, if any: the interval of each level is stretched as `interval_of` does.

    >>> p_of_draws(np.arange(-4.0, 996.0), 496.0)
    0.01
    """
    above = np.sort(draws if value >= 0 else -draws)
    value, least = abs(value), 1 / len(draws)
    if groups is None:
        return float(min(2 * max(np.searchsorted(above, 0.0, side="right") * least, least), 1.0))

    def excludes(tail: float) -> bool:
        low = value + (float(np.quantile(above, tail)) - value) * stretch(groups, tail)
        return low > 0

    low, high = np.log(least), np.log(0.5)
    if excludes(least):
        return 2 * least
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if excludes(float(np.exp(middle))) else (middle, high)
    return float(min(2 * np.exp(high), 1.0))
