"""Selective prediction: how accurate a model is when it may decline to answer what it is least sure of.

Images of the same confidence have no order among themselves. Curves and areas are therefore the average over all their
orders, in which every image of a tie counts as right by the share of right ones in it.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from oodometer.core.errors import OodometerError
from oodometer.metrics.metric import Metric
from oodometer.metrics.reliability import checked_answers
from oodometer.metrics.ties import Ties, evenly, ties_of

NEAR_THRESHOLD = 0.02
"""Of all images, how many on either side of a threshold tell how often those at it are wrong."""


class ResponseCurve(NamedTuple):
    """Accuracy among the k most confident images, for k = 1, ..., N; both (N,)."""

    response_rate: np.ndarray
    accuracy: np.ndarray


def response_rate_accuracy(confidence: np.ndarray, right: np.ndarray) -> ResponseCurve:
    """The accuracy at each response rate k/N, answering the k most confident images only.

    >>> curve = response_rate_accuracy(np.array([0.9, 0.5, 0.7]), np.array([True, False, True]))
    >>> curve.response_rate.round(3).tolist(), curve.accuracy.round(3).tolist()
    ([0.333, 0.667, 1.0], [1.0, 1.0, 0.667])
    """
    confidence, right = checked_answers(confidence, right)
    k = np.arange(1, len(confidence) + 1)
    return ResponseCurve(k / len(k), _right_among(*_most_confident_first(confidence, right)) / k)


def area_under_response_curve(confidence: np.ndarray, right: np.ndarray) -> float:
    """AURRA: the mean over k = 1..N of the accuracy among the k most confident (Hendrycks et al. 2021).

    >>> round(area_under_response_curve(np.array([0.9, 0.5, 0.7]), np.array([True, False, True])), 6)
    0.888889
    """
    return float(_curve(*_most_confident_first(*checked_answers(confidence, right))).accuracy.mean())


def influences_on_area(confidence: np.ndarray, right: np.ndarray) -> tuple[float, np.ndarray]:
    """AURRA, and by how much it moves with the weight of each image, (N,), the most confident first.

    The area is the mean over images of the accuracy among those as confident or more. An image moves it by its own
    term, and by being one of those that come before every less confident one. The mean of the influences is 0, their
    variance over N that of AURRA (the infinitesimal jackknife: Efron, The Jackknife, the Bootstrap and Other Resampling
    Plans, 1982).

    >>> area, influences = influences_on_area(np.array([0.9, 0.5, 0.7]), np.array([True, False, True]))
    >>> round(area, 6), influences.round(4).tolist()
    (0.888889, [0.2222, 0.2222, -0.4444])
    """
    areas, influences = influences_on_areas(*_most_confident_first(*checked_answers(confidence, right)))
    return float(areas), influences


def influences_on_areas(confidence: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same of several models at once, whose most confident images come first: (..., N) -> (...) and (..., N)."""
    curve = _curve(confidence, right)
    n = confidence.shape[-1]
    later = np.broadcast_to(_harmonic(n)[-1] - _harmonic(n)[:-1], confidence.shape)
    less_right = sums_up_to((curve.accuracy / _places(n))[..., ::-1])[..., ::-1]
    areas = curve.accuracy.mean(axis=-1)
    accuracy, later, less_right = (evenly(values, curve.tied) for values in (curve.accuracy, later, less_right))
    return areas, np.asarray(accuracy - areas[..., None] + curve.right * later - less_right)


def sums_up_to(values: np.ndarray) -> np.ndarray:
    """The sums of all values up to each along the last axis, (..., N).

    Row by row: of several rows at once numpy keeps the interpreter's lock, for which other threads wait.

    >>> sums_up_to(np.array([[1.0, 2.0], [3.0, 4.0]])).tolist()
    [[1.0, 3.0], [3.0, 7.0]]
    """
    sums = np.empty_like(values, subok=False)
    n = values.shape[-1]
    for row, out in zip(values.reshape(-1, n), sums.reshape(-1, n), strict=True):
        np.cumsum(row, out=out)
    return sums


class _Curve(NamedTuple):
    """The most confident images first: whether each is right, the accuracy up to it, (..., N) both, and their ties."""

    right: np.ndarray
    accuracy: np.ndarray
    tied: Ties


def _curve(confidence: np.ndarray, right: np.ndarray) -> _Curve:
    tied = ties_of(confidence)
    shares = right.astype(np.float64)
    places = _places(confidence.shape[-1])
    return _Curve(shares, sums_up_to(evenly(shares, tied)) / places, tied)


def area_under_risk_curve(confidence: np.ndarray, right: np.ndarray) -> float:
    """AURC: the mean over k = 1..N of the error among the k most confident; one minus AURRA.

    >>> round(area_under_risk_curve(np.array([0.9, 0.5, 0.7]), np.array([True, False, True])), 6)
    0.111111
    """
    return 1 - area_under_response_curve(confidence, right)


def excess_area_under_risk_curve(confidence: np.ndarray, right: np.ndarray) -> float:
    """E-AURC: AURC minus that of a model as accurate that is surest of what it gets right (Geifman et al. 2019).

    >>> excess_area_under_risk_curve(np.array([0.9, 0.5, 0.7]), np.array([True, False, True]))
    0.0
    """
    area = area_under_risk_curve(confidence, right)
    best = area_under_risk_curve(np.asarray(right, np.float64), right)
    return area - best


