"""The pixels of an image of a condition, as a sheet shows them."""

from __future__ import annotations

import numpy as np

from oodometer.core.condition import Condition
from oodometer.core.errors import UsageError
from oodometer.core.preprocessing import Geometry

LEAST = 96
"""Smaller images are enlarged by a whole number, so that each is at least so many pixels wide and high."""


def pixels_of(condition: Condition, position: int, view: Geometry | None = None) -> np.ndarray:
    """What is asked about: the canonical pixels after the condition's transform, (H, W, 3).

    Args:
        view: Of images without a transform; None: whole.
    """
    if condition.attack is not None:
        raise UsageError(f"{condition.name}: an attack is made for one model and can't be drawn; leave it out")
    dataset, transform = condition.dataset, condition.transform
    if transform is None:
        return dataset.views(position, [view])[0]
    return transform.apply(dataset.views(position, [transform.view])[0], dataset.ids[position])


def enlarged(pixels: np.ndarray, times: int) -> np.ndarray:
    """Each pixel as a square of so many.

    >>> enlarged(np.zeros((2, 3, 3), dtype=np.uint8), 4).shape
    (8, 12, 3)
    """
    return pixels.repeat(times, axis=0).repeat(times, axis=1)


def in_square(pixels: np.ndarray, side: int) -> np.ndarray:
    """The middle of an image in a square, (side, side, 3).

    A small one is enlarged by a whole number, in the middle of white: its pixels are what it looks like.
    """
    from PIL import Image

    short = min(pixels.shape[:2])
    top, left = (pixels.shape[0] - short) // 2, (pixels.shape[1] - short) // 2
    square = pixels[top : top + short, left : left + short]
    if short > side:
        return np.asarray(Image.fromarray(square).resize((side, side), Image.Resampling.LANCZOS))
    grown = enlarged(square, side // short)
    before = (side - len(grown)) // 2
    after = side - len(grown) - before
    return np.pad(grown, ((before, after), (before, after), (0, 0)), constant_values=255)
