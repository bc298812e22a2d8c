"""Top-1 and top-5 accuracy, and error: from how many classes stand before the true one."""

from __future__ import annotations

import numpy as np

from oodometer.core.errors import OodometerError
from oodometer.core.predictions import UNKNOWN
from oodometer.metrics.metric import Metric


def top_k_right(rank: np.ndarray, k: int) -> np.ndarray:
    """Whether the true class is among the best k, (N,) -> (N,) bool.

    Args:
        rank: How many classes stand before the true one; labelled images only.

    >>> top_k_right(np.array([0, 4, 5]), 5).tolist()
    [True, True, False]
    """
    if k < 1:
        raise OodometerError(f"top-{k}: k must be at least 1")
    _check_ranks(rank)
    return np.asarray(rank < k)


def wrong(rank: np.ndarray) -> np.ndarray:
    """Whether another class stands before the true one, (N,) -> (N,) bool.

    >>> wrong(np.array([0, 4])).tolist()
    [False, True]
    """
    _check_ranks(rank)
    return np.asarray(rank > 0)


def top_1_accuracy(rank: np.ndarray) -> float:
    """The share of images whose best class is the true one.

    >>> top_1_accuracy(np.array([0, 0, 1, 7]))
    0.5
    """
    return float(top_k_right(rank, 1).mean())


def top_5_accuracy(rank: np.ndarray) -> float:
    """The share of images whose true class is among the best five.

    >>> top_5_accuracy(np.array([0, 0, 1, 7]))
    0.75
    """
    return float(top_k_right(rank, 5).mean())


def error_rate(rank: np.ndarray) -> float:
    """The share of images whose best class is not the true one.

    >>> error_rate(np.array([0, 0, 1, 7]))
    0.5
    """
    return float(wrong(rank).mean())


def _check_ranks(rank: np.ndarray) -> None:
    if rank.ndim != 1 or len(rank) == 0:
        raise OodometerError(f"ranks of shape {rank.shape}: need one for each of at least one image")
    if rank.min() < 0:
        raise OodometerError(f"{int((rank < 0).sum())} of {len(rank)} images have no label; leave them out")


def _right(rank: np.ndarray) -> np.ndarray:
    return top_k_right(rank, 1)


def _among_five(rank: np.ndarray, top5: np.ndarray) -> np.ndarray:
    # Where only the best k < 5 classes are known, a missing true class has rank k and would pass for a hit.
    if (top5[:, -1] == UNKNOWN).any():
        raise OodometerError("top-5: fewer than five classes are known for some images, so it is undefined; use top-1")
    return top_k_right(rank, 5)


top_1 = Metric(
    "top-1", "the true class has the largest logit", ("rank",), _right, kind="share", better="higher", bounds=(0.0, 1.0)
)
top_5 = Metric(
    "top-5",
    "the true class is among the five largest logits",
    ("rank", "top5"),
    _among_five,
    kind="share",
    better="higher",
    bounds=(0.0, 1.0),
)
error = Metric("error", "1 - top-1", ("rank",), wrong, kind="share", better="lower", bounds=(0.0, 1.0))
