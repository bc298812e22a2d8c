"""Do raters (models, people) fail on the same images? Error consistency of every two of many, and its mean.

Cohen's kappa on being right, as Geirhos et al. 2020 use it: (observed - expected) / (1 - expected), where two are
together if both are right or both wrong, and expected is what independent raters of these accuracies have. Raters need
not have answered the same images: a pair is judged on those that both did.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from oodometer.core.errors import OodometerError
from oodometer.core.estimate import Estimate
from oodometer.stats.bootstrap import DEFAULT, Resampling
from oodometer.stats.intervals import check_level
from oodometer.stats.paired import PairedCounts, error_consistency_of

FEWEST_IMAGES = 2

NEAR = 8192
"""Images that are looked at at once: few enough for the processor's cache."""


@dataclass(frozen=True)
class PairConsistency:
    """Two raters on the images that both answered.

    Args:
        a, b: Their places.
        counts: Who is right on which images.
        together: The share of images on which both are right or both wrong.
        by_chance: What it would be of independent raters of these accuracies.
        kappa: Error consistency with its interval; None where both are always right, or both always wrong.
    """

    a: int
    b: int
    counts: PairedCounts
    together: float
    by_chance: float
    kappa: Estimate | None


def consistency_of_pairs(
    right: np.ndarray, answered: np.ndarray | None = None, *, resampling: Resampling = DEFAULT
) -> tuple[PairConsistency, ...]:
    """Error consistency of every two of R raters, with intervals over images; pairs without a common image have none.

    Args:
        right: Whether each rater is right on each image, (R, N) bool.
        answered: Whether each answered it, (R, N) bool; None: all did.

    >>> right = np.array([[True, True, False, False] * 25, [True, False, False, False] * 25])
    >>> (pair,) = consistency_of_pairs(right)
    >>> round(pair.together, 3), round(pair.by_chance, 3)
    (0.75, 0.5)
    >>> print(pair.kappa)
    0.5000 [0.3573, 0.6373]  n=100
    """
    right, answered = _checked(right, answered)
    n, n_a, both = _counts(right, answered)
    found = []
    for a, b in combinations(range(len(right)), 2):
        if not n[a, b]:
            continue
        counts = PairedCounts(
            both=int(both[a, b]),
            only_a=int(n_a[a, b] - both[a, b]),
            only_b=int(n_a[b, a] - both[a, b]),
            neither=int(n[a, b] - n_a[a, b] - n_a[b, a] + both[a, b]),
        )
        one, other = n_a[a, b] / n[a, b], n_a[b, a] / n[a, b]
        found.append(
            PairConsistency(
                a=a,
                b=b,
                counts=counts,
                together=(counts.both + counts.neither) / counts.n,
                by_chance=float(one * other + (1 - one) * (1 - other)),
                kappa=error_consistency_of(counts, resampling=resampling),
            )
        )
    return tuple(found)


def kappa_matrix(right: np.ndarray, answered: np.ndarray | None = None) -> np.ndarray:
    """Kappa of every two of R raters, (R, R), without intervals: 1 on the diagonal, NaN where it is undefined.

    >>> kappa_matrix(np.array([[True, True, False, False], [True, False, False, False]])).tolist()
    [[1.0, 0.5], [0.5, 1.0]]
    """
    right, answered = _checked(right, answered)
    n, n_a, both = (each.astype(np.float64) for each in _counts(right, answered))
    with np.errstate(invalid="ignore", divide="ignore"):
        a, b, c = n_a / n, (n_a / n).T, both / n
        kappa = np.where(a + b - 2 * a * b > 0, 2 * (c - a * b) / (a + b - 2 * a * b), np.nan)
    np.fill_diagonal(kappa, 1.0)
    return kappa


