"""Whole numbers in proportion: the method of largest remainders (Hamilton's)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from oodometer.core.errors import UsageError


def largest_remainder(weights: np.ndarray, total: int) -> np.ndarray:
    """``total`` parted in proportion to whole-numbered weights, (B,) -> (B,) whole numbers that add up to it.

    Each gets what is whole of its share; what is left goes to the largest fractions, of equal ones to the first. In
    fractions, not in floating point, lest rounding decide between equals.

    >>> largest_remainder(np.array([5, 3, 1]), 10).tolist()  # shares 5.56, 3.33, 1.11
    [6, 3, 1]
    >>> largest_remainder(np.array([1, 1, 1]), 4).tolist()
    [2, 1, 1]
    """
    counts = [int(one) for one in weights]
    if total < 0:
        raise UsageError(f"{total} images can't be parted")
    if any(one < 0 for one in counts) or not any(counts):
        raise UsageError("nothing to part in proportion to: weights are 0 or more, and one is more")
    shares = [Fraction(one * total, sum(counts)) for one in counts]
    whole = [int(share) for share in shares]
    order = sorted(range(len(counts)), key=lambda at: (whole[at] - shares[at], at))
    for at in order[: total - sum(whole)]:
        whole[at] += 1
    return np.array(whole, dtype=np.int64)
