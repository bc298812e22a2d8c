"""The mean accuracy of models over several test sets, and how sure it and the differences of models are."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

NEAR = 8192
"""Images that are counted at once: few enough for the processor's cache, and for sums that single precision holds."""


@dataclass(frozen=True)
class MeasuredSet:
    """The same models on one test set.

    Args:
        accuracies: (M,).
        sizes: Images behind each, (M,); NaN where that is not known.
        right: Whether each model was right on each image, or the share of conditions in which it was, (M, N); None
            where only accuracies are known.
        ids: Of these images, (N,).
        photographs: What they are of: sets that were made from the same photographs have this in common.
        covariances: Of the accuracies, (M, M), where they are known otherwise than from ``right``.
    """

    accuracies: np.ndarray
    sizes: np.ndarray
    right: np.ndarray | None = None
    ids: np.ndarray | None = None
    photographs: Hashable = None
    covariances: np.ndarray | None = None


@dataclass(frozen=True)
class Spread:
    """Variances of means over test sets: of each model, (M,), and of the difference of each pair, (M, M)."""

    of_models: np.ndarray
    of_differences: np.ndarray


def spread_of(sets: Sequence[MeasuredSet]) -> Spread:
    """The variances of the mean over sets that count the same each.

    A photograph that several sets show, corrupted in several ways, is one draw and not several. Where the images are
    not known, models are taken as independent: that errs to the safe side, since they mostly fail on the same images.
    """
    n_models = len(sets[0].accuracies)
    products, alone = np.zeros((n_models, n_models)), np.zeros(n_models)
    for measured in sets:
        if measured.covariances is not None:
            products += measured.covariances / len(sets) ** 2
    for shared in _by_photographs([one for one in sets if one.covariances is None]):
        of_images = _products(shared, len(sets))
        if of_images is None:
            for measured in shared:
                alone += measured.accuracies * (1 - measured.accuracies) / measured.sizes / len(sets) ** 2
        else:
            products += of_images
    of_models = np.diag(products) + alone
    of_differences = np.maximum(of_models[:, None] + of_models[None, :] - 2 * products, 0)
    np.fill_diagonal(of_differences, 0)
    return Spread(of_models, of_differences)


def _by_photographs(sets: Sequence[MeasuredSet]) -> list[list[MeasuredSet]]:
    groups: dict[Hashable, list[MeasuredSet]] = {}
    for place, measured in enumerate(sets):
        groups.setdefault(place if measured.photographs is None else measured.photographs, []).append(measured)
    return list(groups.values())


def _products(sets: Sequence[MeasuredSet], n_sets: int) -> np.ndarray | None:
    """Covariances of the models' means as far as these sets go, (M, M); None where images are missing."""
    known = [(one.right, one.ids) for one in sets if one.right is not None and (one.ids is not None or len(sets) == 1)]
    if len(known) < len(sets):
        return None
    if _same_images([ids for _, ids in known]) and all(right.dtype == bool for right, _ in known):
        return _of_counts([right for right, _ in known], n_sets)
    residuals = _residuals([(right, ids) for right, ids in known], n_sets)
    return np.asarray(residuals @ residuals.T)


def _same_images(ids: Sequence[np.ndarray | None]) -> bool:
    first = ids[0]
    if len(ids) == 1 or first is None:
        return len(ids) == 1
    return all(some is first or (some is not None and np.array_equal(some, first)) for some in ids)


def _of_counts(rights: Sequence[np.ndarray], n_sets: int) -> np.ndarray:
    """The covariances from counts of right answers: whole numbers, whose products single precision has exactly."""
    n_models, n = rights[0].shape
    products, sums = np.zeros((n_models, n_models)), np.zeros(n_models)
    for start in range(0, n, NEAR):
        near = slice(start, start + NEAR)
        counts = np.zeros((n_models, len(rights[0][0, near])), dtype=np.float32)
        for right in rights:
            counts += right[:, near]
        products += counts @ counts.T
        sums += counts.sum(axis=1, dtype=np.float64)
    return np.asarray((products - np.outer(sums, sums) / n) / (n_sets**2 * n * max(n - 1, 1)))


def _residuals(known: Sequence[tuple[np.ndarray, np.ndarray | None]], n_sets: int) -> np.ndarray:
    """What each photograph adds to each model's mean beyond the average one, (M, N)."""
    if len(known) == 1:
        return _centred(known[0][0], n_sets)
    every = np.unique(np.concatenate([ids for _, ids in known if ids is not None]))
    total = np.zeros((len(known[0][0]), len(every)))
    for right, ids in known:
        places = np.searchsorted(every, np.asarray(ids))
        total[:, places] += _centred(right, n_sets)
    return total


def _centred(right: np.ndarray, n_sets: int) -> np.ndarray:
    n = right.shape[1]
    shares = right.astype(np.float64)
    # Their squares add up to the variance of the mean, with n - 1 as its divisor.
    centred: np.ndarray = (shares - shares.mean(axis=1, keepdims=True)) / (n_sets * np.sqrt(n * max(n - 1, 1)))
    return centred
