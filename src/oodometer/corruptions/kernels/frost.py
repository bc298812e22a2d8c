"""Compiled frost: two weights and a clip."""

from __future__ import annotations

import numpy as np

from oodometer.corruptions.jit import jit


@jit
def frost_kernel(
    image: np.ndarray, texture: np.ndarray, place: tuple[int, int], weights: tuple[float, float]
) -> np.ndarray:
    """The weighted sum of an image and the crop of a texture, (H, W, 3) uint8.

    In float64, so that sums which are whole numbers but for rounding fall as they do in the definition.

    Args:
        place: First row and column of the crop.
        weights: Of the image, of the texture.
    """
    height, width = image.shape[:2]
    top, left = place
    keep, weight = weights
    out = np.empty_like(image)
    for i in range(height):
        source, target = image[i].reshape(-1), out[i].reshape(-1)
        ice = texture[top + i].reshape(-1)[3 * left : 3 * (left + width)]
        for j in range(3 * width):
            target[j] = np.uint8(np.int32(min(keep * source[j] + weight * ice[j], 255.0)))
    return out
