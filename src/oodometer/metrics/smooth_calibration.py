"""Smooth calibration error: how far confidence is from accuracy, without bins.

Where bins end is a choice, and a hair more confidence moves an image from one to the next. Here each image is spread
over its neighbourhood by a Gaussian that is reflected at 0 and 1, so that nothing is lost beyond them. How wide it is
follows from the answers: as wide as the error itself, at which the two are equal.

The reflected Gaussian is heat that spreads in an insulated rod: each cosine of the confidences fades by its own factor.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from oodometer.metrics.metric import Metric
from oodometer.metrics.reliability import checked_answers

PLACES = 4096
"""Of confidence, between 0 and 1, on which the number itself is computed."""

HALVINGS = 24
"""Of the range in which the bandwidth lies: beyond single precision."""


class SmoothCurve(NamedTuple):
    """The reliability curve that the error weighs, at places of confidence; all (P,).

    Args:
        confidence: The places.
        accuracy: The mean of right answers near them.
        density: Of the images; its mean is 1.
    """

    confidence: np.ndarray
    accuracy: np.ndarray
    density: np.ndarray


def smooth_calibration_error(confidence: np.ndarray, right: np.ndarray) -> float:
    """SmECE (Błasiok and Nakkiran 2023): ∫ |mean of K(t, confidence) (right − confidence)| dt, at its own bandwidth.

    K is the Gaussian reflected at 0 and 1, whose standard deviation is the error: the one at which both are equal.

    >>> error = smooth_calibration_error(np.full(200, 0.8), np.tile([True, False], 100))  # 0.8 - 0.5
    >>> round(error, 4)
    0.3
    """
    confidence, right = checked_answers(confidence, right)
    gaps = confidence.astype(np.float64) - right
    return float(own_bandwidths(spread_out(confidence, gaps, PLACES) / len(right))[0])


def smooth_reliability(confidence: np.ndarray, right: np.ndarray, *, places: int = 400) -> SmoothCurve:
    """Accuracy near each confidence, smoothed as the error is; of at least one image.

    >>> curve = smooth_reliability(np.full(200, 0.8), np.tile([True, False], 100), places=10)
    >>> curve.confidence.round(2).tolist()[:3], curve.accuracy.round(2).tolist()[:3]
    ([0.05, 0.15, 0.25], [0.5, 0.5, 0.5])
    """
    confidence, right = checked_answers(confidence, right)
    bandwidth = max(smooth_calibration_error(confidence, right), 1 / places)
    images = smoothed(spread_out(confidence, np.ones(len(right)), places), bandwidth)[0]
    hits = smoothed(spread_out(confidence, right.astype(np.float64), places), bandwidth)[0]
    density = np.maximum(images, 1e-12)
    return SmoothCurve(middles(places), np.clip(hits / density, 0.0, 1.0), density / len(right) * places)


def middles(places: int) -> np.ndarray:
    """The middles of so many places between 0 and 1, (P,)."""
    return (np.arange(places) + 0.5) / places


def spread_out(confidence: np.ndarray, values: np.ndarray, places: int) -> np.ndarray:
    """The sums of the values at places of confidence, (1, P); each image is divided between the two next to it.

    >>> spread_out(np.array([0.25, 0.5]), np.array([1.0, 1.0]), 2).tolist()
    [[1.5, 0.5]]
    """
    at = np.clip(confidence.astype(np.float64) * places - 0.5, 0.0, places - 1.0)
    below = np.minimum(at.astype(np.intp), places - 1)
    share = at - below
    sums = np.bincount(below, weights=values * (1 - share), minlength=places + 1)
    sums += np.bincount(below + 1, weights=values * share, minlength=places + 1)
    return np.asarray(sums[None, :places])


def smoothed(sums: np.ndarray, bandwidth: float) -> np.ndarray:
    """Sums at places of confidence, (D, P), spread by the reflected Gaussian; what they add up to stays.

    >>> smoothed(np.array([[1.0, 0.0, 0.0, 0.0]]), 0.25).round(3).tolist()
    [[0.641, 0.296, 0.058, 0.005]]
    """
    from scipy.fft import dct, idct

    fading = np.exp(-0.5 * np.square(np.pi * bandwidth * np.arange(sums.shape[1]))).astype(sums.dtype)
    return np.asarray(idct(dct(sums, axis=1) * fading, axis=1, overwrite_x=True))


def errors_at(sums: np.ndarray, bandwidth: float) -> np.ndarray:
    """The smooth error at one bandwidth of gaps summed at places of confidence, over all images: (D, P) -> (D,)."""
    return np.asarray(np.abs(smoothed(sums, bandwidth)).sum(axis=1))


def own_bandwidths(sums: np.ndarray) -> np.ndarray:
    """Of each row of gaps, (D, P), the bandwidth that equals the error at it, (D,): wider ones give smaller errors."""
    from scipy.fft import dct, idct

    waves, steps = dct(sums, axis=1), np.pi * np.arange(sums.shape[1])
    low, high = np.zeros(len(sums)), np.ones(len(sums))
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        fading = np.exp(-0.5 * np.square(middle[:, None] * steps))
        larger = np.abs(idct(waves * fading, axis=1)).sum(axis=1) > middle
        low, high = np.where(larger, middle, low), np.where(larger, high, middle)
    return np.asarray((low + high) / 2)


smooth_ece = Metric(
    "smooth-ece",
    "gaps smoothed by a reflected Gaussian as wide as the error",
    ("confidence", "rank"),
    lambda confidence, rank: smooth_calibration_error(confidence, rank == 0),
    bounds=(0.0, 1.0),
)
