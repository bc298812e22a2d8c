"""Gaussian blur, one of the four corruptions that are published besides the fifteen so that one may train with them."""

from __future__ import annotations

import numpy as np
from scipy import ndimage

from oodometer.train.augment.by_size import constants_for, drawn_severities

SIGMAS = {32: (0.4, 0.6, 0.7, 0.8, 1.0), 64: (0.5, 0.75, 1.0, 1.25, 1.5), 224: (1.0, 2.0, 3.0, 4.0, 6.0)}
"""In pixels, by the side of the image (Hendrycks and Dietterich 2019 and the released scripts for small images)."""


def gaussian_blur(images: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The images, each with a chance of one half smoothed at one of five strengths."""
    result = images.copy()
    for image, severity in zip(result, drawn_severities(len(images), rng), strict=True):
        if severity is not None:
            image[...] = blurred(image, constants_for(SIGMAS, image)[severity])
    return result


def blurred(image: np.ndarray, sigma: float) -> np.ndarray:
    """The image smoothed per channel, its border replicated, cut off at four sigma; fractions of levels are dropped."""
    smooth: np.ndarray = ndimage.gaussian_filter(
        image.astype(np.float64), (sigma, sigma, 0), mode="nearest", truncate=4.0
    )
    # A level that is whole may come out a hair below itself.
    return (smooth + 1e-6).clip(0, 255).astype(np.uint8)
