"""Structural similarity (SSIM): Wang, Bovik, Sheikh and Simoncelli, IEEE Transactions on Image Processing 13, 2004."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from oodometer.build.testset.pairs import Pairs
from oodometer.core.errors import DataError

WINDOW, SIGMA = 11, 1.5
"""The side of the window in pixels, and the deviation of the Gaussian that weighs them (section III.C)."""
C1, C2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
"""What keeps the two fractions from 0 / 0, for values from 0 to 255 (section III.C)."""
LUMA = np.array([0.299, 0.587, 0.114])
"""The shares of red, green and blue in grey (ITU-R BT.601)."""

_PAIRS_AT_ONCE = 1024


def grey(pictures: np.ndarray) -> np.ndarray:
    """Grey values from 0 to 255, not rounded, (..., 3) uint8 -> (...) float64.

    >>> grey(np.array([[255, 255, 255], [0, 0, 100]], np.uint8)).round(4).tolist()
    [255.0, 11.4]
    """
    return np.asarray(pictures @ LUMA)


def ssim(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The mean SSIM of grey pictures with values from 0 to 255, (..., H, W) both -> (...); 1 for equal ones.

    Over all windows that lie wholly within the picture, as in the authors' own program; without its reduction of
    pictures of more than 256 pixels, since what is compared here is small.

    >>> steps = np.arange(256.0).reshape(16, 16)
    >>> float(ssim(steps, steps)), round(float(ssim(steps, 255 - steps)), 3)
    (1.0, -0.826)
    """
    if first.shape != second.shape or first.ndim < 2 or min(first.shape[-2:]) < WINDOW:
        raise DataError(
            f"pictures of shapes {first.shape} and {second.shape}: SSIM needs two of one size, of at least "
            f"{WINDOW} pixels a side"
        )
    x, y = first.astype(np.float64), second.astype(np.float64)
    mean_x, mean_y = _windows(x), _windows(y)
    both, squares = mean_x * mean_y, mean_x**2 + mean_y**2
    covariance = _windows(x * y) - both
    variances = _windows(x * x + y * y) - squares
    luminance = (2 * both + C1) / (squares + C1)
    structure = (2 * covariance + C2) / (variances + C2)
    return np.asarray((luminance * structure).mean(axis=(-2, -1)))


def ssim_of_pairs(pictures: np.ndarray, others: np.ndarray, pairs: Pairs) -> np.ndarray:
    """The mean SSIM of each pair, (P,); the first one of a mirrored pair is mirrored for it.

    Args:
        pictures, others: Where the first and the second of each pair are, (N, H, W, 3) uint8; the same where both are
            of one set.
    """
    found = np.empty(len(pairs))
    for start in range(0, len(pairs), _PAIRS_AT_ONCE):
        rows = slice(start, start + _PAIRS_AT_ONCE)
        x = grey(pictures[pairs.first[rows]])
        x = np.where(pairs.mirrored[rows, None, None], x[:, :, ::-1], x)
        found[rows] = ssim(x, grey(others[pairs.second[rows]]))
    return found


def _windows(values: np.ndarray) -> np.ndarray:
    """The weighted mean of each window, (..., H, W) -> (..., H - 10, W - 10)."""
    down, across = (_weights(side) for side in values.shape[-2:])
    return np.asarray(down @ values @ across.T)


@lru_cache(maxsize=8)
def _weights(side: int) -> np.ndarray:
    """A row of weights for each place of a window along a side; the Gaussian is a product of two such."""
    offsets = np.arange(WINDOW) - WINDOW // 2
    bell = np.exp(-(offsets**2) / (2 * SIGMA**2))
    weights = np.zeros((side - WINDOW + 1, side))
    for start, row in enumerate(weights):
        row[start : start + WINDOW] = bell / bell.sum()
    return weights
