"""Random erasing (Zhong et al. 2017): a rectangle of the image is filled with noise."""

from __future__ import annotations

import math

import numpy as np

# The settings of the paper.
CHANCE = 0.5
AREA = (0.02, 0.4)
NARROWEST = 0.3
TRIES = 100


def erase(images: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The images, each with a chance of one half that a rectangle of it is noise."""
    result = images.copy()
    for image in result:
        if rng.random() < CHANCE:
            top, left, height, width = _rectangle(image.shape[0], image.shape[1], rng)
            image[top : top + height, left : left + width] = rng.integers(256, size=(height, width, 3), dtype=np.uint8)
    return result


def _rectangle(height: int, width: int, rng: np.random.Generator) -> tuple[int, int, int, int]:
    """Top, left, height and width of a rectangle within the image; an empty one if none is found that fits."""
    for _ in range(TRIES):
        area = rng.uniform(*AREA) * height * width
        aspect = rng.uniform(NARROWEST, 1 / NARROWEST)
        tall, wide = round(math.sqrt(area * aspect)), round(math.sqrt(area / aspect))
        if tall < height and wide < width:
            return int(rng.integers(height - tall + 1)), int(rng.integers(width - wide + 1)), tall, wide
    return 0, 0, 0, 0
