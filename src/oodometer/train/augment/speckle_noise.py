"""Speckle noise as the many-faces paper trains with it (Hendrycks et al. 2021): louder where the image is lighter."""

from __future__ import annotations

import numpy as np

from oodometer.train.augment.levels import whole_levels

CHANCE = 0.5
SIGMAS = (0.15, 0.2, 0.35, 0.45, 0.6)
"""The deviation is one of these: the five severities of the corruption at 224 pixels, at every size."""


def speckle_noise(images: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The images, each with a chance of one half multiplied by 1 plus noise, and clipped."""
    n = len(images)
    sigmas = rng.choice(SIGMAS, size=n) * (rng.random(n) < CHANCE)
    noise = rng.standard_normal(images.shape, dtype=np.float32)
    return whole_levels(images * (1 + sigmas.astype(np.float32)[:, None, None, None] * noise))