def coverage_at_risk(confidence: np.ndarray, right: np.ndarray, *, risk: float = 0.05) -> float:
    """The largest share of images that can be answered, most confident first, with an error of at most ``risk``.

    The answered images are those with a confidence of at least some threshold, so that images of one confidence are
    answered together or not at all. It is the largest such share, even where a smaller one has more than that error;
    0 where every threshold has: then no answer is safe enough.

    >>> coverage_at_risk(np.array([0.9, 0.8, 0.7, 0.6]), np.array([True, False, True, True]), risk=0.25)
    1.0
    >>> coverage_at_risk(np.array([0.9, 0.8, 0.7, 0.6]), np.array([True, True, False, False]), risk=0.05)
    0.5
    """
    if not 0 <= risk <= 1:
        raise OodometerError(f"risk {risk}: must lie in [0, 1], for example 0.05")
    confidence, right = _most_confident_first(*checked_answers(confidence, right))
    answered = np.append(_tie_starts(confidence)[1:], len(confidence))
    n_right = np.cumsum(right, dtype=np.int32)[answered - 1]
    safe = np.flatnonzero((answered - n_right) / answered <= risk)
    return float(answered[safe[-1]] / len(confidence)) if len(safe) else 0.0


def risk_at_coverage(confidence: np.ndarray, right: np.ndarray, *, coverage: float = 0.8) -> float:
    """The error among the most confident images, as many as it takes to answer at least this share of all.

    >>> risk_at_coverage(np.array([0.9, 0.8, 0.7, 0.6, 0.5]), np.array([True, True, False, True, False]))
    0.25
    """
    if not 0 < coverage <= 1:
        raise OodometerError(f"coverage {coverage}: must lie in (0, 1], for example 0.8")
    confidence, right = _most_confident_first(*checked_answers(confidence, right))
    answered = images_answered(len(confidence), coverage)
    return float(1 - _right_among(confidence, right)[answered - 1] / answered)


def influences_on_risk(confidence: np.ndarray, right: np.ndarray, *, coverage: float = 0.8) -> tuple[float, np.ndarray]:
    """The risk at a coverage, and by how much it moves with the weight of each image, (N,), the most confident first.

    An answered image moves it by being wrong or right; and each moves the threshold, at which images go in or out that
    are wrong as often as those around it: the 2 % of all images on either side.

    >>> confidence, right = np.array([0.9, 0.8, 0.7, 0.6, 0.5]), np.array([True, True, False, True, False])
    >>> risk, influences = influences_on_risk(confidence, right)
    >>> risk, influences.round(3).tolist()  # around the threshold one of two is wrong
    (0.25, [-0.375, -0.375, 0.875, -0.375, 0.25])
    """
    confidence, right = _most_confident_first(*checked_answers(confidence, right))
    n = len(confidence)
    answered = images_answered(n, coverage)
    wrong = evenly((~right).astype(np.float64), ties_of(confidence))
    risk = float(wrong[:answered].mean())
    beside = max(round(NEAR_THRESHOLD * n), 1)
    at_threshold = float(wrong[max(answered - beside, 0) : answered + beside].mean())
    inside = evenly((np.arange(n) < answered).astype(np.float64), ties_of(confidence))
    return risk, inside * (~right - at_threshold) / coverage - risk + at_threshold


def images_answered(n: int, coverage: float) -> int:
    """The least number of n images that is at least this share of them.

    >>> images_answered(10, 0.8), images_answered(11, 0.8)
    (8, 9)
    """
    return max(math.ceil(coverage * n - 1e-9), 1)


def _most_confident_first(confidence: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if (confidence[1:] >= confidence[:-1]).all():  # as in a bootstrap, and from who asks for several numbers
        return confidence[::-1], right[::-1]
    order = np.argsort(confidence, kind="stable")[::-1]
    return confidence[order], right[order]


def _tie_starts(confidence: np.ndarray) -> np.ndarray:
    """Where a new confidence begins, of sorted ones."""
    return np.flatnonzero(np.append(True, confidence[1:] != confidence[:-1]))


def _right_among(confidence: np.ndarray, right: np.ndarray) -> np.ndarray:
    """How many of the first k are right, for each k, where equals in confidence share theirs evenly."""
    starts = _tie_starts(confidence)
    sizes = np.diff(starts, append=len(confidence))
    shares = np.add.reduceat(right, starts, dtype=np.int64) / sizes
    return np.asarray(np.cumsum(np.repeat(shares, sizes)))


@lru_cache(maxsize=8)
def _places(n: int) -> np.ndarray:
    """1, ..., n as real numbers."""
    return np.arange(1.0, n + 1)


@lru_cache(maxsize=8)
def _harmonic(n: int) -> np.ndarray:
    """Σ 1/i for i up to k, for k = 0, ..., n; a bootstrap asks for the same again and again."""
    return np.append(0.0, np.cumsum(1 / np.arange(1, n + 1)))


aurra = Metric(
    "aurra",
    "mean over k of the accuracy among the k most confident",
    ("confidence", "rank"),
    lambda confidence, rank: area_under_response_curve(confidence, rank == 0),
    better="higher",
    bounds=(0.0, 1.0),
)
aurc = Metric(
    "aurc",
    "mean over k of the error among the k most confident; 1 − aurra",
    ("confidence", "rank"),
    lambda confidence, rank: area_under_risk_curve(confidence, rank == 0),
    bounds=(0.0, 1.0),
)
coverage_at_5 = Metric(
    "coverage@5%",
    "largest share of images above a confidence threshold with at most 5 % errors",
    ("confidence", "rank"),
    lambda confidence, rank: coverage_at_risk(confidence, rank == 0, risk=0.05),
    better="higher",
    bounds=(0.0, 1.0),
)
risk_at_80 = Metric(
    "risk@80%",
    "error among the 80 % most confident images",
    ("confidence", "rank"),
    lambda confidence, rank: risk_at_coverage(confidence, rank == 0, coverage=0.8),
    bounds=(0.0, 1.0),
)
