"""Intervals of calibration errors, which a bootstrap gets wrong.

A calibration error adds up the sizes of the gaps between confidence and accuracy. Chance makes gaps where there are
none, so the number lies above the true one; a resample, which adds chance to chance, lies above the number, and a
percentile interval of a calibrated model never holds its true 0.

Here a true error is in the interval if the number seen would not surprise under it: if it is neither among the largest
nor among the smallest ``(1 - level) / 2`` of what would be seen. What would be seen follows from the gaps of the bins,
each normal with the variance of a share; the weighted sum of their sizes (or squares) is described by its mean,
variance and skewness. How the true error is divided among the bins is not known: once it is taken to be divided as the
gaps seen are, once in proportion to the noise of each bin, and the interval holds both answers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from oodometer.core.errors import OodometerError
from oodometer.core.estimate import Estimate
from oodometer.metrics.calibration_error import BINNINGS, IMAGES_PER_BIN, Bins, Norm, norm_of

FEWEST_IMAGES = 20
"""Below it, 15 bins hold about one image each, and a gap tells nothing about its bin."""

HALVINGS = 14
"""Of the range in which an end of the interval lies; in what is left of it, a straight line is drawn."""

CLOSE = 0.002
LARGEST = 64.0
"""To which share of it an end of an interval is searched, where that takes simulation or counting; and up to where."""

TOGETHER = 32
"""Intervals that are searched for at once: as many as fit into the processor's cache with 500 bins each."""


class Cumulants(NamedTuple):
    """Mean, variance and third central moment of what would be seen, (...) each."""

    mean: np.ndarray
    variance: np.ndarray
    third: np.ndarray


def calibration_estimate(
    name: str,
    confidence: np.ndarray,
    right: np.ndarray,
    *,
    value: float,
    level: float = 0.95,
    clusters: np.ndarray | None = None,
) -> Estimate:
    """A calibration error of `BINNINGS` by name with its interval; without one, why there is none.

    Args:
        value: The number.
        clusters: The video, class... of each image, where images of a group are not independent.
    """
    if why := why_no_interval(name, len(confidence)):
        return Estimate(value, None, None, len(confidence), f"none: {why}")
    bins_of, norm = BINNINGS[name]
    bins = bins_of(confidence, right)
    spread = 1.0 if clusters is None else design_effect(confidence, right, clusters)
    ends = calibration_interval(bins, norm, level=level, spread=spread)
    return estimate_between(value, ends, n=len(confidence), level=level, clustered=clusters is not None)


def why_no_interval(name: str, n: int) -> str:
    """Why the error of so many images has no interval; empty where it has one.

    >>> why_no_interval("ece", 10), why_no_interval("ece", 1000)
    ('fewer than 20 images', '')
    """
    if name.startswith("rms") and n < 2 * IMAGES_PER_BIN:
        return f"fewer than {2 * IMAGES_PER_BIN} images are one bin, the error of the mean confidence alone"
    return f"fewer than {FEWEST_IMAGES} images" if n < FEWEST_IMAGES else ""


def estimate_between(
    value: float, ends: tuple[float, float], *, n: int, level: float, clustered: bool = False
) -> Estimate:
    """The error with the interval that was found for it."""
    words = "inverted test with clusters" if clustered else "inverted test"
    return Estimate(value, min(ends[0], value), max(ends[1], value), n, f"{words} {100 * level:g}%")


def calibration_interval(bins: Bins, norm: Norm, *, level: float = 0.95, spread: float = 1.0) -> tuple[float, float]:
    """Between which values the true error lies: that of all images there are, in these bins.

    It always holds the number seen, and reaches down to 0 where a calibrated model would not surprise. A number that is
    small by luck does not make it short: its upper end is at least that of the number which a calibrated model stays
    below in half of all cases.

    Args:
        norm: ``l1``: the error is the sum of the gaps' sizes; ``l2``: the root of the sum of their squares.
        spread: By how much the gaps vary more than those of independent images do, as variances.

    >>> calibrated = Bins(np.array([500, 500]), np.array([300.0, 450.0]), np.array([310, 445]), 1000)
    >>> low, high = calibration_interval(calibrated, "l1")
    >>> low, round(high, 3)
    (0.0, 0.039)
    """
    return _intervals(_stacked([bins]), norm, level, spread)[0]


