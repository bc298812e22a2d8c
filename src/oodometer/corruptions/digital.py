"""Pixelation and JPEG compression, by Pillow, as published: bit for bit.

The fast paths repeat the whole-number arithmetic of Pillow's BOX filter, and of libjpeg without its entropy coding,
which loses nothing and takes most of the time.
"""

from __future__ import annotations

from functools import lru_cache
from io import BytesIO

import numpy as np
from PIL import Image

from oodometer.corruptions.registry import Corruption
from oodometer.corruptions.severities import Strength

PUBLISHED_QUALITY = 85
"""The JPEG quality in which every file of the published ImageNet-C was saved."""


def jpeg_file(image: np.ndarray, quality: int) -> BytesIO:
    """A JPEG file of this quality in memory (chroma halved, 4:2:0, as Pillow does)."""
    file = BytesIO()
    Image.fromarray(image).save(file, "JPEG", quality=quality)
    return file


# Tables K.1 and K.2 of the JPEG standard (ITU-T T.81): the steps at quality 50.
_LUMA_STEPS = (
    (16, 11, 10, 16, 24, 40, 51, 61),
    (12, 12, 14, 19, 26, 58, 60, 55),
    (14, 13, 16, 24, 40, 57, 69, 56),
    (14, 17, 22, 29, 51, 87, 80, 62),
    (18, 22, 37, 56, 68, 109, 103, 77),
    (24, 35, 55, 64, 81, 104, 113, 92),
    (49, 64, 78, 87, 103, 121, 120, 101),
    (72, 92, 95, 98, 112, 100, 103, 99),
)
_CHROMA_STEPS = (
    (17, 18, 24, 47, 99, 99, 99, 99),
    (18, 21, 26, 66, 99, 99, 99, 99),
    (24, 26, 56, 99, 99, 99, 99, 99),
    (47, 66, 99, 99, 99, 99, 99, 99),
    *[(99,) * 8] * 4,
)


def jpeg_round_trip(image: np.ndarray, quality: int) -> np.ndarray:
    """The image as it comes back from a JPEG file of this quality, 1 to 100 (chroma halved, 4:2:0, as Pillow does)."""
    height, width = image.shape[:2]
    if height % 16 or width % 16:
        return pillow_round_trip(image, quality)
    from oodometer.corruptions.kernels.jpeg import round_trip  # compiled only where it is used

    return round_trip(image.reshape(height, 3 * width), *_steps(quality)).reshape(image.shape)


def pillow_round_trip(image: np.ndarray, quality: int) -> np.ndarray:
    """The same through a file in memory."""
    file = BytesIO()
    Image.fromarray(image).save(file, "JPEG", quality=quality)
    return np.array(Image.open(file, formats=("JPEG",)))


@lru_cache(maxsize=100)
def _steps(quality: int) -> tuple[np.ndarray, np.ndarray]:
    """The quantisation tables of luma and chroma, as libjpeg scales them, (8, 8) int64."""
    percent = 5000 // quality if quality < 50 else 200 - 2 * quality
    luma, chroma = (np.clip((np.array(steps) * percent + 50) // 100, 1, 255) for steps in (_LUMA_STEPS, _CHROMA_STEPS))
    luma.flags.writeable = chroma.flags.writeable = False
    return luma, chroma


def _draw_nothing(rng: np.random.Generator, height: int, width: int, strength: Strength) -> None:
    """No random numbers are needed."""


def _apply_jpeg(image: np.ndarray, draws: None, strength: Strength) -> np.ndarray:  # noqa: ARG001
    (quality,) = strength
    return pillow_round_trip(image, int(quality))


def _fast_jpeg(image: np.ndarray, rng: np.random.Generator, strength: Strength) -> np.ndarray:  # noqa: ARG001
    (quality,) = strength
    return jpeg_round_trip(image, int(quality))


def _apply_pixelate(image: np.ndarray, draws: None, strength: Strength) -> np.ndarray:  # noqa: ARG001
    (share,) = strength
    height, width = image.shape[:2]
    lower, narrower, box = int(height * share), int(width * share), Image.Resampling.BOX
    # In two steps, because Pillow 13 takes the columns of a tall image first, and those before it never did.
    narrow = Image.fromarray(image).resize((narrower, height), box)
    return np.array(narrow.resize((narrower, lower), box).resize((width, height), box))


@lru_cache(maxsize=256)
def _boxes(n_from: int, n_to: int) -> np.ndarray:
    """First pixel, number of pixels and weight of each box of Pillow's BOX filter, (3, n_to) int64."""
    scale = n_from / n_to
    width = max(scale, 1.0)
    centres = (np.arange(n_to) + 0.5) * scale
    lows = np.maximum((centres - 0.5 * width + 0.5).astype(np.int64), 0)
    highs = np.minimum((centres + 0.5 * width + 0.5).astype(np.int64), n_from)
    places = lows[:, None] + np.arange((highs - lows).max())
    distances = (places - centres[:, None] + 0.5) * (1.0 / width)
    inside = (distances > -0.5) & (distances <= 0.5) & (places < highs[:, None])
    counts = inside.sum(axis=1)
    boxes = np.stack([lows + inside.argmax(axis=1), counts, (0.5 + (1.0 / counts) * (1 << 22)).astype(np.int64)])
    boxes.flags.writeable = False
    return boxes


def _fast_pixelate(image: np.ndarray, rng: np.random.Generator, strength: Strength) -> np.ndarray:  # noqa: ARG001
    from oodometer.corruptions.kernels.digital import shrink_and_enlarge  # compiled only where it is used

    (share,) = strength
    height, width = image.shape[:2]
    lower, narrower = int(height * share), int(width * share)
    columns, lines = _boxes(narrower, width)[0], _boxes(lower, height)[0]
    rows = image.reshape(height, 3 * width)
    return shrink_and_enlarge(rows, _boxes(width, narrower), _boxes(height, lower), columns, lines).reshape(image.shape)


pixelate = Corruption("pixelate", "common", draw=_draw_nothing, apply=_apply_pixelate, fast=_fast_pixelate)
jpeg_compression = Corruption("jpeg_compression", "common", draw=_draw_nothing, apply=_apply_jpeg, fast=_fast_jpeg)
