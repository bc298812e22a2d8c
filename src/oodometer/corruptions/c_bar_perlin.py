"""Perlin's turbulence, mixed into the image (ImageNet-C-bar)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from oodometer.corruptions.kernels import c_bar as kernels
from oodometer.corruptions.registry import Corruption
from oodometer.corruptions.severities import Strength

LATTICE = 256
"""The lattice of gradients repeats after so many cells."""
OCTAVES = (1, 2, 4, 8, 16)
CELL = 32 / 224
"""The coarsest cell, as a share of the shorter side."""


class Lattice(NamedTuple):
    """The gradients (256, 2), and the permutation that picks one for each lattice point."""

    gradients: np.ndarray
    order: np.ndarray


def draw_lattice(rng: np.random.Generator, height: int, width: int, strength: Strength) -> Lattice:  # noqa: ARG001
    """Unit gradients from a grid of 512 x 512 directions, and a shuffle by 256 swaps with any place."""
    raw = rng.integers(-LATTICE, LATTICE, size=(LATTICE, 2)) / LATTICE
    swaps = rng.integers(LATTICE, size=LATTICE).tolist()
    order = list(range(LATTICE))
    for i in range(LATTICE - 1, -1, -1):
        j = swaps[i]
        order[i], order[j] = order[j], order[i]
    norms = np.hypot(raw[:, 0], raw[:, 1])[:, None]
    # One draw in 2**18 has no direction: it stays zero (the published code would divide zero by zero).
    return Lattice(raw / np.where(norms == 0, 1, norms), np.array(order))


def noise(y: np.ndarray, x: np.ndarray, lattice: Lattice) -> np.ndarray:
    """Perlin's noise of 1985 at rows y (H,) and columns x (W,), (H, W), times 1.5."""
    top, left = np.floor(y).astype(int), np.floor(x).astype(int)
    dy, dx = (y - top)[:, None], (x - left)[None]
    curve_y, curve_x = dy**2 * (3 - 2 * dy), dx**2 * (3 - 2 * dx)

    def slope(down: int, right: int) -> np.ndarray:
        first = lattice.order[(top + down) % LATTICE][:, None]
        chosen = lattice.order[(first + (left + right)[None] % LATTICE) % LATTICE]
        gradient = lattice.gradients[chosen]
        return np.asarray((dy - down) * gradient[..., 0] + (dx - right) * gradient[..., 1])

    at_left = slope(0, 0) + curve_y * (slope(1, 0) - slope(0, 0))
    at_right = slope(0, 1) + curve_y * (slope(1, 1) - slope(0, 1))
    return np.asarray(1.5 * (at_left + curve_x * (at_right - at_left)))


def apply_perlin(image: np.ndarray, lattice: Lattice, strength: Strength) -> np.ndarray:
    """Mix the image with grey turbulence 0.5 + 0.5 sum |noise| / octave, whose weight is 1/2 at a constant of 10."""
    height, width = image.shape[:2]
    cell = CELL * min(height, width)
    y, x = np.arange(height) / cell, np.arange(width) / cell
    turbulence = sum(np.abs(noise(octave * y, octave * x, lattice)) / octave for octave in OCTAVES)
    grey = np.clip(0.5 * np.asarray(turbulence) + 0.5, 0, 1)[..., None]
    alpha = strength[0] * 0.05
    return np.clip((1 - alpha) * image + 255 * alpha * grey, 0, 255).astype(np.uint8)


def fast_perlin(image: np.ndarray, rng: np.random.Generator, strength: Strength) -> np.ndarray:
    """The same, compiled."""
    height, width = image.shape[:2]
    lattice = draw_lattice(rng, height, width, strength)
    plane = np.full((height, width), 0.5)
    for octave in OCTAVES:
        step = octave / (CELL * min(height, width))
        kernels.add_octave(plane, step, 0.75 / octave, lattice.gradients, lattice.order)
    np.minimum(plane, 1.0, out=plane)
    alpha = strength[0] * 0.05
    return kernels.blend(image, 1 - alpha, plane, 255 * alpha)


perlin_noise = Corruption("perlin_noise", "bar", draw_lattice, apply_perlin, fast_perlin)