def calibration_intervals(many: Sequence[Bins], norm: Norm, *, level: float = 0.95) -> list[tuple[float, float]]:
    """The same of many models, to the last digit, in a fraction of the time."""
    intervals: dict[int, tuple[float, float]] = {}
    by_number: dict[int, list[int]] = {}
    for place, bins in enumerate(many):
        by_number.setdefault(len(bins.sizes), []).append(place)
    for places in by_number.values():
        for start in range(0, len(places), TOGETHER):
            some = places[start : start + TOGETHER]
            ends = _intervals(_stacked([many[place] for place in some]), norm, level, 1.0)
            intervals.update(zip(some, ends, strict=True))
    return [intervals[place] for place in range(len(many))]


def design_effect(confidence: np.ndarray, right: np.ndarray, clusters: np.ndarray) -> float:
    """By how much sums of confidence minus right vary more over these clusters than over independent images.

    >>> confidence, right = np.full(8, 0.5), np.repeat([True, False], 4)
    >>> design_effect(confidence, right, np.arange(8) // 2)  # pairs alike: twice the variance, times 4 / 3
    2.6666666666666665
    """
    gaps = confidence.astype(np.float64) - right
    gaps = gaps - gaps.mean()
    groups, codes = np.unique(clusters, return_inverse=True)
    if len(groups) < 2:
        raise OodometerError("all images are in one cluster: how far clusters differ needs two or more")
    total = float(gaps @ gaps)
    if total == 0:
        return 1.0
    sums = np.bincount(codes, weights=gaps)
    return max(1.0, float(sums @ sums) / total * len(groups) / (len(groups) - 1))


def _stacked(many: Sequence[Bins]) -> Bins:
    """Bins of several models, (C, B) each, as many of each; ``n`` is (C, 1)."""
    sizes, sums, rights = (np.stack([np.asarray(bins[at]) for bins in many]) for at in range(3))
    return Bins(sizes, sums, rights, np.array([[bins.n] for bins in many]))


def _intervals(bins: Bins, norm: Norm, level: float, spread: float) -> list[tuple[float, float]]:
    """The interval of each model of a stack."""
    value = norm_of(bins.weights, bins.gaps, norm)
    ends = _ends(bins, _shapes(bins, norm, spread), norm, level, spread)
    lows, highs = np.minimum(value, ends[..., 0].min(axis=1)), np.maximum(value, ends[..., 1].max(axis=1))
    return list(zip(lows.tolist(), highs.tolist(), strict=True))


def _shapes(bins: Bins, norm: Norm, spread: float) -> np.ndarray:
    """How a true error of 1 may be divided among the bins: as the gaps seen, and as their noise, (C, 2, B)."""
    side = np.where((bins.weights * bins.gaps).sum(axis=-1, keepdims=True) < 0, -1.0, 1.0)
    noise = side * np.sqrt(_variance(bins.sizes, bins.confidence, spread))
    seen = np.where(bins.gaps.any(axis=-1, keepdims=True), bins.gaps, noise)
    shapes = np.stack([seen, noise], axis=1)
    return np.asarray(shapes / norm_of(bins.weights[:, None], shapes, norm)[..., None])


def _ends(bins: Bins, shapes: np.ndarray, norm: Norm, level: float, spread: float) -> np.ndarray:
    """The least and the largest true error of each shape under which the number seen does not surprise, (C, 2, 2).

    Axes: model, shape, the lower and the upper end; within, a further one for the bins.
    """
    tail = (1 - level) / 2
    sizes, weights, confidence, shapes = (
        bins.sizes[:, None, None],
        bins.weights[:, None, None],
        bins.confidence[:, None, None],
        shapes[:, :, None],
    )

    def gaps_of(times: np.ndarray) -> np.ndarray:
        return np.asarray(confidence - np.clip(confidence - times[..., None] * shapes, 0.0, 1.0))

    def cumulants(times: np.ndarray) -> Cumulants:
        gaps = gaps_of(times)
        return cumulants_of(weights, gaps, _variance(sizes, confidence - gaps, spread), norm)

    seen = norm_of(weights, bins.gaps[:, None, None], norm)
    seen = seen**2 if norm == "l2" else seen
    usual = np.maximum(seen, quantile_of(cumulants(np.zeros(seen.shape)), 0.5))
    # Under a true error beyond this, less than the usual is never seen; twice, since accuracies end at 0 and 1.
    noise = (weights * np.sqrt(spread / sizes)).sum(axis=-1)
    reach = 2 * ((np.sqrt(usual) if norm == "l2" else usual) + 3 * noise)
    surprising, shares = np.concatenate(np.broadcast_arrays(seen, usual), axis=-1), np.array([1 - tail, tail])
    times = _falls_to_zero(lambda times: _share_below(cumulants(times), surprising) - shares, reach, shapes.shape[:2])
    return norm_of(weights, gaps_of(times), norm)


