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

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from oodometer.core.errors import OodometerError
from oodometer.core.estimate import Estimate
from oodometer.metrics.calibration_error import BINNINGS, IMAGES_PER_BIN, Bins, Norm, norm_of

FEWEST_IMAGES = 20
"""Below it, 15 bins hold about one image each, and a gap tells nothing about its bin."""

PLACES, ROUNDS, STRIDE = 33, 4, 6
"""True errors among which is chosen, how often the search is narrowed: to a millionth of its range; and how many of
them are passed over at first."""


class Cumulants(NamedTuple):
    """Mean, variance and third central moment of what would be seen, (T,) each."""

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
    n = len(confidence)
    if name.startswith("rms") and n < 2 * IMAGES_PER_BIN:
        why = f"fewer than {2 * IMAGES_PER_BIN} images are one bin, the error of the mean confidence alone"
        return Estimate(value, None, None, n, f"none: {why}")
    if n < FEWEST_IMAGES:
        return Estimate(value, None, None, n, f"none: fewer than {FEWEST_IMAGES} images")
    bins_of, norm = BINNINGS[name]
    bins = bins_of(confidence, right)
    spread = 1.0 if clusters is None else design_effect(confidence, right, clusters)
    low, high = calibration_interval(bins, norm, level=level, spread=spread)
    words = "inverted test" if clusters is None else "inverted test with clusters"
    return Estimate(value, min(low, value), max(high, value), n, f"{words} {100 * level:g}%")


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
    value = float(norm_of(bins.weights, bins.gaps, norm))
    side = -1.0 if bins.weights @ bins.gaps < 0 else 1.0
    shapes = (bins.gaps, side * np.sqrt(_variance(bins, bins.confidence, spread)))
    ends = [_ends(bins, shape, norm, level, spread) for shape in shapes if np.any(shape)]
    return min(value, *(low for low, _ in ends)), max(value, *(high for _, high in ends))


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


def _ends(bins: Bins, shape: np.ndarray, norm: Norm, level: float, spread: float) -> tuple[float, float]:
    """The least and the largest true error of this shape under which the number seen does not surprise."""
    shape = shape / norm_of(bins.weights, shape, norm)
    tail = (1 - level) / 2

    def gaps_of(times: np.ndarray) -> np.ndarray:
        return np.asarray(bins.confidence - np.clip(bins.confidence - times[:, None] * shape, 0.0, 1.0))

    def cumulants(times: np.ndarray) -> Cumulants:
        gaps = gaps_of(times)
        return _cumulants(bins.weights, gaps, _variance(bins, bins.confidence - gaps, spread), norm)

    def as_summed(value: float) -> float:
        return value**2 if norm == "l2" else value

    seen = as_summed(float(norm_of(bins.weights, bins.gaps, norm)))
    usual = max(seen, float(_quantile(cumulants(np.zeros(1)), 0.5)[0]))
    # Under a true error beyond this, less than the usual is never seen; twice, since accuracies end at 0 and 1.
    noise = float(bins.weights @ np.sqrt(spread / bins.sizes))
    reach = 2 * ((np.sqrt(usual) if norm == "l2" else usual) + 3 * noise)
    low = _first(lambda times: _share_below(cumulants(times), seen) <= 1 - tail, reach)
    high = _first(lambda times: _share_below(cumulants(times), usual) < tail, reach)
    found = norm_of(bins.weights, gaps_of(np.array([low, high])), norm)
    return float(found[0]), float(found[1])


def _variance(bins: Bins, accuracy: np.ndarray, spread: float) -> np.ndarray:
    """Of the gap of each bin at these true accuracies, (..., B).

    Half a right and half a wrong answer are added, as in Jeffreys' interval: a bin without errors is not without doubt.
    """
    share = (accuracy * bins.sizes + 0.5) / (bins.sizes + 1)
    return np.asarray(spread * share * (1 - share) / bins.sizes)


def _cumulants(weights: np.ndarray, gaps: np.ndarray, variance: np.ndarray, norm: Norm) -> Cumulants:
    """Of the weighted sum of sizes (or squares) of normal gaps with these means and variances, (T, B) -> (T,)."""
    from scipy.special import erf

    square = gaps**2
    if norm == "l2":
        noise, signal = weights * variance, weights * square
        return Cumulants(
            (noise + signal).sum(axis=-1),
            (2 * noise**2 + 4 * noise * signal).sum(axis=-1),
            (8 * noise**3 + 24 * noise**2 * signal).sum(axis=-1),
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


def _gamma_shape(cumulants: Cumulants) -> np.ndarray:
    """Of the gamma distribution with this skewness, which shifted and scaled has all three."""
    skewness = cumulants.third / cumulants.variance**1.5
    # Hardly skewed is normal, which a gamma distribution of a large shape is.
    return np.asarray(4 / np.maximum(skewness, 0.01) ** 2)


def _share_below(cumulants: Cumulants, seen: float) -> np.ndarray:
    """How often less than this is seen, (T,)."""
    from scipy.special import gammainc

    shape = _gamma_shape(cumulants)
    place = shape + (seen - cumulants.mean) * np.sqrt(shape / cumulants.variance)
    return np.asarray(gammainc(shape, np.maximum(place, 0.0)))


def _quantile(cumulants: Cumulants, share: float) -> np.ndarray:
    """What this share of the sums stays below, (T,)."""
    from scipy.special import gammaincinv

    shape = _gamma_shape(cumulants)
    return np.asarray(cumulants.mean + (gammaincinv(shape, share) - shape) * np.sqrt(cumulants.variance / shape))


def _first(holds: Callable[[np.ndarray], np.ndarray], reach: float) -> float:
    """The least number from 0 to ``reach`` for which it holds; ``reach`` where there is none."""
    low, high = 0.0, reach
    for _ in range(ROUNDS):
        places = np.linspace(low, high, PLACES)
        at = _first_place(holds, places)
        if at == 0:
            return low
        low, high = float(places[at - 1]), float(places[min(at, PLACES - 1)])
    return high


def _first_place(holds: Callable[[np.ndarray], np.ndarray], places: np.ndarray) -> int:
    """The first of these places from which on it holds; their number where there is none.

    Every sixth is tried, and then those before the first of them that holds.
    """
    after = int(np.append(holds(places[::STRIDE]), True).argmax()) * STRIDE
    if after == 0:
        return 0
    first = after - STRIDE + 1
    return first + int(np.append(holds(places[first:after]), True).argmax())
