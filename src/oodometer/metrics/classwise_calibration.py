"""Classwise calibration error: of the probability of every class, not of the answer alone.

A model may be as sure of its answers as it is right, and yet say 30 % of a class that is there in 10 %. For each class
its probabilities are put into bins, as confidences are for the expected calibration error; the number is the mean over
the classes. The interval inverts the same test as that of errors in bins of confidence (``calibration_interval``), with
two differences: most bins hold less than a handful of images of their class, so what chance adds is that of counts; and
an image has one class, so the gaps of classes move together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from oodometer.core.errors import OodometerError
from oodometer.core.estimate import Estimate
from oodometer.metrics.calibration_error import norm_of
from oodometer.metrics.calibration_interval import (
    FEWEST_IMAGES,
    LARGEST,
    Cumulants,
    cumulants_of,
    design_effect,
    estimate_between,
    quantile_of,
    rises_to_zero,
)
from oodometer.metrics.reliability import DEFAULT_BINS, check_bins

BLOCK = 1 << 21
"""Probabilities worked on at once."""

MOST_SKEWED = 4.0
"""Skewness beyond which the formulas have left the error of some bins."""

FEW = 30.0
"""Variance of a count, below which it is not taken as normal."""


class ClassBins(NamedTuple):
    """The bins of all classes that hold a probability, (B,) each.

    Args:
        sizes: Probabilities in each bin.
        sums: Their sum, the images of the class that are expected.
        rights: Images of the class among them.
        number: Of the bin in its class, from 0 for the least likely.
        together: By how much the error varies more than if classes were independent, as variances.
        n_probabilities: Images times classes.
    """

    sizes: np.ndarray
    sums: np.ndarray
    rights: np.ndarray
    number: np.ndarray
    together: float
    n_probabilities: int


def classwise_calibration_error(probabilities: np.ndarray, labels: np.ndarray, *, bins: int = DEFAULT_BINS) -> float:
    """The mean over classes k of Σ_b n_b/N |mean of p_k − share of class k| in 15 bins of p_k of equal width.

    Kull et al. 2019; the static calibration error of Nixon et al. 2019. (N, K) and (N,).

    >>> p = np.array([[0.6, 0.4]] * 10)
    >>> round(classwise_calibration_error(p, np.repeat([0, 1], [9, 1])), 6)
    0.3
    """
    return error_of_classes(class_bins(probabilities, labels, bins=bins))


def classwise_calibration_estimate(
    probabilities: np.ndarray,
    labels: np.ndarray,
    *,
    bins: int = DEFAULT_BINS,
    level: float = 0.95,
    clusters: np.ndarray | None = None,
) -> Estimate:
    """The classwise calibration error with its interval; without one, why there is none.

    Args:
        clusters: The video... of each image, where images of a group are not independent.
    """
    found, n = class_bins(probabilities, labels, bins=bins, clusters=clusters), len(labels)
    value = error_of_classes(found)
    if n < FEWEST_IMAGES:
        return Estimate(value, None, None, n, f"none: fewer than {FEWEST_IMAGES} images")
    ends = classwise_calibration_interval(found, level=level)
    return estimate_between(value, ends, n=n, level=level, clustered=clusters is not None)


def error_of_classes(found: ClassBins) -> float:
    """The error in these bins."""
    return float(np.abs(found.sums - found.rights).sum() / found.n_probabilities)


def class_bins(
    probabilities: np.ndarray, labels: np.ndarray, *, bins: int = DEFAULT_BINS, clusters: np.ndarray | None = None
) -> ClassBins:
    """The bins of all classes, (N, K) probabilities and (N,) labels."""
    probabilities, labels = _checked(probabilities, labels)
    check_bins(bins)
    n, k = probabilities.shape
    sizes, sums, rights = np.zeros(k * bins), np.zeros(k * bins), np.zeros(k * bins)
    for part, p in _blocks(probabilities):
        which = _bins_of(p, bins)
        sizes += np.bincount(which.ravel(), minlength=k * bins)
        sums += np.bincount(which.ravel(), weights=p.ravel(), minlength=k * bins)
        rights += np.bincount(which[np.arange(len(p)), labels[part]], minlength=k * bins)
    together = _together(probabilities, labels, np.sign(sums - rights), bins, clusters)
    some = sizes > 0
    return ClassBins(sizes[some], sums[some], rights[some], np.flatnonzero(some) % bins, together, n * k)


def classwise_calibration_interval(found: ClassBins, *, level: float = 0.95) -> tuple[float, float]:
    """Between which values the true error lies: that of all images there are, in these bins.

    How a true error is divided among the bins is not known: as the gaps seen are, as the noise of each bin, and as the
    gaps of all classes together are in bins of the same probabilities; the interval holds all three answers.
    """
    value, tail = error_of_classes(found), (1 - level) / 2
    confidence, gaps = found.sums / found.sizes, (found.sums - found.rights) / found.sizes
    weights = found.sizes / found.n_probabilities
    noise = np.where(gaps < 0, -1.0, 1.0) * np.sqrt(confidence * (1 - confidence) / found.sizes)
    of_all = (
        np.bincount(found.number, found.sums - found.rights) / np.maximum(np.bincount(found.number, found.sizes), 1)
    )[found.number]
    lows, highs = [value], [value]
    usual = max(value, float(quantile_of(_seen_under(found, np.zeros_like(gaps)), 0.5)))
    for shape in (gaps, noise, of_all):
        size = float(norm_of(weights, shape, "l1"))
        if size == 0:
            continue

        def gaps_at(times: float, shape: np.ndarray = shape / size) -> np.ndarray:
            return np.asarray(confidence - np.clip(confidence - times * shape, 0.0, 1.0))

        for ends, seen, share in ((lows, value, 1 - tail), (highs, usual, tail)):

            def beyond(
                times: float, gaps_at: Callable[[float], np.ndarray] = gaps_at, seen: float = seen, share: float = share
            ) -> float:
                return float(quantile_of(_seen_under(found, gaps_at(times)), share)) - seen

            times = rises_to_zero(beyond, value)
            # Where no error of this shape explains what was seen, it says nothing about the least that does.
            if times <= LARGEST or ends is highs:
                ends.append(float(norm_of(weights, gaps_at(times), "l1")))
    return min(lows), max(highs)


def _seen_under(found: ClassBins, gaps: np.ndarray) -> Cumulants:
    """Of the error that would be seen under these true gaps of the bins."""
    sizes, accuracy = found.sizes, found.sums / found.sizes - gaps
    variance = accuracy * (1 - accuracy) / sizes
    weights = sizes / found.n_probabilities
    # A count that can't vary is none; a hair keeps the formulas of the normal distribution from dividing by 0.
    normal = cumulants_of(weights, gaps, np.maximum(variance, 1e-18), "l1")
    few = np.flatnonzero(sizes**2 * variance < FEW)
    if not len(few):
        return _with_some_variance(*normal, found.together)
    exact = mean_distance(sizes[few], accuracy[few], found.sums[few]) / sizes[few]
    as_normal = cumulants_of(weights[few], gaps[few], np.maximum(variance[few], 1e-18), "l1")
    spread = variance[few] + np.square(gaps[few]) - np.square(exact)
    mean = normal.mean - as_normal.mean + weights[few] @ exact
    variance_of_all = normal.variance - as_normal.variance + np.square(weights[few]) @ spread
    return _with_some_variance(mean, variance_of_all, normal.third, found.together)


def _with_some_variance(mean: np.ndarray, variance: np.ndarray, third: np.ndarray, together: float) -> Cumulants:
    """Of an error whose parts vary together; where accuracies are 0 or 1 in all bins it varies by a hair."""
    variance = np.maximum(variance * together, 1e-18)
    return Cumulants(mean, variance, np.minimum(third, MOST_SKEWED * variance**1.5))


def mean_distance(n: np.ndarray, share: np.ndarray, place: np.ndarray) -> np.ndarray:
    """How far a binomial count of n is from a place, on average, (B,).

    >>> mean_distance(np.array([2.0]), np.array([0.5]), np.array([1.0]))  # 0, 1 or 2, of which 1 in half of all cases
    array([0.5])
    """
    mean, whole = n * share, np.floor(np.minimum(place, n))
    # E(place − X)⁺ = place P(X ≤ place) − n p P(X' ≤ place − 1), X' binomial of n − 1.
    below = place * _at_most(whole, n, share) - mean * _at_most(whole - 1, n - 1, share)
    return np.asarray(2 * below + mean - place)


def _at_most(whole: np.ndarray, n: np.ndarray, share: np.ndarray) -> np.ndarray:
    """How often a binomial count of n is at most this whole number, (B,)."""
    from scipy.special import betainc

    inside = (whole >= 0) & (whole < n)
    found = betainc(np.where(inside, n - whole, 1.0), np.where(inside, whole + 1, 1.0), 1 - share)
    return np.asarray(np.where(inside, found, whole >= n))


def _together(
    probabilities: np.ndarray, labels: np.ndarray, signs: np.ndarray, bins: int, clusters: np.ndarray | None
) -> float:
    """By how much the sum of the gaps' sizes varies more than that of independent counts, as variances.

    A label moves the sum by Σ_k sign_k (p_k − y_k): with probabilities p the variance of that is 1 − (Σ_k sign_k p_k)²,
    where independent classes had Σ_k p_k (1 − p_k).
    """
    n = len(probabilities)
    joint, apart, moves = 0.0, 0.0, np.empty(n)
    for part, p in _blocks(probabilities):
        sign = signs[_bins_of(p, bins)]
        expected = (sign * p).sum(axis=1)
        joint += float(np.sum(1 - expected**2))
        apart += float(np.sum(p.sum(axis=1) - (p * p).sum(axis=1)))
        moves[part] = expected - sign[np.arange(len(p)), labels[part]]
    ratio = joint / apart if apart > 0 else 1.0
    return ratio if clusters is None else ratio * design_effect(moves, np.zeros(n), clusters)


def _bins_of(p: np.ndarray, bins: int) -> np.ndarray:
    """Of each probability the bin of its class, numbered over all classes, (N, K): (0, 1/15], (1/15, 2/15], ..."""
    which = np.ceil(p * bins).astype(np.int64) - 1
    np.clip(which, 0, bins - 1, out=which)
    return np.asarray(which + bins * np.arange(p.shape[1]))


def _blocks(probabilities: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
    """Some rows at a time, and which they are."""
    step = max(BLOCK // probabilities.shape[1], 1)
    for start in range(0, len(probabilities), step):
        part = slice(start, min(start + step, len(probabilities)))
        yield part, probabilities[part].astype(np.float64)


def _checked(probabilities: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    probabilities, labels = np.asarray(probabilities), np.asarray(labels)
    if probabilities.ndim != 2 or labels.shape != probabilities.shape[:1]:
        raise OodometerError(f"probabilities {probabilities.shape}, labels {labels.shape}: must be (N, K) and (N,)")
    if probabilities.size == 0:
        raise OodometerError("no labelled images: nothing to calibrate")
    # NaN fails the comparisons too.
    if not (probabilities.min() >= 0 and probabilities.max() <= 1):
        raise OodometerError("a probability outside of [0, 1], or none: give the softmax of the logits")
    sums = probabilities.sum(axis=1, dtype=np.float64)
    if np.abs(sums - 1).max() > 1e-3:
        raise OodometerError(f"probabilities of an image that add up to {sums[np.argmax(np.abs(sums - 1))]:.4g}, not 1")
    if labels.min() < 0 or labels.max() >= probabilities.shape[1]:
        raise OodometerError(f"a label outside of 0..{probabilities.shape[1] - 1}: leave out images without a label")
    return probabilities, labels
