"""What near-duplicates of training images did to an accuracy: Recht et al. 2019, appendix B.2.2.

With m of n images that have a duplicate, the accuracy over all is a (n - m) / n + d m / n, where d is that of the
duplicates and a that of the others. The two accuracies that are compared, over all and over the others, have n - m
images in common, but their difference is m / n times d - a, and d and a have no image in common: the interval of
d - a is that of two independent shares, by Newcombe's method 10 with Wilson's limits, and the difference's is m / n
times it. Which images have a duplicate is a fact about this test set, as their number is; in another test set from the
same source it would be another one, and about that the interval says nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from oodometer.core.errors import DataError, UsageError
from oodometer.core.estimate import Estimate
from oodometer.stats.intervals import difference_of, mean_of, share_of


@dataclass(frozen=True)
class Contamination:
    """A model's accuracy with and without the images that have a duplicate in its training data.

    Args:
        over_all: The accuracy over all images.
        over_others: Over those without a duplicate.
        over_duplicates: Over those with one.
        gained: Over all minus over the others: what the duplicates added to the accuracy.
        gap: Over the duplicates minus over the others.
    """

    over_all: Estimate
    over_others: Estimate
    over_duplicates: Estimate
    gained: Estimate
    gap: Estimate


def contamination(right: np.ndarray, has_duplicate: np.ndarray, *, level: float = 0.95) -> Contamination:
    """What duplicates did to an accuracy, from whether each answer is right and each image has one, (N,) bool both.

    >>> right = np.arange(1000) >= 70
    >>> found = contamination(right, np.arange(1000) >= 920)  # 80 duplicates, on all of which the model is right
    >>> print(found.over_all), print(found.over_others)
    0.9300 [0.9124, 0.9450]  n=1000
    0.9239 [0.9048, 0.9402]  n=920
    (None, None)
    >>> print(f"{found.gained:+.4f}"), print(f"{found.gap:+.4f}")
    +0.0061 [+0.0022, +0.0076]
    +0.0761 [+0.0277, +0.0950]
    (None, None)
    """
    right, has_duplicate = _checked(right, has_duplicate)
    n, m = len(right), int(has_duplicate.sum())
    duplicates, others = (int(right[mask].sum()) for mask in (has_duplicate, ~has_duplicate))
    wilson = (share_of(hits, of, interval="wilson", level=level) for hits, of in ((duplicates, m), (others, n - m)))
    gap = difference_of(*wilson, n=n, level=level)
    return Contamination(
        over_all=share_of(duplicates + others, n, level=level),
        over_others=share_of(others, n - m, level=level),
        over_duplicates=share_of(duplicates, m, level=level),
        gained=_times(gap, m / n),
        gap=gap,
    )


def gained_by_mean(right: np.ndarray, has_duplicate: np.ndarray, *, level: float = 0.95) -> Estimate:
    """What duplicates added to the mean accuracy of several models, (M, N) bool; n counts images.

    The images are the units, since all models saw the same ones: Student's intervals of the share of models that are
    right on an image, over the duplicates and over the others.

    >>> right = np.arange(1000) >= np.array([[70], [90]])
    >>> print(gained_by_mean(right, np.arange(1000) >= 900))
    0.0089 [0.0048, 0.0107]  n=1000
    """
    _, has_duplicate = _checked(np.ones(right.shape[1], dtype=bool), has_duplicate)
    means = right.mean(axis=0)
    duplicates, others = (mean_of(means[mask], level=level, bounds=(0, 1)) for mask in (has_duplicate, ~has_duplicate))
    if duplicates.value == 1:  # all models are right on all of them: as sure as of one model
        m = int(has_duplicate.sum())
        duplicates = share_of(m, m, interval="wilson", level=level)
    gap = difference_of(duplicates, others, n=len(means), level=level)
    return gap if gap.low is None else _times(gap, float(has_duplicate.mean()))


def accuracy_over_others(accuracy: float, share: float, on_duplicates: float) -> float:
    """The accuracy without duplicates, where only that over all and that on them are known.

    >>> round(accuracy_over_others(0.93, share=0.08, on_duplicates=1.0), 3)  # the paper's own example
    0.924
    """
    for name, value in (("accuracy", accuracy), ("share", share), ("on_duplicates", on_duplicates)):
        if not 0 <= value <= 1:
            raise UsageError(f"{name} {value}: must lie in [0, 1]")
    right = accuracy - share * on_duplicates
    # Rounding of a published number may bring it a little outside.
    if share == 1 or not -0.01 <= right <= 1 - share + 0.01:
        raise UsageError(
            f"accuracy {accuracy} with a share of {share} duplicates at {on_duplicates}: no accuracy of the others "
            "gives that"
        )
    return float(np.clip(right / (1 - share), 0, 1))


def _times(estimate: Estimate, factor: float) -> Estimate:
    assert estimate.low is not None and estimate.high is not None  # noqa: PT018
    return replace(estimate, value=factor * estimate.value, low=factor * estimate.low, high=factor * estimate.high)


def _checked(right: np.ndarray, has_duplicate: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    right, has_duplicate = np.asarray(right), np.asarray(has_duplicate)
    if right.dtype != bool or has_duplicate.dtype != bool or right.ndim != 1 or right.shape != has_duplicate.shape:
        raise DataError(
            f"right of shape {right.shape} and type {right.dtype}, has_duplicate of {has_duplicate.shape} and "
            f"{has_duplicate.dtype}: expected one bool for each image in both"
        )
    if not has_duplicate.any() or has_duplicate.all():
        which = "all" if len(right) and has_duplicate.all() else "none"
        raise DataError(f"{which} of the {len(right)} images has a duplicate: there is nothing to compare with")
    return right, has_duplicate
