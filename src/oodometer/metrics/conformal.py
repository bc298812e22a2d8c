"""Conformal prediction: sets of classes that hold the true one as often as was promised, where nothing has shifted.

Split conformal prediction (Vovk et al. 2005; Papadopoulos et al. 2002): each image of a calibration set gets a score
that says how little its true class fits; the threshold is the one below which nearly all of them lie; a set holds the
classes whose score is not above it. Of new images like those of the calibration set at least 1 − α have their class in
it, whatever the model; of shifted ones nobody knows before looking.
"""

from __future__ import annotations

import math

import numpy as np

from oodometer.core.errors import OodometerError, UsageError
from oodometer.metrics.probabilities import log_probabilities

ALPHA = 0.1
"""The share of images that may have their class outside: sets that promise 90 %."""


def conformal_threshold(scores: np.ndarray, *, alpha: float = ALPHA) -> float:
    """The ⌈(n + 1)(1 − α)⌉-th smallest score of the calibration images.

    >>> conformal_threshold(np.arange(1.0, 20.0))  # the 18th of 19
    18.0
    """
    scores = np.asarray(scores, np.float64)
    if scores.ndim != 1 or np.isnan(scores).any():
        raise OodometerError(f"scores of shape {scores.shape}, or some NaN: must be one for each calibration image")
    place, n = place_of_threshold(len(scores), alpha), len(scores)
    if place > n:
        fewest = math.ceil(1 / alpha - 1 - 1e-9)
        raise OodometerError(
            f"{n} calibration images: to promise {100 * (1 - alpha):g} % takes {fewest} or more, or a larger alpha"
        )
    return float(np.partition(scores, place - 1)[place - 1])


def place_of_threshold(n: int, alpha: float) -> int:
    """Which of n sorted scores, counted from 1, is the threshold; n + 1: none is large enough.

    >>> place_of_threshold(999, 0.1), place_of_threshold(8, 0.1)
    (900, 9)
    """
    check_alpha(alpha)
    return math.ceil((n + 1) * (1 - alpha) - 1e-9)


def check_alpha(alpha: float) -> None:
    """An error unless it is a share that may be missed."""
    if not 0 < alpha < 1:
        raise UsageError(f"alpha {alpha}: must lie between 0 and 1, for example 0.1 for sets that promise 90 %")


def coverage_by_chance(n: int, *, alpha: float = ALPHA, level: float = 0.95) -> tuple[float, float]:
    """Between which coverages of unshifted images a threshold from n calibration images lies, by chance of which.

    The coverage of a threshold that is the k-th of n scores is distributed as Beta(k, n + 1 − k) where no two scores
    are equal.

    >>> low, high = coverage_by_chance(1000)
    >>> round(low, 3), round(high, 3)
    (0.881, 0.918)
    """
    from scipy.special import betaincinv

    place = place_of_threshold(n, alpha)
    if place > n:
        return 1.0, 1.0
    low, high = betaincinv(place, n + 1 - place, np.array([(1 - level) / 2, (1 + level) / 2]))
    return float(low), float(high)


def least_likely_scores(label_log_probability: np.ndarray) -> np.ndarray:
    """THR: the less likely the true class, the higher, (N,): −log p, of which the sets are those of 1 − p.

    >>> least_likely_scores(np.log([0.5, 0.25])).round(4)
    array([0.6931, 1.3863])
    """
    return -np.asarray(label_log_probability, np.float64)


def least_likely_sizes(logits: np.ndarray, threshold: float) -> np.ndarray:
    """How many classes have a score of at most the threshold, (N, K) -> (N,); it may be none.

    >>> least_likely_sizes(np.log([[0.7, 0.2, 0.1], [0.4, 0.3, 0.3]]), -np.log(0.2) + 1e-9).tolist()
    [2, 3]
    """
    found = [(-some <= threshold).sum(axis=1) for some in log_probabilities(logits)]
    return np.concatenate(found)


def adaptive_scores(logits: np.ndarray, labels: np.ndarray, uniform: np.ndarray) -> np.ndarray:
    """APS: the probability of all classes before the true one, and a random part of its own, (N,) (Romano et al. 2020).

    Args:
        uniform: Which part of its own, a random number of each image between 0 and 1, (N,).

    >>> adaptive_scores(np.log([[0.5, 0.3, 0.2]]), np.array([1]), np.array([0.5])).round(4)
    array([0.65])
    """
    labels, found, start = np.asarray(labels), [], 0
    for some in log_probabilities(logits):
        part = slice(start, start + len(some))
        p, its = np.exp(some), labels[part, None]
        of_label = np.take_along_axis(p, its, axis=1)
        # Of equals the first class stands before the others, as everywhere.
        before = (p > of_label) | ((p == of_label) & (np.arange(p.shape[1]) < its))
        found.append((p * before).sum(axis=1) + uniform[part] * of_label[:, 0])
        start = part.stop
    return np.concatenate(found)


def adaptive_sizes(logits: np.ndarray, threshold: float, uniform: np.ndarray) -> np.ndarray:
    """How many classes have an adaptive score of at most the threshold, (N, K) -> (N,); it may be none.

    >>> adaptive_sizes(np.log([[0.5, 0.3, 0.2]]), 0.7, np.array([0.5])).tolist()
    [2]
    """
    found, start = [], 0
    for some in log_probabilities(logits):
        best_first = np.exp(np.sort(some, axis=1)[:, ::-1])
        scores = np.cumsum(best_first, axis=1)
        scores += (uniform[start : start + len(some), None] - 1) * best_first
        found.append((scores <= threshold).sum(axis=1))
        start += len(some)
    return np.concatenate(found)
