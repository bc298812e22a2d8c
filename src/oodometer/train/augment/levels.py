"""From computed values back to bytes."""

from __future__ import annotations

import numpy as np


def whole_levels(values: np.ndarray) -> np.ndarray:
    """Values around 0 to 255 rounded to the nearest level and clipped, as uint8.

    >>> whole_levels(np.array([-3.0, 0.6, 254.4, 300.0])).tolist()
    [0, 1, 254, 255]
    """
    rounded: np.ndarray = np.rint(values).clip(0, 255).astype(np.uint8)
    return rounded
