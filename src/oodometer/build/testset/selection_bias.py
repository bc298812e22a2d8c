"""What people would say of chosen images if they were asked anew: frequencies without the luck they were chosen for.

A selection frequency of ten answers is a noisy one, and who chooses by it chooses noise along. Among candidates that
few people would recognise, those of a high frequency owe it to luck more often than those among original images, which
are mostly recognised: matching the measured frequencies makes a set that is harder than it looks (Engstrom et al. 2020,
"Identifying statistical bias in dataset replication"). Half of the answers to choose by and the other half to measure
by won't do: what five answers would have chosen is another set.

So the frequencies of the whole pool of candidates, chosen or not, say how luck and recognisability mix. Of each class
the true frequencies are taken as Beta-distributed, but for a share of candidates that don't show the class at all and
have low ones. Which shares and Beta distributions classes have is found by maximum likelihood over all classes, on a
grid (a compound Beta-binomial model, fitted by EM); then each image has a posterior distribution by its own answers and
the images of its class, and these are what is averaged over the chosen ones. The choice may have been by the same
answers: a posterior distribution does not depend on why one looks at an image.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from oodometer.core.errors import DataError
from oodometer.core.estimate import Estimate
from oodometer.stats.intervals import check_level

MEANS = np.linspace(0.04, 0.96, 24)
SIZES = np.geomspace(0.5, 48, 12)
SHARES = np.array([0.0, 0.15, 0.3, 0.45, 0.6, 0.75])
"""The grid: means of Beta distributions, sums of their two parameters, and shares of what does not show the class."""

WRONG = 1.0, 9.0
"""The Beta distribution of the frequencies of what does not show the class."""

ROUNDS = 200
EVEN = 1.0
"""So many classes' worth of evenness is mixed into what classes are like, lest a few classes look all too certain."""


@dataclass(frozen=True, eq=False)
class PoolAnswers:
    """What was answered about candidates, chosen or not.

    Args:
        classes: Of each, by number, (N,).
        n_selected: How many people selected it, (N,).
        n_answers: Of how many that were asked, (N,).
    """

    classes: np.ndarray
    n_selected: np.ndarray
    n_answers: np.ndarray


def mean_without_selection(pool: PoolAnswers, chosen: np.ndarray, *, level: float = 0.95) -> Estimate:
    """The mean of what the chosen images' frequencies would be if ever more people were asked about them.

    Args:
        pool: All candidates that there was to choose from; those without answers count for nothing.
        chosen: Which of them are chosen, (N,) bool.

    >>> pool = PoolAnswers(np.zeros(60, dtype=int), np.arange(60) % 6, np.full(60, 5))
    >>> print(mean_without_selection(pool, pool.n_selected == 5))
    0.8480 [0.7712, 0.9249]  n=10
    """
    from scipy.special import ndtri

    check_level(level)
    asked = pool.n_answers > 0
    if not (chosen & asked).any():
        raise DataError("nobody was asked about any of the chosen images: they have no frequency to correct")
    mean, variance = _posterior(pool, asked, chosen & asked)
    half = float(ndtri((1 + level) / 2) * np.sqrt(variance))
    n = int((chosen & asked).sum())
    return Estimate(mean, max(mean - half, 0.0), min(mean + half, 1.0), n, f"beta-binomial {100 * level:g}%")


def _posterior(pool: PoolAnswers, asked: np.ndarray, chosen: np.ndarray) -> tuple[float, float]:
    """Mean and variance of the mean of the chosen images' true frequencies."""
    pairs, kind = np.unique(
        np.stack([pool.n_selected[asked], pool.n_answers[asked]], axis=1), axis=0, return_inverse=True
    )
    _, label = np.unique(pool.classes[asked], return_inverse=True)
    shape = int(label.max()) + 1, len(pairs)
    counts = _table(label, kind.reshape(-1), shape)
    wanted = _table(label[chosen[asked]], kind.reshape(-1)[chosen[asked]], shape)
    log_likelihood, mean, square = _of_kinds(pairs)
    weights = _weights(counts @ log_likelihood)
    means = wanted @ mean
    within = (weights * (wanted @ (square - mean**2))).sum()
    centre = (weights * means).sum(axis=1)
    between = (weights * (means - centre[:, None]) ** 2).sum()
    n = wanted.sum()
    return float(centre.sum() / n), float((within + between) / n**2)


def _table(label: np.ndarray, kind: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """How many images of each class and kind, (C, P)."""
    return np.bincount(label * shape[1] + kind, minlength=shape[0] * shape[1]).reshape(shape)


def _of_kinds(pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of so many selections in so many answers: how likely, and the first two posterior moments, (P, G) each."""
    means, sizes, share = (part.reshape(-1) for part in np.meshgrid(MEANS, SIZES, SHARES))
    right = _beta_binomial(pairs, means * sizes, (1 - means) * sizes)
    wrong = _beta_binomial(pairs, *(np.array([part]) for part in WRONG))
    likely = share * wrong[0], (1 - share) * right[0]
    total = likely[0] + likely[1]
    mean, square = (
        (likely[0] * of_wrong + likely[1] * of_right) / total
        for of_wrong, of_right in zip(wrong[1:], right[1:], strict=True)
    )
    return np.log(total), mean, square


def _beta_binomial(pairs: np.ndarray, first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, ...]:
    """The likelihood, but for what all Beta distributions share, and the first two moments of the posterior."""
    from scipy.special import betaln

    a, b = first + pairs[:, :1], second + (pairs[:, 1:] - pairs[:, :1])
    mean = a / (a + b)
    return np.exp(betaln(a, b) - betaln(first, second)), mean, mean * (a + 1) / (a + b + 1)


def _weights(log_likelihood: np.ndarray) -> np.ndarray:
    """How probable each place of the grid is for each class, (C, G), by its own images and the other classes."""
    n_classes, n_places = log_likelihood.shape
    likelihood = np.exp(log_likelihood - log_likelihood.max(axis=1, keepdims=True))
    common = np.full(n_places, 1 / n_places)
    weights: np.ndarray = likelihood
    for _ in range(ROUNDS):
        joint = likelihood * common
        weights = joint / joint.sum(axis=1, keepdims=True)
        common = (weights.sum(axis=0) + EVEN / n_places) / (n_classes + EVEN)
    return weights
