"""pm-k: a video counts as recognised only if every frame near the anchor is.

Shankar et al. 2019 (ImageNet-Vid-Robust, YTBB-Robust): each anchor frame comes with its neighbours up to k frames
before and after it, and the worst of them decides.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from oodometer.core.errors import DataError, OodometerError


class PmScores(NamedTuple):
    """Whether each anchor was recognised.

    Args:
        anchor: The ids of the anchors, (A,), in ascending order.
        right: Whether every frame within k of it was right, (A,) bool.
        n_frames: How many frames that was, (A,); fewer than 2k + 1 at the ends of a video.
    """

    anchor: np.ndarray
    right: np.ndarray
    n_frames: np.ndarray

    @property
    def accuracy(self) -> float:
        """The share of anchors that are right: pm-k accuracy."""
        return float(self.right.mean())


def pm_scores(right: np.ndarray, anchor: np.ndarray, offset: np.ndarray, *, k: int) -> PmScores:
    """Which anchors have every frame within k of them right; at k = 0 only the anchor frame itself counts.

    Args:
        right: Whether each frame was answered rightly, (N,) bool; where a frame has several labels, with any of them.
        anchor: The anchor that the frame belongs to, (N,) ids.
        offset: Frames after the anchor, (N,) int: 0 is the anchor itself, -3 the third frame before it.

    >>> found = pm_scores(np.array([True, True, False, True]), np.array([0, 0, 0, 1]), np.array([0, 1, 2, 0]), k=1)
    >>> found.right.tolist(), found.n_frames.tolist(), found.accuracy
    ([True, True], [2, 1], 1.0)
    """
    _check(right, anchor, offset, k)
    anchors, group = np.unique(anchor, return_inverse=True)
    _check_frames(anchors, group, offset, k)
    near = np.abs(offset) <= k
    n_frames = np.bincount(group[near], minlength=len(anchors))
    n_wrong = np.bincount(group[near & ~right], minlength=len(anchors))
    return PmScores(anchors, n_wrong == 0, n_frames)


def _check(right: np.ndarray, anchor: np.ndarray, offset: np.ndarray, k: int) -> None:
    if not right.ndim == 1 or not right.shape == anchor.shape == offset.shape:
        raise OodometerError(f"shapes {right.shape}, {anchor.shape}, {offset.shape}: need one entry each per frame")
    if right.dtype != bool:
        raise OodometerError(f"right is of type {right.dtype}: need bool, whether each frame was answered rightly")
    if len(right) == 0:
        raise OodometerError(f"no frames, so pm-{k} is undefined")
    if k < 0:
        raise OodometerError(f"pm-{k}: k must be at least 0")


def _check_frames(anchors: np.ndarray, group: np.ndarray, offset: np.ndarray, k: int) -> None:
    has_anchor = np.bincount(group[offset == 0], minlength=len(anchors))
    if (has_anchor == 0).any():
        lacking = anchors[has_anchor == 0]
        raise DataError(f"{len(lacking)} anchors have no frame of offset 0; the first is {lacking[0]}")
    order = np.lexsort((offset, group))
    same = (np.diff(group[order]) == 0) & (np.diff(offset[order]) == 0)
    if same.any():
        at = order[np.flatnonzero(same)[0]]
        raise DataError(f"anchor {anchors[group[at]]} has its frame of offset {offset[at]} twice; leave one out")
    if k > 0 and not (np.abs(offset[offset != 0]) <= k).any():
        raise DataError(f"no frame within {k} of an anchor but the anchors themselves: this would be pm-0, not pm-{k}")
