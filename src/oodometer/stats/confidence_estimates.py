"""Accuracy on images without labels from how sure a model is there, beside how sure and how right it is on others."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from oodometer.core.errors import OodometerError
from oodometer.core.estimate import Estimate
from oodometer.stats.intervals import check_level, wilson_bounds


class Shared(NamedTuple):
    """Images that are on both sides, such as photographs and the same with fog: their places on each, (S,)."""

    clean: np.ndarray
    shifted: np.ndarray


NONE_SHARED = Shared(np.array([], dtype=np.int64), np.array([], dtype=np.int64))


class Thresholded(NamedTuple):
    """What average thresholded confidence tells.

    Args:
        accuracy: The estimate.
        threshold: The score from which on an answer counts as right; −∞ and ∞ where all or none of the clean are.
        tied: The share of clean images whose score is the threshold itself.
    """

    accuracy: float
    threshold: float
    tied: float


def average_thresholded_confidence(
    scores_clean: np.ndarray, right_clean: np.ndarray, scores_shifted: np.ndarray
) -> Thresholded:
    """The share of shifted images whose score is above a threshold: as many clean ones are above it as are right.

    ATC of Garg et al. 2022; its scores are the largest probability or the negative entropy. Where several clean images
    have the very score of the threshold, images of that score count by the share of them that is needed.

    Args:
        scores_clean, scores_shifted: How sure the model is of each image, higher is surer, (N,) and (L,).
        right_clean: Whether it is right on each clean image, (N,) bool.

    >>> clean, right = np.array([0.2, 0.4, 0.6, 0.8]), np.array([False, True, True, True])
    >>> average_thresholded_confidence(clean, right, np.array([0.1, 0.3, 0.5, 0.9]))
    Thresholded(accuracy=0.5, threshold=0.4, tied=0.25)
    """
    _check(scores_clean, right_clean, scores_shifted)
    n, n_wrong = len(scores_clean), int((~right_clean).sum())
    if n_wrong == 0:
        return Thresholded(1.0, -np.inf, 0.0)
    if n_wrong == n:
        return Thresholded(0.0, np.inf, 0.0)
    threshold, counted = _threshold(np.sort(scores_clean), n - n_wrong)
    above = float(_counts(scores_shifted, threshold, counted).mean())
    return Thresholded(above, threshold, float((scores_clean == threshold).mean()))


def above_threshold(scores_clean: np.ndarray, right_clean: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """By how much each image counts as above that threshold, (L,): 1, 0, or the share where its score is the threshold.

    >>> clean, right = np.array([0.2, 0.4, 0.6, 0.8]), np.array([False, True, True, True])
    >>> above_threshold(clean, right, np.array([0.1, 0.4, 0.5])).tolist()
    [0.0, 1.0, 1.0]
    """
    _check(scores_clean, right_clean, scores)
    n_right = int(right_clean.sum())
    if n_right in (0, len(right_clean)):
        return np.full(len(scores), float(n_right > 0))
    return _counts(scores, *_threshold(np.sort(scores_clean), n_right))


def thresholded_estimate(
    scores_clean: np.ndarray,
    right_clean: np.ndarray,
    scores_shifted: np.ndarray,
    *,
    shared: Shared = NONE_SHARED,
    level: float = 0.95,
) -> Estimate:
    """The same with its interval over images: where it would be with very many of both sides.

    The threshold is known as well as the clean accuracy is, apart from what the scores say of it; the estimate is taken
    at its two ends. The share of shifted images has Wilson's limits. The squares of both distances are added, as in
    Newcombe's interval of a difference, less what images on both sides have in common.

    >>> rng = np.random.default_rng(0)
    >>> clean, shifted = rng.random(1000), rng.beta(2, 3, 1000)
    >>> print(thresholded_estimate(clean, rng.random(1000) < 0.4 + 0.6 * clean, shifted))
    0.6330 [0.5745, 0.7089]  n=1000
    """
    from scipy.special import ndtri

    check_level(level)
    found, n, n_shifted = (
        average_thresholded_confidence(scores_clean, right_clean, scores_shifted),
        len(scores_clean),
        len(scores_shifted),
    )
    value = found.accuracy
    if np.isinf(found.threshold):
        return Estimate(value, None, None, n_shifted, "none: all or none of the clean answers are right")
    in_order, n_right = np.sort(scores_clean), int(right_clean.sum())
    counted = _threshold(in_order, n_right)[1]
    beyond = _counts(scores_clean, found.threshold, counted) - right_clean
    above = _counts(scores_shifted, found.threshold, counted)
    quantile = float(ndtri((1 + level) / 2))
    reach = quantile * float(beyond.std(ddof=1)) / np.sqrt(n)
    in_common = _covariance(above, beyond, shared)
    ends = []
    for sign, wilson_end in zip((-1, 1), wilson_bounds(value, n_shifted, level), strict=True):
        at_end = _share_above(in_order, n_right + sign * reach * n, scores_shifted)
        slope = sign * (at_end - value) / reach if reach > 0 else 0.0
        square = (wilson_end - value) ** 2 + (slope * reach) ** 2 - 2 * slope * in_common * quantile**2
        ends.append(value + sign * np.sqrt(max(square, 0.0)))
    low, high = max(float(ends[0]), 0.0), min(float(ends[1]), 1.0)
    return Estimate(value, low, high, n_shifted, f"threshold's ends and wilson {100 * level:g}%")


def _threshold(in_order: np.ndarray, n_above: float) -> tuple[float, float]:
    """The score above which so many of these are, and by which share those of that very score count among them."""
    below = len(in_order) - n_above
    threshold = in_order[min(int(below), len(in_order) - 1)]
    first, last = np.searchsorted(in_order, threshold, "left"), np.searchsorted(in_order, threshold, "right")
    return float(threshold), float(1 - (below - first) / (last - first))


def _counts(scores: np.ndarray, threshold: float, counted: float) -> np.ndarray:
    """By how much each image counts as above: 1, 0, or the share of those of the threshold's score."""
    return np.where(scores == threshold, counted, (scores > threshold).astype(np.float64))


