"""Saturation, one of the four corruptions that are published besides the fifteen so that one may train with them."""

from __future__ import annotations

import numpy as np

from oodometer.train.augment.by_size import constants_for, drawn_severities

CONSTANTS = {
    32: ((0.3, 0.0), (0.1, 0.0), (1.5, 0.0), (2.0, 0.1), (2.5, 0.2)),
    224: ((0.3, 0.0), (0.1, 0.0), (2.0, 0.0), (5.0, 0.1), (20.0, 0.2)),
}
"""A factor and an offset of the saturation (of hue, saturation and value), by the side of the image."""


def saturate(images: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The images, each with a chance of one half with colours paler or stronger, at one of five strengths."""
    result = images.copy()
    for image, severity in zip(result, drawn_severities(len(images), rng), strict=True):
        if severity is not None:
            image[...] = saturated(image, *constants_for(CONSTANTS, image)[severity])
    return result


def saturated(image: np.ndarray, factor: float, offset: float) -> np.ndarray:
    """The image whose saturation is multiplied and added to, at the same hue and value.

    At a given hue and value every channel lies below the largest by a distance that is in proportion to the saturation:
    that distance is scaled. Grey has the hue of red, as in the definition.
    """
    pixels = image / 255.0
    value = pixels.max(axis=2, keepdims=True)
    below = value - pixels
    spread = below.max(axis=2, keepdims=True)
    saturation = spread / np.where(value == 0, 1, value)
    wanted = np.clip(saturation * factor + offset, 0, 1) * value
    as_red = np.array([0.0, 1.0, 1.0])
    shares = np.where(spread == 0, as_red, below / np.where(spread == 0, 1, spread))
    levels: np.ndarray = 255 * (value - wanted * shares)
    return (levels + 1e-6).clip(0, 255).astype(np.uint8)
