"""Weighted sums of shifted copies of an image: the inner loop of every blur.

An image is padded once, as float32 with its rows one after the other in a flat array. A shift by rows and columns is
then one offset, and the loops are long and free of branches, so that they are vectorised.
"""

from __future__ import annotations

import numpy as np

from oodometer.corruptions.jit import jit
from oodometer.corruptions.kernels.simd_lanes import FEW, MANY, add_few, add_many


@jit
def repeat_pixel(pixel: np.ndarray, target: np.ndarray) -> None:
    """The pixel as often as there is room."""
    red, green, blue = np.float32(pixel[0]), np.float32(pixel[1]), np.float32(pixel[2])
    for i in range(0, target.size, 3):
        target[i], target[i + 1], target[i + 2] = red, green, blue


@jit
def pad_edge(image: np.ndarray, top: int, bottom: int, left: int, right: int) -> np.ndarray:
    """The image with a replicated border, (H, W, 3) uint8 -> (H + top + bottom, (W + left + right) * 3) float32."""
    height, width = image.shape[0], image.shape[1]
    flat = image.reshape(height, width * 3)
    padded = np.empty((top + height + bottom, (left + width + right) * 3), dtype=np.float32)
    for y in range(padded.shape[0]):
        source = flat[min(max(y - top, 0), height - 1)]
        target = padded[y]
        inner = target[left * 3 : (left + width) * 3]
        for i in range(width * 3):
            inner[i] = source[i]
        repeat_pixel(source[:3], target[: left * 3])
        repeat_pixel(source[width * 3 - 3 :], target[(left + width) * 3 :])
    return padded


@jit
def weighted_sum(total: np.ndarray, source: np.ndarray, offsets: np.ndarray, weights: np.ndarray) -> None:
    """total[i] = sum over k of weights[k] * source[i + offsets[k]], float32, the offsets int64."""
    n = total.size
    many = n // MANY * MANY
    for at in range(0, many, MANY):
        add_many(source, offsets, weights, total, at)
    if n >= FEW:  # the last ones overlap with those before
        for at in range(many, n, FEW):
            add_few(source, offsets, weights, total, min(at, n - FEW))
    else:
        for i in range(n):
            value = np.float32(0)
            for k in range(offsets.size):
                value += weights[k] * source[i + offsets[k]]
            total[i] = value


@jit
def weighted_rows(padded: np.ndarray, offsets: np.ndarray, weights: np.ndarray, offset: float, out: np.ndarray) -> None:
    """Rows of sums as bytes, floor(x + offset), clipped; out (H, W * 3), each row from the left end of a padded one."""
    line = np.empty((1, out.shape[1]), dtype=np.float32)
    for y in range(out.shape[0]):
        weighted_sum(line[0], padded.reshape(-1)[y * padded.shape[1] :], offsets, weights)
        to_bytes(line, out[y : y + 1], offset)


@jit
def to_bytes(padded: np.ndarray, out: np.ndarray, offset: float) -> None:
    """Rows of floats to bytes: floor(x + offset), clipped; out (H, W * 3), from the left end of each row."""
    for y in range(out.shape[0]):
        source = padded[y, : out.shape[1]]
        target = out[y]
        for i in range(target.size):
            target[i] = np.uint8(min(max(source[i] + np.float32(offset), np.float32(0)), np.float32(255)))