def _variance(sizes: np.ndarray, accuracy: np.ndarray, spread: float) -> np.ndarray:
    """Of the gap of bins of these sizes at these true accuracies, (..., B).

    Half a right and half a wrong answer are added, as in Jeffreys' interval: a bin without errors is not without doubt.
    """
    share = accuracy * (sizes / (sizes + 1)) + 0.5 / (sizes + 1)
    return np.asarray((share - np.square(share)) * (spread / sizes))


def cumulants_of(weights: np.ndarray, gaps: np.ndarray, variance: np.ndarray, norm: Norm) -> Cumulants:
    """Of the weighted sum of sizes (or squares) of normal gaps with these means and variances, (..., B) -> (...)."""
    from scipy.special import erf

    square = np.square(gaps)
    if norm == "l2":
        noise, both = weights * variance, weights * square
        both += noise  # noise and signal; sums of products need no room of their own
        squares = np.square(noise)
        return Cumulants(
            both.sum(axis=-1),
            4 * _dot(noise, both) - 2 * squares.sum(axis=-1),
            24 * _dot(squares, both) - 16 * _dot(squares, noise),
        )
    # The moments of a folded normal distribution.
    size = np.abs(gaps)
    at_zero = np.sqrt(2 * variance / np.pi) * np.exp(-square / (2 * variance))
    inside = erf(size / np.sqrt(2 * variance))
    first, second = at_zero + size * inside, square + variance
    third = size * (square + 3 * variance) * inside + (square + 2 * variance) * at_zero
    return Cumulants(
        (weights * first).sum(axis=-1),
        (weights**2 * (second - first**2)).sum(axis=-1),
        (weights**3 * (third - 3 * first * second + 2 * first**3)).sum(axis=-1),
    )


def _dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The sum of the products along the last axis, (..., B) -> (...)."""
    return np.asarray(np.einsum("...b,...b->...", a, b))


def _gamma_shape(cumulants: Cumulants) -> np.ndarray:
    """Of the gamma distribution with this skewness, which shifted and scaled has all three."""
    skewness = cumulants.third / cumulants.variance**1.5
    # Hardly skewed is normal, which a gamma distribution of a large shape is.
    return np.asarray(4 / np.maximum(skewness, 0.01) ** 2)


def _share_below(cumulants: Cumulants, seen: np.ndarray | float) -> np.ndarray:
    """How often less than this is seen, (...)."""
    from scipy.special import gammainc

    shape = _gamma_shape(cumulants)
    place = shape + (seen - cumulants.mean) * np.sqrt(shape / cumulants.variance)
    return np.asarray(gammainc(shape, np.maximum(place, 0.0)))


def quantile_of(cumulants: Cumulants, share: float) -> np.ndarray:
    """What this share of the sums stays below, (...)."""
    from scipy.special import gammaincinv

    shape = _gamma_shape(cumulants)
    return np.asarray(cumulants.mean + (gammaincinv(shape, share) - shape) * np.sqrt(cumulants.variance / shape))


def _falls_to_zero(fall: Callable[[np.ndarray], np.ndarray], reach: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Where falling functions are 0, (*shape, 2); 0 where they begin below it, ``reach`` where they stay above it."""
    low, high = np.zeros((*shape, 2)), np.broadcast_to(reach, (*shape, 2))
    above, below = fall(low), fall(high)
    begins_below, stays_above = above <= 0, below > 0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        there = fall(middle)
        is_above = there > 0
        low, high = np.where(is_above, middle, low), np.where(is_above, high, middle)
        above, below = np.where(is_above, there, above), np.where(is_above, below, there)
    sought = begins_below | stays_above
    drop = np.where(sought, 1.0, above - below)
    between = low + (high - low) * np.where(sought, 0.0, above) / drop
    return np.where(begins_below, 0.0, np.where(stays_above, reach, between))


def rises_to_zero(rise: Callable[[float], float], start: float) -> float:
    """Where a rising function is 0; 0 where it begins above it, more than `LARGEST` where it stays below it.

    Args:
        start: Of its argument, the size that is tried first.

    >>> round(rises_to_zero(lambda times: times**2 - 4, 0.1), 2)
    2.0
    """
    from scipy.optimize import brentq

    if rise(0.0) >= 0:
        return 0.0
    low, high = 0.0, max(start, 1e-6)
    while rise(high) < 0:
        if high > LARGEST:
            return high
        low, high = high, 2 * high
    return float(brentq(rise, low, high, xtol=CLOSE * high, rtol=1e-4))
