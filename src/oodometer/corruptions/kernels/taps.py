"""Weighted sums of shifted copies of an image: the inner loop of every blur.

An image is padded once, as float32 with its rows one after the other in a flat array. A shift by rows and columns is
then one offset, and the loops are long and free of branches, so that they are vectorised.
"""

from __future__ import annotations

import numpy as np

from oodometer.corruptions.jit import jit

CHUNK = 4096
"""Values that are summed at a time: they stay in the first-level cache."""


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
        for i in range(left * 3):
            target[i] = source[i % 3]
        outer = target[(left + width) * 3 :]
        for i in range(right * 3):
            outer[i] = source[width * 3 - 3 + i % 3]
    return padded


@jit
def set_four(total: np.ndarray, a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray, w: np.ndarray) -> None:
    """Total = the sum of four weighted arrays."""
    w0, w1, w2, w3 = w[0], w[1], w[2], w[3]
    for i in range(total.size):
        total[i] = a[i] * w0 + b[i] * w1 + c[i] * w2 + d[i] * w3


@jit
def add_four(total: np.ndarray, a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray, w: np.ndarray) -> None:
    """Total += the sum of four weighted arrays."""
    w0, w1, w2, w3 = w[0], w[1], w[2], w[3]
    for i in range(total.size):
        total[i] += a[i] * w0 + b[i] * w1 + c[i] * w2 + d[i] * w3


@jit
def weighted_sum(total: np.ndarray, source: np.ndarray, offsets: np.ndarray, weights: np.ndarray) -> None:
    """total[i] = sum over k of weights[k] * source[i + offsets[k]]; the number of taps is a multiple of four."""
    for start in range(0, total.size, CHUNK):
        part = total[start : start + CHUNK]
        n = part.size
        for k in range(0, offsets.size, 4):
            a, b, c, d = start + offsets[k], start + offsets[k + 1], start + offsets[k + 2], start + offsets[k + 3]
            w = weights[k : k + 4]
            if k == 0:
                set_four(part, source[a : a + n], source[b : b + n], source[c : c + n], source[d : d + n], w)
            else:
                add_four(part, source[a : a + n], source[b : b + n], source[c : c + n], source[d : d + n], w)


@jit
def to_bytes(padded: np.ndarray, out: np.ndarray, offset: float) -> None:
    """Rows of floats to bytes: floor(x + offset), clipped; out (H, W * 3), from the left end of each row."""
    for y in range(out.shape[0]):
        source = padded[y, : out.shape[1]]
        target = out[y]
        for i in range(target.size):
            target[i] = np.uint8(min(max(source[i] + np.float32(offset), np.float32(0)), np.float32(255)))


def in_fours(offsets: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The taps with taps of weight 0 at the end, so that their number is a multiple of four."""
    missing = -len(offsets) % 4
    return (
        np.concatenate([offsets, np.full(missing, offsets[-1])]).astype(np.int64),
        np.concatenate([weights, np.zeros(missing)]).astype(np.float32),
    )
