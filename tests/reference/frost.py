"""Frost as published, plainly.

The pip package is another function (it enlarges every texture by a tenth, and 1.1.5 draws the sixth too). This is
written from the definition: a texture, shrunk by OpenCV for small images, a crop, a weighted sum.
"""

from __future__ import annotations

import cv2
import numpy as np


def frost(
    image: np.ndarray, texture: np.ndarray, corner: tuple[int, int], strength: tuple[float, ...], shrink: float
) -> np.ndarray:
    """The image behind the crop of a texture that begins at this corner."""
    height, width = image.shape[:2]
    if shrink != 1:
        texture = cv2.resize(texture, (0, 0), fx=shrink, fy=shrink)
    top, left = corner
    crop = texture[top : top + height, left : left + width]
    return np.clip(strength[0] * image + strength[1] * crop, 0, 255).astype(np.uint8)