def mean_consistency(
    right: np.ndarray, answered: np.ndarray | None = None, *, among: np.ndarray | None = None, level: float = 0.95
) -> Estimate | None:
    """The mean error consistency of pairs of raters, with an interval over the images that all pairs share.

    Pairs are not independent, since their raters and images are the same: each image moves the kappa of every pair, and
    the squares of its moves of the mean add up (the infinitesimal jackknife, in closed form). Pairs whose kappa is
    undefined are left out; None where all are. n counts images.

    Args:
        right, answered: As of `consistency_of_pairs`.
        among: Which pairs, (R, R) bool, above the diagonal; None: all.

    >>> right = np.array([[True, True, False, False] * 25, [True, False, False, False] * 25])
    >>> print(mean_consistency(right))
    0.5000 [0.3512, 0.6488]  n=100
    """
    from scipy.special import stdtrit

    check_level(level)
    right, answered = _checked(right, answered)
    n, n_a, both = (each.astype(np.float64) for each in _counts(right, answered))
    wanted = np.triu(np.ones(n.shape, dtype=bool) if among is None else among, 1) & (n >= FEWEST_IMAGES)
    with np.errstate(invalid="ignore", divide="ignore"):
        a, c = n_a / n, both / n
        b = a.T
        chance_wrong = a + b - 2 * a * b  # 1 - expected
        wanted &= chance_wrong > 0
        kappa = 2 * (c - a * b) / chance_wrong
        # How kappa grows with the share that both are right on, and with either accuracy.
        by_both = 2 / chance_wrong
        by_a = (-2 * b - kappa * (1 - 2 * b)) / chance_wrong
        by_b = (-2 * a - kappa * (1 - 2 * a)) / chance_wrong
    if not wanted.any():
        return None
    weight = np.where(wanted, 1 / (wanted.sum() * np.maximum(n, 1)), 0.0)
    by_both, by_a, by_b, a, b, c = (np.where(wanted, each, 0.0) for each in (by_both, by_a, by_b, a, b, c))
    rest = weight * (by_both * c + by_a * a + by_b * b)
    squares, images = 0.0, 0
    for start in range(0, right.shape[1], NEAR):
        near = slice(start, start + NEAR)
        moved = _moved(right[:, near], answered[:, near], weight * by_both, weight * by_a, weight * by_b, rest)
        squares += float(moved @ moved)
        images += int(_in_a_pair(answered[:, near], wanted).sum())
    value = float(kappa[wanted].mean())
    error = float(np.sqrt(squares))
    if error < 1e-12:
        return Estimate(value, None, None, images, "none: all images are alike")
    half = float(stdtrit(images - 1, (1 + level) / 2)) * error
    low, high = max(value - half, -1.0), min(value + half, 1.0)
    return Estimate(value, low, high, images, f"linearised over images {100 * level:g}%")


def _moved(
    right: np.ndarray, answered: np.ndarray, both: np.ndarray, a: np.ndarray, b: np.ndarray, rest: np.ndarray
) -> np.ndarray:
    """What each image adds to the mean beyond the average one, (N,): quadratic forms in its answers, over all pairs.

    Args:
        both, a, b, rest: Of a pair, for an image that both are right on, the first, the second, whatever else, (R, R).
    """
    hits = (right & answered).astype(np.float32)
    of_both = np.einsum("rn,rn->n", hits, both.astype(np.float32) @ hits, dtype=np.float64)
    if answered.all():
        return np.asarray(of_both + (a.sum(axis=1) + b.sum(axis=0)) @ hits - rest.sum())
    seen = answered.astype(np.float32)
    of_one = np.einsum("rn,rn->n", hits, (a + b.T).astype(np.float32) @ seen, dtype=np.float64)
    return np.asarray(of_both + of_one - np.einsum("rn,rn->n", seen, rest.astype(np.float32) @ seen, dtype=np.float64))


def _in_a_pair(answered: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Which images two raters of a wanted pair both answered, (N,) bool."""
    if answered.all():
        return np.full(answered.shape[1], bool(wanted.any()))
    seen = answered.astype(np.float32)
    return np.asarray(np.einsum("rn,rn->n", seen, wanted.astype(np.float32) @ seen) > 0)


def _counts(right: np.ndarray, answered: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of every two raters, (R, R): images that both answered, on which the first is right, on which both are."""
    # Sums of ones are exact in single precision below 2**24 images.
    hits = (right & answered).astype(np.float32)
    both = (hits @ hits.T).astype(np.int64)
    if answered.all():
        n_right = np.diag(both)
        return np.full(both.shape, right.shape[1]), np.broadcast_to(n_right[:, None], both.shape), both
    seen = answered.astype(np.float32)
    return tuple((one @ other.T).astype(np.int64) for one, other in ((seen, seen), (hits, seen), (hits, hits)))  # type: ignore[return-value]


def _checked(right: np.ndarray, answered: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    right = np.asarray(right)
    answered = np.ones(right.shape, dtype=bool) if answered is None else np.asarray(answered)
    if right.dtype != bool or answered.dtype != bool or right.ndim != 2 or right.shape != answered.shape:
        raise OodometerError(
            f"right of shape {right.shape} and type {right.dtype}, answered of {answered.shape} and {answered.dtype}: "
            "expected one bool for each rater and image in both, (R, N)"
        )
    if len(right) < 2:
        raise OodometerError("one rater: error consistency is of two or more")
    return right, answered
