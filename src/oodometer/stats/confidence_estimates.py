"""Accuracy on images without labels from how sure a model is there, beside how sure and how right it is on others."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from oodometer.core.errors import OodometerError


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
    threshold = np.partition(scores_clean, n_wrong)[n_wrong]
    equal = int((scores_clean == threshold).sum())
    counted = 1 - (n_wrong - int((scores_clean < threshold).sum())) / equal
    above = (scores_shifted > threshold).mean() + counted * (scores_shifted == threshold).mean()
    return Thresholded(float(above), float(threshold), equal / n)


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
