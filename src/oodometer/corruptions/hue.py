"""The same image in other colours: every hue turned by so many degrees."""

from __future__ import annotations

import numpy as np

from oodometer.corruptions.colour import from_hsv, to_hsv

DEGREES = tuple(range(30, 360, 30))
"""How far hues are turned: all the way round in twelve steps, of which the last is the image again."""


def turn_hue(image: np.ndarray, degrees: float) -> np.ndarray:
    """The image with its hues turned on the colour wheel, saturation and value (HSV) as they are, (H, W, 3) uint8.

    >>> turn_hue(np.array([[[255, 0, 0], [200, 200, 200]]], dtype=np.uint8), 120).tolist()
    [[[0, 255, 0], [200, 200, 200]]]
    """
    hue, saturation, value = to_hsv(image / 255.0)
    turned = from_hsv((hue + degrees / 360) % 1.0, saturation, value)
    return np.asarray(np.rint(turned * 255), dtype=np.uint8)
