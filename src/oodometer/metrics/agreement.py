"""Two models, or many, on the same images: how often they say the same, and whether they fail together."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from oodometer.core.errors import OodometerError


def agreement(predictions_a: np.ndarray, predictions_b: np.ndarray) -> float:
    """The share of images that both models answer with the same class, right or wrong.

    >>> agreement(np.array([1, 2, 3, 4]), np.array([1, 2, 3, 5]))
    0.75
    """
    _check_pair(predictions_a, predictions_b)
    return float((predictions_a == predictions_b).mean())


def error_consistency(right_a: np.ndarray, right_b: np.ndarray) -> float:
    """Cohen's kappa on being right: agreement beyond what two models of these accuracies have by chance.

    (observed - expected) / (1 - expected), Geirhos et al. 2020: 1 where they fail on the same images, 0 where they
    fail independently, negative where they avoid each other's errors.

    >>> round(error_consistency(np.array([True, True, False, False]), np.array([True, False, False, False])), 12)
    0.5
    """
    _check_right(right_a, right_b)
    n, n_a, n_b = len(right_a), int(right_a.sum()), int(right_b.sum())
    chance = n_a * n_b + (n - n_a) * (n - n_b)  # times n squared: whole numbers, so that 1 is met exactly
    if chance == n * n:
        side = "right" if n_a else "wrong"
        raise OodometerError(f"both models are {side} on all {n} images: error consistency is undefined")
    same = int((right_a == right_b).sum())
    return (same * n - chance) / (n * n - chance)


def shared_errors(right_a: np.ndarray, right_b: np.ndarray) -> float:
    """The share of images that both models miss.

    >>> shared_errors(np.array([True, False, False, False]), np.array([True, True, False, False]))
    0.5
    """
    _check_right(right_a, right_b)
    return float((~right_a & ~right_b).mean())


def error_overlap(right_a: np.ndarray, right_b: np.ndarray) -> float:
    """Of the images that either model misses, the share that both miss (Jaccard index of the error sets).

    >>> round(error_overlap(np.array([True, False, False, False]), np.array([True, True, False, False])), 4)
    0.6667
    """
    _check_right(right_a, right_b)
    n_either = int((~right_a | ~right_b).sum())
    if n_either == 0:
        raise OodometerError("neither model misses an image: the overlap of their errors is undefined")
    return int((~right_a & ~right_b).sum()) / n_either


def shared_wrong_answers(predictions_a: np.ndarray, predictions_b: np.ndarray, labels: np.ndarray) -> float:
    """The share of images that both models answer with the same wrong class.

    >>> shared_wrong_answers(np.array([1, 2, 3, 4]), np.array([1, 9, 3, 4]), np.array([1, 1, 1, 1]))
    0.5
    """
    _check_pair(predictions_a, predictions_b)
    _check_pair(predictions_a, labels)
    if (labels < 0).any():
        raise OodometerError(f"{int((labels < 0).sum())} of {len(labels)} images have no label; leave them out")
    return float(((predictions_a == predictions_b) & (predictions_a != labels)).mean())


class HardImages(NamedTuple):
    """Images by how many models miss them.

    Args:
        position: Places of the images, those that most models miss first, ties in the order of the images.
        n_missing: How many models miss each of these.
    """

    position: np.ndarray
    n_missing: np.ndarray


def hardest_images(right: np.ndarray, n: int | None = None) -> HardImages:
    """The n images that most models miss, from whether each model is right on each, (M, N); all images without n.

    >>> found = hardest_images(np.array([[True, False, False], [True, True, False]]), 2)
    >>> found.position.tolist(), found.n_missing.tolist()
    ([2, 1], [2, 1])
    """
    _check_table(right)
    _check_bool(right)
    if n is not None and n < 1:
        raise OodometerError(f"the hardest {n} images: ask for at least 1")
    missing = (~right).sum(axis=0)
    order = np.argsort(-missing, kind="stable")[:n]
    return HardImages(order, missing[order])


def agreement_matrix(predictions: np.ndarray) -> np.ndarray:
    """The agreement of every two of M models, (M, N) -> (M, M); 1 on the diagonal.

    >>> agreement_matrix(np.array([[1, 2], [1, 3]])).tolist()
    [[1.0, 0.5], [0.5, 1.0]]
    """
    _check_table(predictions)
    matrix = np.ones((len(predictions), len(predictions)))
    # One model against all after it at a time: all pairs at once would take M * M * N bytes.
    for first in range(len(predictions) - 1):
        shares = (predictions[first + 1 :] == predictions[first]).mean(axis=1)
        matrix[first, first + 1 :] = matrix[first + 1 :, first] = shares
    return matrix


def agreement_counts(predictions: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """On how many images of each group every two of M models agree, (M, N) and (N,) -> (G, M, M).

    The diagonal has the number of images of the group. Their sum over the groups is the count on all images.

    >>> agreement_counts(np.array([[1, 2, 3], [1, 3, 3]]), np.array([0, 0, 1])).tolist()
    [[[2, 1], [1, 2]], [[1, 1], [1, 1]]]
    """
    _check_table(predictions)
    if groups.shape != predictions.shape[1:] or groups.min() < 0:
        raise OodometerError(f"groups of shape {groups.shape} for {predictions.shape[1]} images: give each a number")
    sizes = np.bincount(groups)
    ends = np.cumsum(sizes)
    # Images of a group side by side: then every count runs over memory that lies in one piece and in the cache.
    sorted_by_group = np.take(predictions, np.argsort(groups, kind="stable"), axis=1)
    counts = np.empty((len(sizes), len(predictions), len(predictions)), dtype=np.int64)
    for group, (size, end) in enumerate(zip(sizes.tolist(), ends.tolist(), strict=True)):
        answers = sorted_by_group[:, end - size : end]
        for first in range(len(answers)):
            same = np.count_nonzero(answers[first:] == answers[first], axis=1)
            counts[group, first, first:] = counts[group, first:, first] = same
    return counts


def error_consistency_matrix(right: np.ndarray) -> np.ndarray:
    """Cohen's kappa on being right of every two of M models, (M, N) -> (M, M).

    >>> right = np.array([[True, True, False, False], [True, False, False, False]])
    >>> error_consistency_matrix(right).round(6).tolist()
    [[1.0, 0.5], [0.5, 1.0]]
    """
    _check_table(right)
    _check_bool(right)
    n, n_right = right.shape[1], right.sum(axis=1)
    constant = np.flatnonzero((n_right == 0) | (n_right == n))
    if len(constant):
        # Of such a model kappa with itself is 0 / 0.
        raise OodometerError(
            f"model {constant[0]} (counted from 0) is right on {n_right[constant[0]]} of {n} images: its error "
            "consistency is undefined; leave it out"
        )
    ones = right.astype(np.float32)  # sums of ones are exact below 2**24 images
    both = (ones @ ones.T).astype(np.int64)
    same = n - n_right[:, None] - n_right + 2 * both
    chance = n_right[:, None] * n_right + (n - n_right)[:, None] * (n - n_right)
    return np.asarray((same * n - chance) / (n * n - chance))


def _check_pair(a: np.ndarray, b: np.ndarray) -> None:
    if a.ndim != 1 or a.shape != b.shape:
        raise OodometerError(f"arrays of shapes {a.shape} and {b.shape}: need one entry each for the same images")
    if len(a) == 0:
        raise OodometerError("no images in common, so agreement is undefined")


def _check_right(right_a: np.ndarray, right_b: np.ndarray) -> None:
    _check_pair(right_a, right_b)
    _check_bool(right_a)
    _check_bool(right_b)


def _check_bool(right: np.ndarray) -> None:
    # With whole numbers, ~ would turn 0 and 1 into -1 and -2.
    if right.dtype != bool:
        raise OodometerError(f"right is of type {right.dtype}: need bool, whether each image was answered rightly")


def _check_table(table: np.ndarray) -> None:
    if table.ndim != 2 or table.size == 0:
        raise OodometerError(f"an array of shape {table.shape}: need models by images, (M, N), at least one of each")
