"""Cropping: the image is made four pixels wider on every side, and a part of its old size is cut out."""

from __future__ import annotations

import numpy as np

PADDING = 4
"""Pixels on each side (He et al. 2016)."""


def crop(images: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The images, each moved by up to four pixels.

    Outside, the pixels at the edge are repeated: black there would draw a frame around pictures on white.
    """
    n, height, width, _ = images.shape
    wide = np.pad(images, ((0, 0), (PADDING, PADDING), (PADDING, PADDING), (0, 0)), mode="edge")
    tops, lefts = rng.integers(2 * PADDING + 1, size=(2, n))
    windows = np.lib.stride_tricks.sliding_window_view(wide, (height, width), axis=(1, 2))
    return np.ascontiguousarray(windows[np.arange(n), tops, lefts].transpose(0, 2, 3, 1))
