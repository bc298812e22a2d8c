"""Calibration error: how far confidence is from accuracy, in bins.

In bins of equal mass, images of the same confidence may fall into two bins. Which of them falls where must not depend
on the order of the images, so each counts as right by the share of right ones among its equals. That is the average
over all orders; sorting the right ones last, say, would make bins of wrong answers and bins of right ones out of a
model that always says 0.7.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from oodometer.core.errors import OodometerError, UsageError
from oodometer.metrics.metric import Metric
from oodometer.metrics.reliability import DEFAULT_BINS, check_bins, checked_answers, equal_mass_edges

Norm = Literal["l1", "l2"]
IMAGES_PER_BIN = 100
"""Hendrycks et al. 2021 (natural adversarial examples), and their earlier papers."""


def rms_calibration_error(
    confidence: np.ndarray, right: np.ndarray, *, bin_size: int = IMAGES_PER_BIN, norm: Norm = "l2"
) -> float:
    """Root mean square of confidence minus accuracy in bins of 100 images, sorted by confidence; every bin counts.

    sqrt(Σ n_b/N (mean confidence − accuracy)²). The last bin holds the rest as well, 100 to 199 images; fewer than
    200 images are one bin, whose error is that of the mean confidence alone. Norm ``l1``: Σ n_b/N |difference|.

    >>> confidence = np.repeat([0.6, 0.9], 100)
    >>> right = np.tile([True, False], 100)
    >>> round(rms_calibration_error(confidence, right), 6)  # sqrt((0.1² + 0.4²) / 2)
    0.291548
    """
    confidence, right = checked_answers(confidence, right)
    _check_size(bin_size)
    weights, gaps = _gaps(confidence, right, _edges_of_size(len(confidence), bin_size))
    return _norm(weights, gaps, norm)


def rms_calibration_error_published(
    confidence: np.ndarray, right: np.ndarray, *, bin_size: int = IMAGES_PER_BIN, norm: Norm = "l2"
) -> float:
    """The same as the published script has it: without the most confident bin, for comparison with old numbers.

    ``calib_err`` of hendrycks/natural-adv-examples and hendrycks/outlier-exposure makes the same bins but its loop
    ends before the last, which holds the 100 to 199 most confident images. The other bins keep the weight n_b/N with
    all images in N, so the weights add up to less than one. An error for fewer than 200 images: no bin is left (the
    script says 0 then).

    >>> confidence = np.repeat([0.6, 0.9], 100)
    >>> right = np.tile([True, False], 100)
    >>> round(rms_calibration_error_published(confidence, right), 6)  # sqrt(0.1² / 2)
    0.070711
    """
    confidence, right = checked_answers(confidence, right)
    _check_size(bin_size)
    if len(confidence) < 2 * bin_size:
        raise OodometerError(
            f"{len(confidence)} images: the published RMS calibration error leaves out the most confident bin and so "
            f"needs at least {2 * bin_size}; rms-calibration counts every bin"
        )
    weights, gaps = _gaps(confidence, right, _edges_of_size(len(confidence), bin_size))
    return _norm(weights[:-1], gaps[:-1], norm)


def expected_calibration_error(
    confidence: np.ndarray, right: np.ndarray, *, bins: int = DEFAULT_BINS, norm: Norm = "l1"
) -> float:
    """Σ n_b/N |mean confidence − accuracy| in 15 bins of equal width, (0, 1/15], ... (Guo et al. 2017).

    Empty bins count nothing; a confidence of zero goes into the first bin.

    >>> round(expected_calibration_error(np.array([0.55, 0.65, 0.95, 0.95]), np.array([0, 1, 1, 1])), 4)
    0.25
    """
    confidence, right = checked_answers(confidence, right)
    check_bins(bins)
    which = np.searchsorted(np.arange(1, bins) / bins, confidence)
    n = np.bincount(which, minlength=bins)
    # The sum over the images of a bin of confidence minus right is n_b times its gap.
    sums = np.bincount(which, weights=confidence - right.astype(np.float64), minlength=bins)
    filled = n > 0
    return _norm(n[filled] / len(confidence), sums[filled] / n[filled], norm)


def adaptive_calibration_error(
    confidence: np.ndarray, right: np.ndarray, *, bins: int = DEFAULT_BINS, norm: Norm = "l1"
) -> float:
    """Σ n_b/N |mean confidence − accuracy| in 15 bins of equal mass, whose sizes differ by one image at most.

    With fewer images than bins each image is a bin.

    >>> round(adaptive_calibration_error(np.array([0.55, 0.65, 0.95, 0.95]), np.array([0, 1, 1, 1]), bins=2), 4)
    0.075
    """
    confidence, right = checked_answers(confidence, right)
    check_bins(bins)
    weights, gaps = _gaps(confidence, right, equal_mass_edges(len(confidence), bins))
    return _norm(weights, gaps, norm)


def _edges_of_size(n: int, bin_size: int) -> np.ndarray:
    """Positions that cut n sorted images into bins of this size; the rest goes into the last."""
    edges = np.arange(max(n // bin_size, 1) + 1) * bin_size
    edges[-1] = n
    return edges


def _gaps(confidence: np.ndarray, right: np.ndarray, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of each bin of the sorted images: its share of them, and its mean confidence minus its accuracy."""
    # A stable sort takes linear time where the images come sorted already, as in a bootstrap.
    order = np.argsort(confidence, kind="stable")
    confidence = confidence[order]
    sizes = np.diff(edges)
    sums = np.add.reduceat(confidence, edges[:-1], dtype=np.float64)
    rights = np.diff(_right_before(confidence, right[order], edges))
    return sizes / len(confidence), (sums - rights) / sizes


def _right_before(confidence: np.ndarray, right: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """How many right answers stand before each edge, where equals in confidence share theirs evenly."""
    before = np.append(np.int32(0), np.cumsum(right, dtype=np.int32))
    at = confidence[np.minimum(edges, len(confidence) - 1)]
    first = np.searchsorted(confidence, at, side="left")
    end = np.searchsorted(confidence, at, side="right")
    share = (edges - first) / (end - first)
    return np.asarray(before[first] + share * (before[end] - before[first]))


def _check_size(bin_size: int) -> None:
    if bin_size < 1:
        raise OodometerError(f"{bin_size} images to a bin: at least one is needed")


def _norm(weights: np.ndarray, gaps: np.ndarray, norm: Norm) -> float:
    if norm == "l1":
        return float(weights @ np.abs(gaps))
    if norm == "l2":
        return float(np.sqrt(weights @ np.square(gaps)))
    raise UsageError(f"no norm named {norm!r}; known: l1, l2")


rms_calibration = Metric(
    "rms-calibration",
    "L2, adaptive bins of 100 images, every bin counted",
    ("confidence", "rank"),
    lambda confidence, rank: rms_calibration_error(confidence, rank == 0),
)
rms_calibration_published = Metric(
    "rms-calibration:published",
    "L2, adaptive bins of 100 images, the most confident bin left out as in the published script",
    ("confidence", "rank"),
    lambda confidence, rank: rms_calibration_error_published(confidence, rank == 0),
)
ece = Metric(
    "ece",
    "L1, 15 bins of equal width (0, 1/15], ...",
    ("confidence", "rank"),
    lambda confidence, rank: expected_calibration_error(confidence, rank == 0),
)
adaptive_ece = Metric(
    "adaptive-ece",
    "L1, 15 bins of equal mass",
    ("confidence", "rank"),
    lambda confidence, rank: adaptive_calibration_error(confidence, rank == 0),
)
