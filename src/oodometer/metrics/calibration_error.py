"""Calibration error: how far confidence is from accuracy, in bins.

In bins of equal mass, images of the same confidence may fall into two bins. Which of them falls where must not depend
on the order of the images, so each counts as right by the share of right ones among its equals. That is the average
over all orders; sorting the right ones last, say, would make bins of wrong answers and bins of right ones out of a
model that always says 0.7.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple

import numpy as np

from oodometer.core.errors import OodometerError, UsageError
from oodometer.metrics.metric import Metric
from oodometer.metrics.reliability import DEFAULT_BINS, check_bins, checked_answers, equal_mass_edges

Norm = Literal["l1", "l2"]
IMAGES_PER_BIN = 100
"""Hendrycks et al. 2021 (natural adversarial examples), and their earlier papers."""


class Bins(NamedTuple):
    """Images in bins of confidence: those that count, all (B,).

    Args:
        sizes: Images of each bin.
        sums: Their summed confidence.
        rights: Their right answers; no whole numbers where equals in confidence lie in two bins.
        n: All images, also those in bins that do not count; of several models at once (C, 1), and the others (C, B).
    """

    sizes: np.ndarray
    sums: np.ndarray
    rights: np.ndarray
    n: int | np.ndarray

    @property
    def weights(self) -> np.ndarray:
        """The share of the images that lies in each bin."""
        return np.asarray(self.sizes / self.n)

    @property
    def confidence(self) -> np.ndarray:
        """The mean confidence of each bin."""
        return np.asarray(self.sums / self.sizes)

    @property
    def gaps(self) -> np.ndarray:
        """The mean confidence of each bin minus its accuracy."""
        return np.asarray((self.sums - self.rights) / self.sizes)


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
    return error_of(_of_size(confidence, right, bin_size), norm)


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
    return error_of(_without_last(confidence, right, bin_size), norm)


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
    return error_of(_equal_width(confidence, right, bins), norm)


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
    return error_of(_bins_at(confidence, right, equal_mass_edges(len(confidence), bins)), norm)


def _edges_of_size(n: int, bin_size: int) -> np.ndarray:
    """Positions that cut n sorted images into bins of this size; the rest goes into the last."""
    edges = np.arange(max(n // bin_size, 1) + 1) * bin_size
    edges[-1] = n
    return edges


def _equal_width(confidence: np.ndarray, right: np.ndarray, bins: int) -> Bins:
    """The bins of equal width that hold an image."""
    confidence, right = _least_confident_first(confidence, right)
    edges = _edges_of_width(confidence, bins)
    sums, rights = (np.add.reduceat(values, edges[:-1], dtype=np.float64) for values in (confidence, right))
    return Bins(np.diff(edges), sums, rights, len(confidence))


def _edges_of_width(confidence: np.ndarray, bins: int) -> np.ndarray:
    """Positions that cut sorted images into bins of equal width; an empty one is none."""
    ends = np.searchsorted(confidence, np.arange(1, bins) / bins, side="right")
    return np.unique(np.concatenate([[0], ends, [len(confidence)]]))


def _least_confident_first(confidence: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if (confidence[1:] >= confidence[:-1]).all():  # as they come from whoever asks for several of these errors
        return confidence, right
    order = np.argsort(confidence, kind="stable")
    return confidence[order], right[order]


def _of_size(confidence: np.ndarray, right: np.ndarray, bin_size: int = IMAGES_PER_BIN) -> Bins:
    """Bins of so many images."""
    return _bins_at(confidence, right, _edges_of_size(len(confidence), bin_size))


def _without_last(confidence: np.ndarray, right: np.ndarray, bin_size: int = IMAGES_PER_BIN) -> Bins:
    """Those without the most confident bin, whose images still count in n."""
    if len(confidence) < 2 * bin_size:
        raise OodometerError(
            f"{len(confidence)} images: the published RMS calibration error leaves out the most confident bin and so "
            f"needs at least {2 * bin_size}; rms-calibration counts every bin"
        )
    bins = _of_size(confidence, right, bin_size)
    return Bins(bins.sizes[:-1], bins.sums[:-1], bins.rights[:-1], bins.n)


def _bins_at(confidence: np.ndarray, right: np.ndarray, edges: np.ndarray) -> Bins:
    """The bins that these positions cut the sorted images into."""
    confidence, right = _least_confident_first(confidence, right)
    sums = np.add.reduceat(confidence, edges[:-1], dtype=np.float64)
    rights = np.diff(_right_at(edges, confidence, _right_before(right)))
    return Bins(np.diff(edges), sums, rights, len(confidence))


def _right_before(right: np.ndarray) -> np.ndarray:
    """How many right answers stand before each image, and at last how many there are, (..., N) -> (..., N + 1)."""
    before = np.zeros((*right.shape[:-1], right.shape[-1] + 1), dtype=np.int32)
    np.cumsum(right, axis=-1, out=before[..., 1:])
    return before


def _right_at(edges: np.ndarray, confidence: np.ndarray, before: np.ndarray) -> np.ndarray:
    """How many right answers stand before each edge, where equals in confidence share theirs evenly."""
    at = confidence[np.minimum(edges, len(confidence) - 1)]
    first = np.searchsorted(confidence, at, side="left")
    end = np.searchsorted(confidence, at, side="right")
    share = (edges - first) / (end - first)
    return np.asarray(before[first] + share * (before[end] - before[first]))


def _check_size(bin_size: int) -> None:
    if bin_size < 1:
        raise OodometerError(f"{bin_size} images to a bin: at least one is needed")


def error_of(bins: Bins, norm: Norm) -> float:
    """The calibration error in these bins."""
    return float(norm_of(bins.weights, bins.gaps, norm))


def norm_of(weights: np.ndarray, gaps: np.ndarray, norm: Norm) -> np.ndarray:
    """The weighted sum of the gaps' sizes, or the root of that of their squares, along the last axis.

    >>> norm_of(np.array([0.5, 0.5]), np.array([-0.25, 0.75]), "l1").item()
    0.5
    """
    if norm == "l1":
        return np.asarray((np.abs(gaps) * weights).sum(axis=-1))
    if norm == "l2":
        return np.asarray(np.sqrt((np.square(gaps) * weights).sum(axis=-1)))
    raise UsageError(f"no norm named {norm!r}; known: l1, l2")


BINNINGS: Mapping[str, tuple[Callable[[np.ndarray, np.ndarray], Bins], Norm]] = {
    "rms-calibration": (_of_size, "l2"),
    "rms-calibration:published": (_without_last, "l2"),
    "ece": (lambda c, r: _equal_width(c, r, DEFAULT_BINS), "l1"),
    "adaptive-ece": (lambda c, r: _bins_at(c, r, equal_mass_edges(len(c), DEFAULT_BINS)), "l1"),
}
"""The metrics below by name: their bins of confidences and right answers, (N,) both, and their norm."""


def bins_of(name: str, confidence: np.ndarray, right: np.ndarray) -> Bins:
    """The bins of a metric of `BINNINGS`, whose error it is; an error where the answers have none."""
    return BINNINGS[name][0](*checked_answers(confidence, right))


def bins_of_many(name: str, confidence: np.ndarray, right: np.ndarray) -> list[Bins]:
    """`bins_of` of several models at once, to the last digit: (C, N) both, checked, the least confident first."""
    n = confidence.shape[1]
    if name == "ece":
        edges = [_edges_of_width(row, DEFAULT_BINS) for row in confidence]
    elif name == "rms-calibration":
        edges = [_edges_of_size(n, IMAGES_PER_BIN)] * len(confidence)
    else:
        return [bins_of(name, *row) for row in zip(confidence, right, strict=True)]
    starts = np.concatenate([at * n + cuts[:-1] for at, cuts in enumerate(edges)])
    ends = np.cumsum([len(cuts) - 1 for cuts in edges])[:-1]
    sums = np.split(np.add.reduceat(confidence.ravel(), starts, dtype=np.float64), ends)
    if name == "ece":
        rights = np.split(np.add.reduceat(right.ravel(), starts, dtype=np.float64), ends)
    else:
        before = _right_before(right)
        rights = [np.diff(_right_at(*row)) for row in zip(edges, confidence, before, strict=True)]
    return [Bins(np.diff(cuts), *of_row, n) for cuts, of_row in zip(edges, zip(sums, rights, strict=True), strict=True)]


rms_calibration = Metric(
    "rms-calibration",
    "L2, adaptive bins of 100 images, every bin counted",
    ("confidence", "rank"),
    lambda confidence, rank: rms_calibration_error(confidence, rank == 0),
    bounds=(0.0, 1.0),
)
rms_calibration_published = Metric(
    "rms-calibration:published",
    "L2, adaptive bins of 100 images, the most confident bin left out as in the published script",
    ("confidence", "rank"),
    lambda confidence, rank: rms_calibration_error_published(confidence, rank == 0),
    bounds=(0.0, 1.0),
)
ece = Metric(
    "ece",
    "L1, 15 bins of equal width (0, 1/15], ...",
    ("confidence", "rank"),
    lambda confidence, rank: expected_calibration_error(confidence, rank == 0),
    bounds=(0.0, 1.0),
)
adaptive_ece = Metric(
    "adaptive-ece",
    "L1, 15 bins of equal mass",
    ("confidence", "rank"),
    lambda confidence, rank: adaptive_calibration_error(confidence, rank == 0),
    bounds=(0.0, 1.0),
)
