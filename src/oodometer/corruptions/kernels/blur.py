"""Gaussian smoothing of images of bytes, separable, in float32."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from oodometer.corruptions.jit import jit
from oodometer.corruptions.kernels.shifted_sums import pad_edge, to_bytes

Pair = tuple[np.ndarray, np.ndarray]
Quad = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
STRIP = 16384
"""About as many values are made at a time: they stay in the second-level cache."""

ABOVE = 1 / 4096
"""Added before the floor, so that float32, wrong by up to half as much, does not lower a flat area by a level."""


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
def folded_weights(sigma: float) -> np.ndarray:
    """The weights from the middle outwards, for `symmetric_sum`, float32: of 4, 6, 8 ... pairs, the last perhaps 0.

    >>> folded_weights(0.5).round(4).astype(str).tolist()
    ['0.7866', '0.1065', '0.0003', '0.0', '0.0']
    """
    weights = gaussian_weights(sigma)
    half = weights[len(weights) // 2 :]
    folded = np.zeros(1 + max(4, len(half) // 2 * 2), dtype=np.float32)
    folded[: len(half)] = half
    folded.flags.writeable = False
    return folded


@jit
def set_four_pairs(total: np.ndarray, middle: np.ndarray, low: Quad, high: Quad, w: np.ndarray) -> None:
    """Total = the weighted sum of the middle and of four pairs, each of which shares a weight."""
    (a, b, c, d), (e, f, g, h) = low, high
    w0, w1, w2, w3, w4 = w[0], w[1], w[2], w[3], w[4]
    for i in range(total.size):
        pairs = (a[i] + e[i]) * w1 + (b[i] + f[i]) * w2 + (c[i] + g[i]) * w3 + (d[i] + h[i]) * w4
        total[i] = middle[i] * w0 + pairs


@jit
def add_two_pairs(total: np.ndarray, low: Pair, high: Pair, w: np.ndarray) -> None:
    """Total += the weighted sum of two pairs."""
    (a, b), (c, d) = low, high
    w0, w1 = w[0], w[1]
    for i in range(total.size):
        total[i] += (a[i] + c[i]) * w0 + (b[i] + d[i]) * w1


@jit
def symmetric_sum(total: np.ndarray, source: np.ndarray, step: int, radius: int, weights: np.ndarray) -> None:
    """total[i] = sum over k of weights[|k|] * source[i + (radius + k) * step], k from -radius to radius."""
    n = total.size

    def at(k: int) -> np.ndarray:
        start = (radius + max(-radius, min(k, radius))) * step
        return source[start : start + n]

    set_four_pairs(total, at(0), (at(-1), at(-2), at(-3), at(-4)), (at(1), at(2), at(3), at(4)), weights[:5])
    for k in range(5, weights.size, 2):
        add_two_pairs(total, (at(-k), at(-k - 1)), (at(k), at(k + 1)), weights[k : k + 2])


@jit
def blur_strips(padded: np.ndarray, radius: int, weights: np.ndarray, offset: float, out: np.ndarray) -> None:
    """Both passes and the floor, a few rows at a time, which stay in the cache; out (H, W * 3) uint8."""
    height, stride = out.shape[0], padded.shape[1]
    at_a_time = max(1, STRIP // stride)
    flat = padded.reshape(padded.size)
    down, across = np.empty(at_a_time * stride, np.float32), np.empty((at_a_time, stride), np.float32)
    for y in range(0, height, at_a_time):
        rows = out[y : y + at_a_time]
        n = len(rows) * stride
        symmetric_sum(down[:n], flat[y * stride :], stride, radius, weights)
        symmetric_sum(across.reshape(across.size)[: n - 6 * radius], down, 3, radius, weights)
        to_bytes(across, rows, offset)


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
    out = np.empty((height, width * 3), dtype=np.uint8)
    blur_strips(padded, radius, folded_weights(sigma), offset, out)
    return out.reshape(height, width, 3)


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
