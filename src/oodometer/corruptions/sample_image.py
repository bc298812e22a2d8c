"""A picture made by code: natural enough to try things on, for doctests, documentation and tests."""

from __future__ import annotations

import numpy as np

from oodometer.core.random import rng_for


def sample_image(height: int = 224, width: int = 224, *, seed: int = 0) -> np.ndarray:
    """A picture with the statistics of a photograph: 1/f textures, sharp edges, shade and colour, (H, W, 3) uint8.

    >>> image = sample_image(64, 96)
    >>> image.shape, image.dtype, bool((image == sample_image(64, 96)).all())
    ((64, 96, 3), dtype('uint8'), True)
    """
    rng = rng_for("sample image", height, width, seed=seed)
    down, across = np.mgrid[0:height, 0:width].astype(np.float64)
    picture = _sky_and_ground(down / height, rng)
    for _ in range(7):  # overlapping discs, each with a texture of its own: edges and occlusion
        centre = rng.uniform(0, 1, 2) * (height, width)
        radius = rng.uniform(0.06, 0.28) * min(height, width)
        inside = (down - centre[0]) ** 2 + (across - centre[1]) ** 2 < radius**2
        shade = 1 - 0.5 * ((down - centre[0]) + (across - centre[1])) / (2 * radius)
        colour = rng.uniform(0.1, 0.95, 3)
        texture = 0.12 * _pink(height, width, rng)
        filled = colour * np.clip(shade, 0.2, 1.4)[..., None] + texture[..., None]
        picture = np.where(inside[..., None], filled, picture)
    return np.asarray((np.clip(picture, 0, 1) * 255).astype(np.uint8))


def _sky_and_ground(height_share: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A horizon with a gradient above and a texture below, (H, W, 3) in about [0, 1]."""
    sky, ground = rng.uniform(0.5, 0.95, 3), rng.uniform(0.15, 0.6, 3)
    height, width = height_share.shape
    texture = _pink(height, width, rng)
    horizon = rng.uniform(0.4, 0.7) + 0.03 * texture
    below = (height_share > horizon)[..., None]
    above = sky * (1 - 0.35 * height_share)[..., None]
    return np.where(below, ground + 0.15 * texture[..., None], above + 0.03 * texture[..., None])


def _pink(height: int, width: int, rng: np.random.Generator) -> np.ndarray:
    """Noise whose amplitude falls as 1/f, as in natural images (Field 1987), of unit deviation, (H, W)."""
    frequency = np.hypot(np.fft.fftfreq(height)[:, None], np.fft.rfftfreq(width)[None, :])
    frequency[0, 0] = np.inf
    spectrum = np.fft.rfft2(rng.normal(size=(height, width))) / frequency
    texture = np.fft.irfft2(spectrum, s=(height, width))
    return np.asarray((texture - texture.mean()) / texture.std())
