"""Cropping: the image is made four pixels wider on every side, and a part of its old size is cut out."""

from __future__ import annotations

import numpy as np

PADDING = 4
"""Pixels on each side (He et al. 2016)."""
AROUND = ((0, 0), (PADDING, PADDING), (PADDING, PADDING), (0, 0))


def crop(images: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The images, each moved by up to four pixels.

    Outside, the pixels at the edge are repeated: black there would draw a frame around pictures on white.
    """
    return _moved(images, np.pad(images, AROUND, mode="edge"), rng)


def crop_black(images: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The images, each moved in the same way; outside it is black, as the scripts of most papers have it."""
    return _moved(images, np.pad(images, AROUND), rng)


def _moved(images: np.ndarray, wide: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    n, height, width, _ = images.shape
    tops, lefts = rng.integers(2 * PADDING + 1, size=(2, n))
    windows = np.lib.stride_tricks.sliding_window_view(wide, (height, width), axis=(1, 2))
    return np.ascontiguousarray(windows[np.arange(n), tops, lefts].transpose(0, 2, 3, 1))
