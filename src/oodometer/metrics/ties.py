"""Images of the same confidence, which have no order among themselves: each counts as their mean does."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Ties(NamedTuple):
    """Images that share their confidence with another: where they are, and in which tie of how many, (T,) each.

    Of several models at once, (C, N), places are those in all rows one after the other.
    """

    places: np.ndarray
    tie: np.ndarray
    sizes: np.ndarray


def ties_of(confidence: np.ndarray) -> Ties:
    """Of confidences that are sorted along the last axis, (..., N).

    >>> ties_of(np.array([[0.1, 0.1, 0.3], [0.3, 0.4, 0.4]])).places.tolist()
    [0, 1, 4, 5]
    """
    same = np.zeros(confidence.shape, dtype=bool)  # as the one before, in the same row
    np.equal(confidence[..., 1:], confidence[..., :-1], out=same[..., 1:])
    as_before = same.ravel()
    as_next = np.append(as_before[1:], False)
    starts = np.flatnonzero(as_next & ~as_before)
    sizes = np.flatnonzero(as_before & ~as_next) + 1 - starts
    tie = np.repeat(np.arange(len(sizes)), sizes)
    before = np.cumsum(sizes) - sizes
    return Ties(np.arange(len(tie)) + (starts - before)[tie], tie, sizes)


def evenly(values: np.ndarray, tied: Ties) -> np.ndarray:
    """The values, (..., N), of ties their mean.

    >>> evenly(np.array([1.0, 0.0, 1.0]), ties_of(np.array([0.2, 0.2, 0.3]))).tolist()
    [0.5, 0.5, 1.0]
    """
    if not len(tied.sizes):
        return values
    even = values.flatten()  # a copy
    means = np.bincount(tied.tie, weights=even[tied.places], minlength=len(tied.sizes)) / tied.sizes
    even[tied.places] = means[tied.tie]
    return even.reshape(values.shape)
