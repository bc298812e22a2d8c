"""Glass blur: smoothed, each pixel replaced by one near it, smoothed again."""

from __future__ import annotations

import numpy as np

from oodometer.corruptions.gaussian import as_bytes, smoothed
from oodometer.corruptions.kernels.blur import ABOVE, blurred_bytes
from oodometer.corruptions.kernels.glass import copy_near
from oodometer.corruptions.kernels.random_words import random_halves
from oodometer.corruptions.registry import Corruption
from oodometer.corruptions.severities import Strength


def draw_codes(rng: np.random.Generator, height: int, width: int, strength: Strength) -> np.ndarray:
    """16 random bits for each step of each pass, (passes, rows, columns) uint16, in the order of the loops."""
    _, reach, passes = strength
    shape = int(passes), height - 2 * int(reach), width - 2 * int(reach)
    return random_halves(rng, shape[0] * shape[1] * shape[2]).reshape(shape)


def draw_glass_blur(rng: np.random.Generator, height: int, width: int, strength: Strength) -> np.ndarray:
    """The offset (row, column) of each step, from -reach to reach - 1, (passes, rows, columns, 2) int8.

    Each of the (2 reach)² pairs has the same chance: exactly where reach is a power of two, else to 1 in 1,800.
    """
    reach = int(strength[1])
    codes = draw_codes(rng, height, width, strength).astype(np.int64) * (4 * reach * reach) >> 16
    return np.stack(np.divmod(codes, 2 * reach), axis=-1).astype(np.int8) - np.int8(reach)


def apply_glass_blur(image: np.ndarray, draws: np.ndarray, strength: Strength) -> np.ndarray:
    """The image as through frosted glass."""
    sigma = strength[0]
    pixels = as_bytes(smoothed(image, sigma))
    return as_bytes(smoothed(with_copies(pixels, draws, int(strength[1])), sigma))


def with_copies(image: np.ndarray, draws: np.ndarray, reach: int) -> np.ndarray:
    """The image with one near it copied to each pixel, in turn.

    The published loop means to exchange two pixels, but its arrays are views, so that it copies one way; and the
    offset +reach is never drawn. Both are kept.
    """
    pixels = image.copy()
    rows, columns = (range(size - reach, reach, -1) for size in image.shape[:2])
    for offsets in draws.tolist():
        for y, line in zip(rows, offsets, strict=True):
            for x, (down, right) in zip(columns, line, strict=True):
                pixels[y, x] = pixels[y + down, x + right]
    return pixels


def fast_glass_blur(image: np.ndarray, rng: np.random.Generator, strength: Strength) -> np.ndarray:
    """The same, compiled.

    In float64, rounding lowers some flat areas by a level, at either smoothing or at both. Here they keep their level
    at the first and lose one at the second, and so are never two levels apart.
    """
    codes = draw_codes(rng, image.shape[0], image.shape[1], strength)
    pixels = blurred_bytes(image, strength[0])
    copy_near(pixels, codes, int(strength[1]))
    return blurred_bytes(pixels, strength[0], -ABOVE)


glass_blur = Corruption("glass_blur", "common", draw=draw_glass_blur, apply=apply_glass_blur, fast=fast_glass_blur)
