"""Gaussian smoothing, separable, in float32: of images of bytes and of planes of floats."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from oodometer.corruptions.kernels.taps import in_fours, pad_edge, to_bytes, weighted_sum

ABOVE = 1 / 1024
"""Added before the floor, so that float32 does not lower a flat area by a level."""


@lru_cache(maxsize=64)
def gaussian_weights(sigma: float, truncate: float = 4.0) -> np.ndarray:
    """The weights of a sampled Gaussian, as scipy.ndimage.gaussian_filter1d has them, (2 * radius + 1,) float64.

    >>> gaussian_weights(0.5).round(4).tolist()
    [0.0003, 0.1065, 0.7866, 0.1065, 0.0003]
    """
    radius = int(truncate * sigma + 0.5)
    if radius == 0:
        weights = np.ones(1)
    else:
        weights = np.exp(-0.5 / sigma**2 * np.arange(-radius, radius + 1) ** 2)
        weights /= weights.sum()
    weights.flags.writeable = False
    return weights


@lru_cache(maxsize=64)
def gaussian_taps(sigma: float, truncate: float, stride: int) -> tuple[np.ndarray, np.ndarray]:
    """Offsets from the first tap, and weights, for `weighted_sum`."""
    weights = gaussian_weights(sigma, truncate)
    return in_fours(np.arange(len(weights)) * stride, weights)


def blurred_bytes(image: np.ndarray, sigma: float, offset: float = ABOVE) -> np.ndarray:
    """The image smoothed per channel, border replicated, cut at 4 sigma, floored; (H, W, 3) uint8 -> the same.

    Args:
        offset: Added before the floor.
    """
    height, width = image.shape[:2]
    radius = len(gaussian_weights(sigma)) // 2
    if radius == 0:
        return image.copy()
    padded = pad_edge(image, radius, radius, radius, radius)
    rows = _separable(padded, sigma, 4.0, radius, 3)
    out = np.empty((height, width * 3), dtype=np.uint8)
    to_bytes(rows, out, offset)
    return out.reshape(height, width, 3)


def _separable(padded: np.ndarray, sigma: float, truncate: float, radius: int, step: int) -> np.ndarray:
    """Both passes over a padded plane; each row holds the result from its left end."""
    height, stride = padded.shape[0] - 2 * radius, padded.shape[1]
    down = np.empty(height * stride, dtype=np.float32)
    weighted_sum(down, padded.reshape(-1), *gaussian_taps(sigma, truncate, stride))
    across = np.empty((height, stride), dtype=np.float32)
    weighted_sum(across.reshape(-1)[: height * stride - 2 * radius * step], down, *gaussian_taps(sigma, truncate, step))
    return across


@lru_cache(maxsize=64)
def border_index(size: int, radius: int, mode: str) -> np.ndarray:
    """The position inside for each position of a padded axis, (size + 2 * radius,).

    >>> border_index(4, 2, "reflect").tolist(), border_index(4, 2, "mirror").tolist()
    ([1, 0, 0, 1, 2, 3, 3, 2], [2, 1, 0, 1, 2, 3, 2, 1])
    """
    pad_mode = {"nearest": "edge", "reflect": "symmetric", "mirror": "reflect"}[mode]
    index: np.ndarray = np.pad(np.arange(size), radius, mode=pad_mode)  # type: ignore[call-overload]
    index.flags.writeable = False
    return index