def _share_above(in_order: np.ndarray, n_above: float, scores: np.ndarray) -> float:
    """The estimate, if so many of the clean answers were right."""
    if n_above >= len(in_order):
        return 1.0
    return 0.0 if n_above <= 0 else float(_counts(scores, *_threshold(in_order, n_above)).mean())


def _covariance(of_shifted: np.ndarray, of_clean: np.ndarray, shared: Shared) -> float:
    """Of the means of both, which have some images in common."""
    if len(shared.clean) < 2:
        return 0.0
    of_one = np.cov(of_shifted[shared.shifted], of_clean[shared.clean])[0, 1]
    return float(of_one * len(shared.clean) / (len(of_clean) * len(of_shifted)))


def difference_of_confidences(
    confidence_clean: np.ndarray, right_clean: np.ndarray, confidence_shifted: np.ndarray
) -> float:
    """The clean accuracy, less what the mean confidence loses from the clean to the shifted images.

    DoC of Guillory et al. 2021 in its plainest form, without a regression on other shifts. It may leave [0, 1].

    >>> right = np.array([True, True, True, False])
    >>> round(difference_of_confidences(np.full(4, 0.9), right, np.full(3, 0.7)), 6)
    0.55
    """
    _check(confidence_clean, right_clean, confidence_shifted)
    lost = confidence_clean.mean(dtype=np.float64) - confidence_shifted.mean(dtype=np.float64)
    return float(right_clean.mean() - lost)


def difference_estimate(
    confidence_clean: np.ndarray,
    right_clean: np.ndarray,
    confidence_shifted: np.ndarray,
    *,
    shared: Shared = NONE_SHARED,
    level: float = 0.95,
) -> Estimate:
    """The same, cut off at 0 and 1, with Student's interval over images.

    >>> right = np.array([True, True, True, False])
    >>> print(difference_estimate(np.array([0.9, 0.8, 0.9, 0.6]), right, np.array([0.7, 0.5, 0.8])))
    0.6167 [0.0000, 1.0000]  n=3
    """
    from scipy.special import stdtrit

    check_level(level)
    raw = difference_of_confidences(confidence_clean, right_clean, confidence_shifted)
    value, n, n_shifted = min(max(raw, 0.0), 1.0), len(confidence_clean), len(confidence_shifted)
    if min(n, n_shifted) < 2:
        return Estimate(value, None, None, n_shifted, "none: one image")
    beyond = right_clean - confidence_clean.astype(np.float64)
    shifted = confidence_shifted.astype(np.float64)
    variance = beyond.var(ddof=1) / n + shifted.var(ddof=1) / n_shifted + 2 * _covariance(shifted, beyond, shared)
    half = float(stdtrit(min(n, n_shifted) - 1, (1 + level) / 2) * np.sqrt(max(variance, 0.0)))
    low, high = min(max(raw - half, 0.0), 1.0), min(max(raw + half, 0.0), 1.0)
    return Estimate(value, low, high, n_shifted, f"student-t {100 * level:g}%")


def _check(scores_clean: np.ndarray, right_clean: np.ndarray, scores_shifted: np.ndarray) -> None:
    if scores_clean.ndim != 1 or scores_clean.shape != right_clean.shape or scores_shifted.ndim != 1:
        raise OodometerError(
            f"scores of shapes {scores_clean.shape} and {scores_shifted.shape} for {right_clean.shape} verdicts: need "
            "one per image"
        )
    if not len(scores_clean) or not len(scores_shifted):
        raise OodometerError("no images on one of the sides: the estimate is undefined")
    if right_clean.dtype != bool:
        raise OodometerError(f"right_clean is of type {right_clean.dtype}: need bool, whether each answer is right")
    if np.isnan(scores_clean).any() or np.isnan(scores_shifted).any():
        raise OodometerError("some scores are NaN: how sure the model is of these images is not known")
