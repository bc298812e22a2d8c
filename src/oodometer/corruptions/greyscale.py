"""Greyscale: one setting, no severity."""

from __future__ import annotations

import numpy as np
from PIL import Image


def greyscale(image: np.ndarray) -> np.ndarray:
    """The luma of an image (ITU-R 601, as Pillow and torchvision round it) in all three channels, (H, W, 3) uint8.

    >>> greyscale(np.array([[[255, 0, 0], [0, 255, 0], [0, 0, 255]]], dtype=np.uint8))[0, :, 0].tolist()
    [76, 150, 29]
    """
    return np.array(Image.fromarray(image).convert("L").convert("RGB"))
