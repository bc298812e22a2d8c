"""The layers of zoom blur, enlarged and added up in float32."""

from __future__ import annotations

import numpy as np

from oodometer.corruptions.jit import jit
from oodometer.corruptions.kernels.quads import mix_two


@jit
def as_floats(image: np.ndarray) -> np.ndarray:
    """The image with a blank row below and a blank pixel and a value more at the right, (H + 1, W * 3 + 4) float32."""
    height, width = image.shape[0], image.shape[1]
    flat = image.reshape(height, width * 3)
    out = np.zeros((height + 1, width * 3 + 4), dtype=np.float32)
    for y in range(height):
        source, target = flat[y], out[y]
        for i in range(source.size):
            target[i] = np.float32(source[i])
    return out


@jit
def stretch_row(source: np.ndarray, at: np.ndarray, share: np.ndarray, target: np.ndarray) -> None:
    """A row enlarged: the pixels that begin at source[at] and those after them, these with their share."""
    for x in range(at.size):
        mix_two(source, at[x], share[x], target, 3 * x)


@jit
def add_rows(total: np.ndarray, a: np.ndarray, b: np.ndarray, wa: float, wb: float) -> None:
    """Total += wa * a + wb * b, float32."""
    for i in range(total.size):
        total[i] += wa * a[i] + wb * b[i]


@jit
def add_layers(
    pixels: np.ndarray,
    columns: tuple[np.ndarray, np.ndarray],
    rows: tuple[np.ndarray, np.ndarray, np.ndarray],
    own: float,
    out: np.ndarray,
) -> None:
    """The weighted sum of the image and its enlargements, row by row, so that a row of the sum stays in the cache.

    Args:
        pixels: The image as `as_floats` gives it.
        columns: For each layer and column, where the pixel before it begins, int32, and the share of the next, float32.
        rows: For each layer and row, the row of the image before it, and the weights of it and of the next, float32.
        own: The weight of the image.
        out: (H, W, 3) uint8.
    """
    at, share = columns
    row, before, after = rows
    n_layers, width = at.shape
    # Of each layer the last two enlarged rows; row r is at r % 2.
    held = np.empty((n_layers, 2, width * 3 + 1), dtype=np.float32)
    next_row = row[:, 0].copy()
    total = np.empty(width * 3, dtype=np.float32)
    lines = out.reshape(out.shape[0], width * 3)
    for y in range(out.shape[0]):
        image = pixels[y]
        for i in range(total.size):
            total[i] = image[i] * np.float32(own)
        for layer in range(n_layers):
            top = row[layer, y]
            for r in range(next_row[layer], top + 2):
                stretch_row(pixels[r], at[layer], share[layer], held[layer, r % 2])
            next_row[layer] = top + 2
            add_rows(total, held[layer, top % 2], held[layer, (top + 1) % 2], before[layer, y], after[layer, y])
        to_bytes(total, lines[y])


@jit
def to_bytes(total: np.ndarray, target: np.ndarray) -> None:
    """Floats as bytes: a little more than the sum, so that float32 does not lower a flat area by a level, floored."""
    for i in range(target.size):
        target[i] = np.uint8(np.int32(total[i] + np.float32(1 / 1024)))
