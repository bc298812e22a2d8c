"""The image seen through moving water (ImageNet-C-bar)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.ndimage import gaussian_filter

from oodometer.corruptions.kernels import c_bar as kernels
from oodometer.corruptions.registry import Corruption
from oodometer.corruptions.severities import Strength

ETA = 4.0
"""Index of refraction of the water."""
UPRIGHT = 1 - 1e-3
"""A surface whose normal is nearer to the vertical than this doesn't refract."""


class Water(NamedTuple):
    """The moment, and the period of the caustics in pixels."""

    time: float
    size: float


def draw_water(rng: np.random.Generator, height: int, width: int, strength: Strength) -> Water:  # noqa: ARG001
    """A moment, and a period of 0.75 to 1.25 of the shorter side."""
    return Water(rng.uniform(0.5, 2), rng.uniform(0.75, 1.25) * min(height, width))


def caustics(water: Water, height: int, width: int) -> np.ndarray:
    """The light on the floor of a pool before smoothing, (H, W) in [0, 1]."""
    down, across = np.meshgrid(_place(height, water), _place(width, water), indexing="ij")
    first, second, light = down, across, np.ones((height, width))
    for n in range(5):
        t = water.time * (1 - 3.5 / (n + 1))
        first, second = (
            down + np.cos(t - first) + np.sin(t + second),
            across + np.sin(t - second) + np.cos(t + first),
        )
        s, c = np.sin(first + t), np.cos(second + t)
        # 1 / |(0.005 down / s, 0.005 across / c)|, without a division by zero
        light = light + np.abs(s * c) / (0.005 * np.hypot(down * c, across * s))
    return np.asarray(np.clip(np.abs(1.17 - (light / 5) ** 1.4) ** 8, 0, 1))


def _place(n: int, water: Water) -> np.ndarray:
    return np.asarray((np.arange(n) / water.size % 1) * 6.28318530718 - 250)


def shifts(surface: np.ndarray, lens: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Where each pixel is seen (y, x), and the slopes (down, across) of the surface, each (H, W).

    Snell's law for a vertical ray and the normal n = (down, across, 1) / norm. With s the sine of the angle between
    them, the refracted ray is n cos(o) + m sin(o), sin(o) = s / eta and m the unit vector normal to n in their plane;
    its horizontal part is n (sqrt(1 - s**2 / eta**2) - n_z / eta).
    """
    padded = np.pad(surface, 1)
    down, across = padded[2:, 1:-1] - padded[:-2, 1:-1], padded[1:-1, 2:] - padded[1:-1, :-2]
    upright = 1 / np.sqrt(down**2 + across**2 + 1)
    sine_out = np.sqrt(down**2 + across**2) * upright / ETA
    length = np.where(upright < UPRIGHT, lens * upright * (np.sqrt(1 - sine_out**2) - upright / ETA), 0)
    y, x = np.ogrid[: surface.shape[0], : surface.shape[1]]
    return y + np.round(down * length, 3), x + np.round(across * length, 3), down, across


def sampled(image: np.ndarray, y: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The image at (y, x) by bilinear interpolation, black outside, (H, W, 3) float64."""
    top, left = np.floor(y).astype(int), np.floor(x).astype(int)
    # A frame of two pixels holds every neighbour of a clipped place.
    framed = np.pad(image, ((2, 2), (2, 2), (0, 0))).astype(float)
    rows, columns = np.clip(top + 2, 0, image.shape[0] + 2), np.clip(left + 2, 0, image.shape[1] + 2)
    dy, dx = (y - top)[..., None], (x - left)[..., None]
    above = framed[rows, columns] * (1 - dx) + framed[rows, columns + 1] * dx
    below = framed[rows + 1, columns] * (1 - dx) + framed[rows + 1, columns + 1] * dx
    return np.asarray(above * (1 - dy) + below * dy)


def apply_refraction(image: np.ndarray, water: Water, strength: Strength) -> np.ndarray:
    """Refract the image at a surface made of caustics, and light its slopes.

    At a constant of 10 the lens reaches half the shorter side, and the light of a slope of 1 is 2 (white is 1).
    """
    height, width = image.shape[:2]
    surface = gaussian_filter(caustics(water, height, width), sigma=1)
    y, x, down, across = shifts(surface, strength[0] * 0.05 * min(height, width))
    light = 255 * strength[0] * 0.2 * (down - across)
    values = np.clip(sampled(image, y, x) + light[..., None], 0, 255)
    return np.asarray(values, dtype=np.uint8)


def fast_refraction(image: np.ndarray, rng: np.random.Generator, strength: Strength) -> np.ndarray:
    """The same, compiled."""
    height, width = image.shape[:2]
    water = draw_water(rng, height, width, strength)
    surface = gaussian_filter(kernels.caustic_plane(height, width, water.time, water.size), sigma=1)
    return kernels.refracted(image, surface, strength[0] * 0.05 * min(height, width), strength[0] * 0.2)


caustic_refraction = Corruption("caustic_refraction", "bar", draw_water, apply_refraction, fast_refraction)
