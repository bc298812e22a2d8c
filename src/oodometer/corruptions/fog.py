"""Fog: a plasma fractal (diamond-square) added to the image, and the sum scaled back."""

from __future__ import annotations

import numpy as np

from oodometer.corruptions.kernels.fog import fog_kernel
from oodometer.corruptions.kernels.random_words import random_halves
from oodometer.corruptions.registry import Corruption
from oodometer.corruptions.severities import Strength

FIRST_WIBBLE = 100.0
"""Amplitude at the coarsest level, as published; it enters squared (a factor and a bound of the uniform draw)."""


def map_side(height: int, width: int) -> int:
    """The side of the plasma: the least power of two that covers the image.

    >>> map_side(224, 224), map_side(32, 32), map_side(150, 257)
    (256, 32, 512)
    """
    return 1 << (max(height, width) - 1).bit_length()


def draw_fog(rng: np.random.Generator, height: int, width: int, strength: Strength) -> np.ndarray:  # noqa: ARG001
    """The uniform draws of the plasma in the published order of use, (side * side - 1,) uint16.

    Level by level, coarse to fine; in each level the centres of the squares, then the middles of the horizontal edges,
    then those of the vertical ones. The draw k stands for the uniform (2 k + 1) / 65536 - 1 of (-1, 1): the steps are
    a hundredth of a grey level.
    """
    return random_halves(rng, map_side(height, width) ** 2 - 1)


def plasma(draws: np.ndarray, side: int, decay: float) -> np.ndarray:
    """A cloud by the diamond-square algorithm on a torus, (side, side) float64 from 0 to 1."""
    uniforms = (2.0 * draws + 1) / 65536 - 1
    grid = np.zeros((1, 1))
    wibble = FIRST_WIBBLE
    used = 0
    while (n := len(grid)) < side:
        centre_noise, across_noise, down_noise = wibble**2 * uniforms[used : used + 3 * n * n].reshape(3, n, n)
        used += 3 * n * n
        right, below = np.roll(grid, -1, axis=1), np.roll(grid, -1, axis=0)
        centre = (grid + right + below + np.roll(right, -1, axis=0)) / 4 + centre_noise
        finer = np.empty((2 * n, 2 * n))
        finer[0::2, 0::2] = grid
        finer[1::2, 1::2] = centre
        finer[0::2, 1::2] = (centre + np.roll(centre, 1, axis=0) + grid + right) / 4 + across_noise
        finer[1::2, 0::2] = (centre + np.roll(centre, 1, axis=1) + grid + below) / 4 + down_noise
        grid = finer
        wibble /= decay
    cloud: np.ndarray = (grid - grid.min()) / (grid.max() - grid.min())
    return cloud


def apply_fog(image: np.ndarray, draws: np.ndarray, strength: Strength) -> np.ndarray:
    """The image in fog; a darker image gets darker fog, because its largest value stays the largest."""
    weight, decay = strength
    height, width = image.shape[:2]
    pixels = image / 255.0
    brightest = pixels.max()
    cloud = plasma(draws, map_side(height, width), decay)[:height, :width, np.newaxis]
    fogged = (pixels + weight * cloud) * brightest / (brightest + weight)
    result: np.ndarray = (np.clip(fogged, 0, 1) * 255).astype(np.uint8)
    return result


def fast_fog(image: np.ndarray, rng: np.random.Generator, strength: Strength) -> np.ndarray:
    """The same in float32, level by level."""
    weight, decay = strength
    height, width = image.shape[:2]
    draws = draw_fog(rng, height, width, strength)
    return fog_kernel(image, draws, map_side(height, width), FIRST_WIBBLE, weight, decay)


fog = Corruption("fog", "common", draw=draw_fog, apply=apply_fog, fast=fast_fog)
