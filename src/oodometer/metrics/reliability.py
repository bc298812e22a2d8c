"""How often a model is right at each confidence: the reliability curve, in bins whose counts are whole numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from oodometer.core.errors import OodometerError, UsageError, did_you_mean

Binning = Literal["equal-width", "equal-mass"]
BINNINGS = ("equal-width", "equal-mass")
DEFAULT_BINS = 15
"""Guo et al. 2017, and nearly everyone since."""


@dataclass(frozen=True)
class ReliabilityCurve:
    """The bins that hold at least one image, from the least confident to the most; all arrays are (B,).

    Args:
        n: Images in the bin.
        right: How many of them were answered rightly: with ``n`` what a Clopper-Pearson interval needs.
        confidence: Their mean confidence.
        low: The least confidence among them.
        high: The largest.
    """

    n: np.ndarray
    right: np.ndarray
    confidence: np.ndarray
    low: np.ndarray
    high: np.ndarray

    @property
    def accuracy(self) -> np.ndarray:
        """Share of right answers in each bin."""
        return np.asarray(self.right / self.n)

    @property
    def gap(self) -> np.ndarray:
        """Mean confidence minus accuracy: positive where the model is too sure."""
        return np.asarray(self.confidence - self.accuracy)


def reliability_curve(
    confidence: np.ndarray, right: np.ndarray, *, bins: int = DEFAULT_BINS, binning: Binning = "equal-width"
) -> ReliabilityCurve:
    """Confidence against accuracy in bins.

    Equal width: (0, 1/B], (1/B, 2/B], ... (Guo et al. 2017; a confidence of zero goes into the first). Equal mass:
    bins of as many images each as can be, but images of one confidence stay together, so that the curve depends
    neither on the order of the images nor on halves of them: a bin ends with the last image of its confidence.

    >>> curve = reliability_curve(np.array([0.55, 0.65, 0.95, 0.95]), np.array([0, 1, 1, 1]), bins=2)
    >>> curve.n.tolist(), curve.right.tolist(), curve.confidence.round(3).tolist()
    ([4], [3], [0.775])
    >>> reliability_curve(np.array([0.55, 0.65, 0.95, 0.95]), np.array([0, 1, 1, 1]), bins=2, binning="equal-mass").n
    array([2, 2])
    """
    confidence, right = checked_answers(confidence, right)
    check_bins(bins)
    order = np.argsort(confidence, kind="stable")
    confidence, right = confidence[order], right[order]
    if binning == "equal-width":
        edges = np.searchsorted(confidence, np.arange(1, bins) / bins, side="right")
    elif binning == "equal-mass":
        last = equal_mass_edges(len(confidence), bins)[1:-1] - 1
        edges = np.searchsorted(confidence, confidence[last], side="right")
    else:
        raise UsageError(f"no binning named {binning!r}{did_you_mean(str(binning), BINNINGS)}")
    return _curve(confidence, right, np.unique(np.concatenate([[0], edges, [len(confidence)]])))


def _curve(confidence: np.ndarray, right: np.ndarray, edges: np.ndarray) -> ReliabilityCurve:
    """The curve of sorted images, cut at these positions, of which the first is 0 and the last N."""
    starts, sizes = edges[:-1], np.diff(edges)
    return ReliabilityCurve(
        n=sizes,
        right=np.add.reduceat(right, starts, dtype=np.int64),
        confidence=np.add.reduceat(confidence, starts, dtype=np.float64) / sizes,
        low=confidence[starts],
        high=confidence[edges[1:] - 1],
    )


def equal_mass_edges(n: int, bins: int) -> np.ndarray:
    """Positions that cut n sorted images into bins whose sizes differ by one at most; at most n bins.

    >>> equal_mass_edges(10, 4).tolist(), equal_mass_edges(2, 15).tolist()
    ([0, 2, 5, 7, 10], [0, 1, 2])
    """
    bins = min(bins, n)
    return np.arange(bins + 1) * n // bins


def checked_answers(confidence: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Confidences in [0, 1] and whether each answer was right, (N,) both; an error for anything else."""
    confidence, right = np.asarray(confidence), np.asarray(right)
    if confidence.ndim != 1 or confidence.shape != right.shape:
        raise OodometerError(
            f"confidences of shape {confidence.shape} and answers of shape {right.shape}: must be one row each, as long"
        )
    if len(confidence) == 0:
        raise OodometerError("no images: nothing to calibrate or to select")
    # NaN fails the comparison too.
    if not (confidence.min() >= 0 and confidence.max() <= 1):
        raise OodometerError("a confidence outside of [0, 1], or none: give the largest softmax probabilities")
    if right.dtype != bool:
        if not np.isin(right, (0, 1)).all():
            raise OodometerError("each answer must be right or wrong: True or False, 1 or 0")
        right = right.astype(bool)
    return confidence, right


def check_bins(bins: int) -> None:
    """An error unless it is a number of bins."""
    if bins < 1:
        raise OodometerError(f"{bins} bins: at least one is needed")
