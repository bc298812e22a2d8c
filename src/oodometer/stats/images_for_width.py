"""How many images an interval of a wished width needs, before any was looked at."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from oodometer.core.errors import OodometerError, UsageError
from oodometer.stats.intervals import check_level, clopper_pearson

MOST = 10**8
"""More images than these nobody has."""


def images_for_share(width: float, *, level: float = 0.95) -> int:
    """How many images hold the exact interval of any accuracy within ± width.

    The exact interval is widest at one half.

    >>> images_for_share(0.01), images_for_share(0.05)
    (9701, 402)
    """
    check_level(level)
    low, high = 1, MOST
    if sampling_error(high, level=level) > width:
        raise UsageError(f"± {width:g} at {100 * level:g} % needs more than {MOST:,} images")
    while low < high:
        middle = (low + high) // 2
        if sampling_error(middle, level=level) <= width:
            high = middle
        else:
            low = middle + 1
    return low


def sampling_error(n: int, *, level: float = 0.95) -> float:
    """How far off an accuracy on n images may be by chance, at most: half of the exact interval where it is widest.

    >>> round(sampling_error(10_000), 4), round(sampling_error(10_000, level=0.9999), 4)
    (0.0098, 0.0195)
    """
    if n < 1:
        raise OodometerError("no images: nothing is known of an accuracy")
    # Of an odd number the share nearest to one half.
    low, high = clopper_pearson(n // 2, n, level)
    return (high - low) / 2


def images_for_sum(
    weights: np.ndarray, variances: Sequence[float] | np.ndarray | float, width: float, *, level: float = 0.95
) -> int:
    """How many images each of several conditions needs so that a weighted sum of their means lies within ± width.

    The images of the conditions are drawn apart, so that the variances add up.

    Args:
        weights: Of the mean of each condition, (K,).
        variances: Of an image's number in each condition, (K,) or one for all; 0.25 is the most of right or wrong.

    >>> images_for_sum(np.full(75, 1 / 75), 0.25, 0.01)  # the mean over 75 conditions: 9,604 images in all
    129
    """
    from scipy.special import ndtri

    check_level(level)
    total = float((np.square(weights) * np.asarray(variances)).sum())
    return max(2, int(np.ceil(float(ndtri((1 + level) / 2)) ** 2 * total / width**2)))
