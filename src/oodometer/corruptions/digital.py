"""Pixelation and JPEG compression, by Pillow, as published: bit for bit."""

from __future__ import annotations

from io import BytesIO

import numpy as np
from PIL import Image

from oodometer.corruptions.registry import Corruption
from oodometer.corruptions.severities import Strength

PUBLISHED_QUALITY = 85
"""The JPEG quality in which every file of the published ImageNet-C was saved."""


def jpeg_round_trip(image: np.ndarray, quality: int) -> np.ndarray:
    """The image as it comes back from a JPEG file of this quality (chroma halved, 4:2:0, as Pillow does)."""
    file = BytesIO()
    Image.fromarray(image).save(file, "JPEG", quality=quality)
    return np.array(Image.open(file, formats=("JPEG",)))


def _draw_nothing(rng: np.random.Generator, height: int, width: int, strength: Strength) -> None:
    """No random numbers are needed."""


def _apply_jpeg(image: np.ndarray, draws: None, strength: Strength) -> np.ndarray:  # noqa: ARG001
    (quality,) = strength
    return jpeg_round_trip(image, int(quality))


def _apply_pixelate(image: np.ndarray, draws: None, strength: Strength) -> np.ndarray:  # noqa: ARG001
    (share,) = strength
    height, width = image.shape[:2]
    small = Image.fromarray(image).resize((int(width * share), int(height * share)), Image.Resampling.BOX)
    return np.array(small.resize((width, height), Image.Resampling.BOX))


pixelate = Corruption("pixelate", "common", draw=_draw_nothing, apply=_apply_pixelate)
jpeg_compression = Corruption("jpeg_compression", "common", draw=_draw_nothing, apply=_apply_jpeg)
