"""Mirroring: half of the images are turned left to right."""

from __future__ import annotations

import numpy as np


def mirror(images: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The images, each mirrored with a chance of one half."""
    turned = rng.random(len(images)) < 0.5
    result = images.copy()
    result[turned] = images[turned, :, ::-1]
    return result
