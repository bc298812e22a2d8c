"""The layers of zoom blur, enlarged and added up in float32."""

from __future__ import annotations

import numpy as np

from oodometer.corruptions.jit import jit
from oodometer.corruptions.kernels.shifted_sums import weighted_sum
from oodometer.corruptions.kernels.simd_lanes import mix_next

SPARE = 12
"""Values that a row is longer than the image: a blank pixel, and what `mix_next` reads and writes beyond it."""


@jit
def as_floats(image: np.ndarray) -> np.ndarray:
    """The image with two blank rows below and blank values at the right, (H + 2, W * 3 + SPARE) float32."""
    height, width = image.shape[0], image.shape[1]
    flat = image.reshape(height, width * 3)
    out = np.zeros((height + 2, width * 3 + SPARE), dtype=np.float32)
    for y in range(height):
        source, target = flat[y], out[y]
        for i in range(source.size):
            target[i] = np.float32(source[i])
    return out


@jit
def stretch_rows(sources: np.ndarray, pieces: np.ndarray, shares: np.ndarray, targets: np.ndarray) -> None:
    """Two rows enlarged, piece by piece; see `add_layers`."""
    rows, out = (sources[0], sources[1]), (targets[0], targets[1])
    for i in range(len(pieces)):
        mix_next(rows, pieces[i, 0], shares, out, pieces[i, 1])


@jit
def add_layers(
    pixels: np.ndarray,
    columns: tuple[np.ndarray, np.ndarray, np.ndarray],
    rows: tuple[np.ndarray, np.ndarray, np.ndarray],
    own: float,
    out: np.ndarray,
) -> None:
    """The weighted sum of the image and its enlargements, row by row, so that a row of the sum stays in the cache.

    Args:
        pixels: The image as `as_floats` gives it.
        columns: Pieces of eight values, all layers', from left to right: where each comes from and where it goes,
            (P, 2) int32; the first piece of each layer, and P; the share of the next pixel in each value,
            (L, W * 3 + SPARE) float32.
        rows: For each layer and row, the row of the image before it, and the weights of it and of the next, float32.
        own: The weight of the image.
        out: (H, W, 3) uint8.
    """
    pieces, first, shares = columns
    row, before, after = rows
    n_layers, stride = shares.shape
    # Of each layer the last four enlarged rows; row r is at r % 4. Each begins where a line of the cache does.
    held = np.empty((n_layers, 4, (stride + 15) // 16 * 16), dtype=np.float32)
    offsets, weights = np.empty((n_layers, 2), np.int64), np.empty((n_layers, 2), np.float32)
    next_row = row[:, 0] // 2 * 2
    total = np.empty(stride - SPARE, dtype=np.float32)
    lines = out.reshape(out.shape[0], total.size)
    for y in range(out.shape[0]):
        for layer in range(n_layers):
            top = row[layer, y]
            while next_row[layer] < top + 2:
                r = next_row[layer]
                at = r % 4
                stretch_rows(
                    pixels[r : r + 2],
                    pieces[first[layer] : first[layer + 1]],
                    shares[layer],
                    held[layer, at : at + 2],
                )
                next_row[layer] += 2
            for i in range(2):
                offsets[layer, i] = (4 * layer + (top + i) % 4) * held.shape[2]
            weights[layer, 0], weights[layer, 1] = before[layer, y], after[layer, y]
        weighted_sum(total, held.reshape(-1), offsets.reshape(-1), weights.reshape(-1))
        to_bytes(total, pixels[y], own, lines[y])


@jit
def to_bytes(total: np.ndarray, image: np.ndarray, own: float, target: np.ndarray) -> None:
    """The sum with the image as bytes: a little more, so that float32 doesn't lower a flat area by a level, floored."""
    for i in range(target.size):
        target[i] = np.uint8(np.int32(total[i] + np.float32(own) * image[i] + np.float32(1 / 1024)))
