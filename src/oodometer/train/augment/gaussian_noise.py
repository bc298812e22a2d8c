"""Gaussian noise, of a strength drawn for each image.

A model that is trained with it has seen one of the corruptions that models are tested on: its accuracy under Gaussian
noise says nothing of noise that it has not seen.
"""

from __future__ import annotations

import numpy as np

from oodometer.train.augment.levels import whole_levels

MOST_SIGMA = 0.1
"""Of pixels in [0, 1]; the deviation is uniform from 0 to this, so that clean images stay known."""


def gaussian_noise(images: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The images with independent normal noise on every value, clipped."""
    sigmas = 255 * rng.uniform(0, MOST_SIGMA, size=(len(images), 1, 1, 1)).astype(np.float32)
    return whole_levels(images + sigmas * rng.standard_normal(images.shape, dtype=np.float32))
