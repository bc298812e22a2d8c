"""One image, corrupted: the function that everything else calls."""

from __future__ import annotations

import numpy as np

from oodometer.core.errors import DataError, UsageError
from oodometer.core.random import rng_for
from oodometer.corruptions.registry import corruptions


def corrupt(image: np.ndarray, name: str, severity: int, *, key: str, seed: int = 0) -> np.ndarray:
    """The image under a corruption, (H, W, 3) uint8 -> (H, W, 3) uint8.

    Args:
        image: RGB, or grey (H, W), which is taken as RGB with equal channels; not changed.
        name: One of `oodometer.corruptions.registry.corruptions`.
        severity: 1 to 5.
        key: The image's id: every random draw depends on (name, severity, key, seed) and nothing else.
    """
    check_severity(severity)
    made = corruptions.get(name)
    pixels = checked(image)
    height, width = pixels.shape[:2]
    strength = made.strength(severity, height, width)
    rng = rng_for(name, severity, key, seed=seed)
    if made.fast is not None:
        return made.fast(pixels, rng, strength)
    return made.apply(pixels, made.draw(rng, height, width, strength), strength)


def check_severity(severity: int) -> None:
    """An error unless the severity is a whole number from 1 to 5."""
    if isinstance(severity, bool) or not isinstance(severity, (int, np.integer)) or not 1 <= severity <= 5:
        raise UsageError(f"severity {severity}: must be 1, 2, 3, 4 or 5")


def checked(image: np.ndarray) -> np.ndarray:
    """The image as contiguous RGB; an error if it is not an image of bytes."""
    if not isinstance(image, np.ndarray) or image.dtype != np.uint8:
        found = getattr(image, "dtype", type(image).__name__)
        raise DataError(f"an image to corrupt must be a uint8 array with values 0 to 255, not {found}")
    if image.ndim == 2 or (image.ndim == 3 and image.shape[2] == 1):
        image = np.repeat(image.reshape(*image.shape[:2], 1), 3, axis=2)
    if image.ndim != 3 or image.shape[2] != 3:
        raise DataError(f"an image to corrupt must have shape (H, W, 3) or (H, W), not {image.shape}")
    if image.size == 0:
        raise DataError(f"an image to corrupt is empty: shape {image.shape}")
    # numba compiles a kernel once more for read-only arrays; a copy costs a few microseconds.
    return np.ascontiguousarray(image) if image.flags.writeable else image.copy()
