"""The nine operations that AugMix chains: none of them is a corruption that models are tested on.

Each is a plain function of an image (H, W, 3) uint8 and of how far it goes: tones by a table of 256 levels per channel,
the rest by Pillow's affine transform, bilinear, with black outside. The ranges are those of the released script.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from PIL import Image

LEVELS = np.arange(256)
MOST = 10
"""At this severity an operation goes as far as it ever does."""
MOST_BITS_LOST, MOST_DEGREES, MOST_SHEAR, MOST_SHIFT = 4, 30, 0.3, 1 / 3


def autocontrast(image: np.ndarray) -> np.ndarray:
    """Each channel stretched until its darkest level is 0 and its lightest 255."""
    low = image.min(axis=(0, 1)).astype(np.float64)[:, None]
    high = image.max(axis=(0, 1)).astype(np.float64)[:, None]
    # The same products and sums as Pillow's, for the same rounding.
    scale = 255.0 / np.where(high > low, high - low, 1)
    stretched = np.clip((LEVELS * scale + -low * scale).astype(np.int64), 0, 255)
    return _mapped(image, np.where(high > low, stretched, LEVELS))


def equalize(image: np.ndarray) -> np.ndarray:
    """Each channel with about as many pixels of every level."""
    tables = [_flat(np.bincount(image[..., channel].ravel(), minlength=256)) for channel in range(3)]
    return _mapped(image, np.stack(tables))


def _flat(counts: np.ndarray) -> np.ndarray:
    """The new level of each level: how many pixels lie below it, in steps of a 255th of all but the lightest."""
    used = counts[counts > 0]
    step = int(used.sum() - used[-1]) // 255
    if len(used) < 2 or step == 0:
        return LEVELS
    below = np.cumsum(counts) - counts
    levels: np.ndarray = np.minimum((step // 2 + below) // step, 255)
    return levels


def posterize(image: np.ndarray, bits: int) -> np.ndarray:
    """Only the highest bits of every level."""
    return image & np.uint8(256 - (1 << (8 - bits)))


def solarize(image: np.ndarray, threshold: int) -> np.ndarray:
    """Levels from the threshold on turned into their negative."""
    return np.where(image < threshold, image, 255 - image)


def rotate(image: np.ndarray, degrees: float) -> np.ndarray:
    """Turned about its centre, against the clock."""
    return np.asarray(Image.fromarray(image).rotate(degrees, resample=Image.Resampling.BILINEAR))


def shear_x(image: np.ndarray, amount: float) -> np.ndarray:
    """Every row moved to the left by this much per row above it."""
    return _affine(image, (1, amount, 0, 0, 1, 0))


def shear_y(image: np.ndarray, amount: float) -> np.ndarray:
    """Every column moved up by this much per column to its left."""
    return _affine(image, (1, 0, 0, amount, 1, 0))


def translate_x(image: np.ndarray, pixels: int) -> np.ndarray:
    """Moved to the left."""
    return _affine(image, (1, 0, pixels, 0, 1, 0))


def translate_y(image: np.ndarray, pixels: int) -> np.ndarray:
    """Moved up."""
    return _affine(image, (1, 0, 0, 0, 1, pixels))


def _affine(image: np.ndarray, matrix: tuple[float, ...]) -> np.ndarray:
    size = image.shape[1], image.shape[0]
    moved = Image.fromarray(image).transform(size, Image.Transform.AFFINE, matrix, resample=Image.Resampling.BILINEAR)
    return np.asarray(moved)


def _mapped(image: np.ndarray, tables: np.ndarray) -> np.ndarray:
    """Each level replaced by that in the table of its channel, (3, 256)."""
    mapped: np.ndarray = tables.astype(np.uint8)[np.arange(3), image]
    return mapped


Operation = Callable[[np.ndarray, float], np.ndarray]
"""An image, and how far it goes: at most 1, or -1 to the other side, where there are sides."""

OPERATIONS: Mapping[str, Operation] = {
    "autocontrast": lambda image, _: autocontrast(image),
    "equalize": lambda image, _: equalize(image),
    "posterize": lambda image, far: posterize(image, 4 - int(abs(far) * MOST_BITS_LOST)),
    "rotate": lambda image, far: rotate(image, int(far * MOST_DEGREES)),
    "shear-x": lambda image, far: shear_x(image, far * MOST_SHEAR),
    "shear-y": lambda image, far: shear_y(image, far * MOST_SHEAR),
    "solarize": lambda image, far: solarize(image, 256 - int(abs(far) * 256)),
    "translate-x": lambda image, far: translate_x(image, int(far * image.shape[1] * MOST_SHIFT)),
    "translate-y": lambda image, far: translate_y(image, int(far * image.shape[0] * MOST_SHIFT)),
}
