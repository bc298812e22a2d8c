"""Spatter, one of the four corruptions that are published besides the fifteen so that one may train with them.

The mud is the corruption's. Its water shines by a chain of edges, distances and an equalised histogram; here drops
shine by a relief of their depth, lit from the same corner, in the same colour and as strongly.
"""

from __future__ import annotations

import numpy as np
from scipy import ndimage

from oodometer.train.augment.by_size import constants_for, drawn_severities

CONSTANTS = {
    32: (
        (0.62, 0.1, 0.7, 0.7, 0.5, 0),
        (0.65, 0.1, 0.8, 0.7, 0.5, 0),
        (0.65, 0.3, 1.0, 0.69, 0.5, 0),
        (0.65, 0.1, 0.7, 0.69, 0.6, 1),
        (0.65, 0.1, 0.5, 0.68, 0.6, 1),
    ),
    224: (
        (0.65, 0.3, 4.0, 0.69, 0.6, 0),
        (0.65, 0.3, 3.0, 0.68, 0.6, 0),
        (0.65, 0.3, 2.0, 0.68, 0.5, 0),
        (0.65, 0.3, 1.0, 0.65, 1.5, 1),
        (0.67, 0.4, 1.0, 0.65, 1.5, 1),
    ),
}
"""Mean, deviation and blur of the liquid, the depth from which it is seen, its strength, and 1 for mud, by side."""
WATER = np.array([175, 238, 238]) / 255
MUD = np.array([63, 42, 20]) / 255
LEAST_COVER = 0.8
LIT = np.array([[-2, -1, 0], [-1, 1, 1], [0, 1, 2]])
"""Light from one corner."""


def spatter(images: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The images, each with a chance of one half behind drops of water or flecks of mud, at one of five strengths."""
    result = images.copy()
    for image, severity in zip(result, drawn_severities(len(images), rng), strict=True):
        if severity is not None:
            draws = rng.standard_normal(image.shape[:2])
            image[...] = spattered(image, draws, constants_for(CONSTANTS, image)[severity])
    return result


def spattered(image: np.ndarray, draws: np.ndarray, constants: tuple[float, ...]) -> np.ndarray:
    """The image under a liquid that standard normal draws (H, W) make."""
    mean, deviation, sigma, threshold, strength, is_mud = constants
    liquid = _smoothed(mean + deviation * draws, sigma)
    seen = np.where(liquid < threshold, 0, liquid)
    pixels = image / 255.0
    if is_mud:
        cover = _smoothed((seen > threshold).astype(np.float64), strength)
        cover = np.where(cover < LEAST_COVER, 0, cover)[..., None]
        result = pixels * (1 - cover) + cover * MUD
    else:
        shine = seen * np.maximum(ndimage.correlate(seen, LIT, mode="mirror"), 0)
        result = pixels + strength * (shine / max(shine.max(), 1e-12))[..., None] * WATER
    levels: np.ndarray = 255 * result
    return (levels + 1e-6).clip(0, 255).astype(np.uint8)


def _smoothed(plane: np.ndarray, sigma: float) -> np.ndarray:
    smooth: np.ndarray = ndimage.gaussian_filter(plane, sigma, mode="nearest", truncate=4.0)
    return smooth
