"""Bright stars with rays of uneven length, and one whose outside is bright (ImageNet-C-bar)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from oodometer.corruptions.kernels import c_bar as kernels
from oodometer.corruptions.registry import Corruption
from oodometer.corruptions.severities import Strength

N_SPARKLES = 5
RAYS = (50, 200)
"""Each sparkle has 50 to 199 rays."""
UNEVENNESS = 0.25
"""Standard deviation of the length of a ray, as a share of the mean length."""


class Sparkle(NamedTuple):
    """The centre (y, x), and the length in pixels of each ray, counted from the angle of -pi."""

    centre: np.ndarray
    lengths: np.ndarray


def draw_sparkles(rng: np.random.Generator, height: int, width: int, strength: Strength) -> list[Sparkle]:
    """Five centres in the image; rays of 10 per cent of the shorter side at a constant of 10, at least a pixel."""
    radius = strength[0] * 0.01 * min(height, width)
    centres = rng.uniform(0, (height, width), size=(N_SPARKLES, 2))
    n_rays = rng.integers(*RAYS, size=N_SPARKLES)
    return [Sparkle(centre, np.maximum(_rays(rng, n, radius), 1)) for centre, n in zip(centres, n_rays, strict=True)]


def draw_inverse(rng: np.random.Generator, height: int, width: int, strength: Strength) -> Sparkle:  # noqa: ARG001
    """One centre in the inner half of each axis; rays of a quarter of the shorter side."""
    centre = rng.uniform(0.25, 0.75, size=2) * (height, width)
    n_rays = int(rng.integers(*RAYS))
    return Sparkle(centre, _rays(rng, n_rays, 0.25 * min(height, width)))


def _rays(rng: np.random.Generator, n_rays: int, radius: float) -> np.ndarray:
    return radius + UNEVENNESS * radius * rng.standard_normal(n_rays)


def light_of(sparkle: Sparkle, height: int, width: int, *, power: float) -> np.ndarray:
    """The light of a sparkle in [0, 1], (H, W): (length / distance)**(2 power), a quarter dimmer between the rays."""
    y, x = np.ogrid[:height, :width]
    dy, dx = y - sparkle.centre[0], x - sparkle.centre[1]
    n_rays = len(sparkle.lengths)
    place = (np.arctan2(dx, dy) + math.pi) / (2 * math.pi) * n_rays
    ray = place.astype(int)
    part = place - ray
    here, after = sparkle.lengths[ray % n_rays], sparkle.lengths[(ray + 1) % n_rays]
    length = here + part * (after - here)
    bright = (length**2 / (dy**2 + dx**2 + 1e-4)) ** power
    return np.asarray(np.clip((1 - (part - 0.5) ** 2) * bright, 0, 1))


def apply_sparkles(image: np.ndarray, sparkles: list[Sparkle], strength: Strength) -> np.ndarray:  # noqa: ARG001
    """Move each pixel towards white by the light of one sparkle after the other."""
    values = image.astype(np.float32)
    for sparkle in sparkles:
        light = light_of(sparkle, *image.shape[:2], power=1)[..., None]
        values = (values + light * (255 - values)).astype(np.float32)
    return np.clip(values, 0, 255).astype(np.uint8)


def fast_sparkles(image: np.ndarray, rng: np.random.Generator, strength: Strength) -> np.ndarray:
    """The same; what the sparkles leave of the darkness is one product."""
    height, width = image.shape[:2]
    darkness = np.ones((height, width))
    for sparkle in draw_sparkles(rng, height, width, strength):
        kernels.dim_by_sparkle(darkness, sparkle.centre, _closed(sparkle.lengths))
    return kernels.towards_white(image, darkness)


def apply_inverse(image: np.ndarray, sparkle: Sparkle, strength: Strength) -> np.ndarray:
    """White except for the light of the sparkle, which falls more steeply the larger the constant."""
    light = light_of(sparkle, *image.shape[:2], power=strength[0] * 0.13)[..., None]
    return np.clip(255 + light * (image.astype(np.float32) - 255), 0, 255).astype(np.uint8)


def fast_inverse(image: np.ndarray, rng: np.random.Generator, strength: Strength) -> np.ndarray:
    """The same, compiled."""
    height, width = image.shape[:2]
    sparkle = draw_inverse(rng, height, width, strength)
    light = np.empty((height, width))
    kernels.whiteness_of_sparkle(light, sparkle.centre, _closed(sparkle.lengths), strength[0] * 0.13)
    return kernels.towards_white(image, light)


def _closed(lengths: np.ndarray) -> np.ndarray:
    """The lengths with the first two again at the end, so that no index needs a modulus."""
    return np.concatenate([lengths, lengths[:2]])


sparkles = Corruption("sparkles", "bar", draw_sparkles, apply_sparkles, fast_sparkles)
inverse_sparkles = Corruption("inverse_sparkles", "bar", draw_inverse, apply_inverse, fast_inverse)
