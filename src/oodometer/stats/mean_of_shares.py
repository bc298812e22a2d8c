"""The plain mean of several shares of images, some of which may be shares of the same images."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from oodometer.core.errors import OodometerError
from oodometer.core.estimate import Estimate
from oodometer.stats.intervals import weighted_share_of


@dataclass(frozen=True, eq=False)
class Answers:
    """Which images were answered rightly.

    Args:
        ids: Of the images, (N,).
        right: Whether, or in what share of several conditions, (N,).
    """

    ids: np.ndarray
    right: np.ndarray


def mean_of_shares(several: Sequence[Answers], *, level: float = 0.95) -> Estimate:
    """The plain mean of the shares of right answers, each over its own images.

    The interval is Korn and Graubard's, over images: those behind several shares count as one draw each. As many equal
    images stand for them as would give the same variance, by linearisation; of one share it is Clopper and Pearson's.
    What else was drawn (the seed that a network was trained with) is not in it.

    >>> ids = np.arange(4)
    >>> once = Answers(ids, np.array([True, True, True, False]))
    >>> print(mean_of_shares([once]))
    0.7500 [0.1941, 0.9937]  n=4
    >>> mean_of_shares([once, once]) == mean_of_shares([once])
    True
    """
    return _Mean.of(several).estimate(level)


def mean_of_differences(standard: Sequence[Answers], shifted: Sequence[Answers], *, level: float = 0.95) -> Estimate:
    """The mean share on the standard images minus that on the shifted ones.

    The interval is put together from those of the two means (Zou and Donner, Statistics in Medicine 27, 2008), with
    their correlation where images are behind both. Without one it is Newcombe's way.
    """
    a, b = _Mean.of(standard), _Mean.of(shifted)
    first, second = a.estimate(level), b.estimate(level)
    rho = _correlation(a, b)
    value = first.value - second.value
    low = value - _apart(first.value - _end(first.low), _end(second.high) - second.value, rho)
    high = value + _apart(_end(first.high) - first.value, second.value - _end(second.low), rho)
    return Estimate(value, max(low, -1.0), min(high, 1.0), second.n, f"newcombe of korn-graubard {100 * level:g}%")


@dataclass(frozen=True, eq=False)
class _Mean:
    """A mean of shares, and what each image adds to its error: the variance is the sum of their squares."""

    value: float
    parts: dict[str, float]
    smallest: int
    n_answers: int

    @classmethod
    def of(cls, several: Sequence[Answers]) -> _Mean:
        if not several or any(len(answers.ids) == 0 for answers in several):
            raise OodometerError("no images: the mean of the shares is undefined")
        parts: dict[str, float] = {}
        for answers in several:
            right = answers.right.astype(np.float64)
            errors = (right - right.mean()) / (len(right) * len(several))
            for image, error in zip(answers.ids.tolist(), errors.tolist(), strict=True):
                parts[image] = parts.get(image, 0.0) + error
        sizes = [len(answers.ids) for answers in several]
        value = float(np.mean([answers.right.mean() for answers in several]))
        return cls(value, parts, min(sizes), sum(sizes))

    @property
    def variance(self) -> float:
        return math.fsum(part * part for part in self.parts.values())

    def estimate(self, level: float) -> Estimate:
        return weighted_share_of(self.value, self._effective, n=len(self.parts), level=level)

    @property
    def _effective(self) -> float:
        """So many equal images tell a share as well; where none differs from the others, as many as the fewest."""
        variance = self.variance
        if variance <= 1e-15 / self.n_answers:
            return float(self.smallest)
        return min(self.value * (1 - self.value) / variance, float(self.n_answers))


def _correlation(a: _Mean, b: _Mean) -> float:
    together = math.fsum(a.parts[image] * b.parts[image] for image in a.parts.keys() & b.parts.keys())
    spread = math.sqrt(a.variance * b.variance)
    return 0.0 if spread == 0 else max(-1.0, min(1.0, together / spread))


def _apart(first: float, second: float, rho: float) -> float:
    return math.sqrt(max(first * first + second * second - 2 * rho * first * second, 0.0))


def _end(bound: float | None) -> float:
    assert bound is not None  # a share of one or more images has an interval
    return bound
