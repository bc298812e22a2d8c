"""The Brier score: the squared distance between what was said and what is, and what it is made of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from oodometer.core.errors import OodometerError
from oodometer.metrics.metric import Metric
from oodometer.metrics.reliability import DEFAULT_BINS, Binning, checked_answers, reliability_curve


def brier_scores(sum_squares: np.ndarray, label_log_probability: np.ndarray) -> np.ndarray:
    """Σ_k (p_k − y_k)² of each image, from the sum of its squared probabilities and the log of its label's; (N,).

    The sum is over the classes (Brier 1950): 0 is best and 2 worst. Half of it is the two-class score that some
    libraries give for K = 2.

    >>> brier_scores(np.array([0.5**2 + 0.3**2 + 0.2**2]), np.log(np.array([0.3]))).round(6)
    array([0.78])
    """
    sum_squares, logs = np.asarray(sum_squares, np.float64), np.asarray(label_log_probability, np.float64)
    if sum_squares.shape != logs.shape:
        raise OodometerError(f"{sum_squares.shape} sums of squares, {logs.shape} log probabilities: must be as many")
    # NaN fails the comparisons too; the stored numbers are rounded, so the bounds have a hair of slack.
    if not ((sum_squares >= 0).all() and (sum_squares <= 1 + 1e-5).all() and (logs <= 1e-5).all()):
        raise OodometerError("no probabilities: squares must add up to at most 1, and logs be at most 0")
    return np.asarray(sum_squares - 2 * np.exp(logs) + 1)


def brier_score(probabilities: np.ndarray, labels: np.ndarray) -> float:
    """The mean of Σ_k (p_k − y_k)² over images, from all probabilities (N, K) and labels (N,).

    >>> round(brier_score(np.array([[0.5, 0.3, 0.2], [1.0, 0.0, 0.0]]), np.array([1, 0])), 6)
    0.39
    """
    probabilities = np.asarray(probabilities, np.float64)
    if probabilities.ndim != 2 or len(probabilities) != len(labels) or len(labels) == 0:
        raise OodometerError(f"probabilities {probabilities.shape}, {len(labels)} labels: must be as many, and some")
    of_label = probabilities[np.arange(len(labels)), labels]
    return float(np.mean((probabilities**2).sum(axis=1) - 2 * of_label + 1))


@dataclass(frozen=True)
class BrierParts:
    """The Brier score of "the answer is right, with this confidence", taken apart in bins.

    Murphy (1973) has the first three, which add up where all confidences in a bin are equal; the other two (Stephenson,
    Coelho and Jolliffe 2008) are what the bins hide, so that the parts always add up to the score.

    Args:
        reliability: Mean squared gap between confidence and accuracy of the bins; 0 is best.
        resolution: Variance of the bins' accuracies: how far the bins tell right from wrong; more is better.
        uncertainty: Variance of right and wrong as such, accuracy × (1 − accuracy).
        within_variance: Of the confidences inside their bins.
        within_covariance: Twice the covariance of confidence and being right inside the bins; more is better.
    """

    reliability: float
    resolution: float
    uncertainty: float
    within_variance: float
    within_covariance: float

    @property
    def score(self) -> float:
        """Mean of (confidence − right)²."""
        return self.reliability - self.resolution + self.uncertainty + self.within_variance - self.within_covariance


def top_label_brier(confidence: np.ndarray, right: np.ndarray) -> float:
    """Mean of (confidence − right)²: the two-class Brier score of the top label, in [0, 1].

    >>> round(top_label_brier(np.array([0.6, 0.9]), np.array([False, True])), 6)
    0.185
    """
    confidence, right = checked_answers(confidence, right)
    return float(np.mean(np.square(confidence.astype(np.float64) - right)))


def brier_parts(
    confidence: np.ndarray, right: np.ndarray, *, bins: int = DEFAULT_BINS, binning: Binning = "equal-width"
) -> BrierParts:
    """The parts of the top-label Brier score: reliability − resolution + uncertainty, and what the bins hide.

    >>> parts = brier_parts(np.array([0.6, 0.7, 0.9, 0.9]), np.array([0, 1, 1, 1]), bins=2)
    >>> round(parts.reliability, 6), round(parts.resolution, 6), round(parts.uncertainty, 6), round(parts.score, 6)
    (0.000625, 0.0, 0.1875, 0.1175)
    """
    curve = reliability_curve(confidence, right, bins=bins, binning=binning)
    confidence, right = checked_answers(confidence, right)
    said, is_right = confidence.astype(np.float64), right.astype(np.float64)
    which = np.searchsorted(curve.high, confidence)
    apart = said - curve.confidence[which]
    weights, accuracy = curve.n / len(said), float(is_right.mean())
    return BrierParts(
        reliability=float(weights @ np.square(curve.gap)),
        resolution=float(weights @ np.square(curve.accuracy - accuracy)),
        uncertainty=accuracy * (1 - accuracy),
        within_variance=float(np.mean(np.square(apart))),
        within_covariance=float(2 * np.mean(apart * (is_right - curve.accuracy[which]))),
    )


brier = Metric(
    "brier",
    "sum over the classes of (p − y)², from 0 to 2",
    ("sum_squares", "label_log_probability"),
    brier_scores,
    kind="mean",
    bounds=(0.0, 2.0),
)
