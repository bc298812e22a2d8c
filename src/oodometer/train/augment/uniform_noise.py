"""Uniform noise of a strength drawn for each image: what the zero-step adversary does, in whole levels."""

from __future__ import annotations

import numpy as np

from oodometer.train.augment.levels import whole_levels

MOST_LEVELS = 8
"""Of 255; the largest change of an image's pixels is uniform from 0 to this (Hendrycks et al. 2021, section 5.1)."""


def uniform_noise(images: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The images with independent uniform noise on every value, clipped."""
    most = MOST_LEVELS * rng.random((len(images), 1, 1, 1), dtype=np.float32)
    return whole_levels(images + most * (2 * rng.random(images.shape, dtype=np.float32) - 1))
