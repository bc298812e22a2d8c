"""Compiled snow: flakes to layer, layer to blurred layer, blurred layer over the image."""

from __future__ import annotations

import numpy as np

from oodometer.corruptions.jit import jit

Grid = tuple[np.ndarray, np.ndarray]
Taps = tuple[np.ndarray, np.ndarray, np.ndarray]


@jit
def _layer(
    flakes: np.ndarray, rows: Grid, columns: Grid, loc: float, scale: float, threshold: float, pad: int
) -> np.ndarray:
    """The thresholded layer in whole levels, (H + 2 pad, W + 2 pad) float32, its border replicated.

    In float64, because a value that crosses the threshold by rounding would make or lose a whole flake.
    """
    above, down = rows
    before, right = columns
    height, width = len(above), len(before)
    wide = np.empty((flakes.shape[0], width))
    for i in range(flakes.shape[0]):
        source, target = flakes[i], wide[i]
        last = len(source) - 1
        for j in range(width):
            a = loc + scale * np.float64(source[before[j]])
            b = loc + scale * np.float64(source[min(before[j] + 1, last)])
            target[j] = a * (1 - right[j]) + b * right[j]
    layer = np.empty((height + 2 * pad, width + 2 * pad), np.float32)
    for i in range(height):
        first, second = wide[above[i]], wide[min(above[i] + 1, flakes.shape[0] - 1)]
        share = down[i]
        inner = layer[i + pad, pad : pad + width]
        for j in range(width):
            value = first[j] * (1 - share) + second[j] * share
            level = np.float32(np.int32(min(max(value, 0.0), 1.0) * 255))
            inner[j] = np.float32(0) if value < threshold else level
        layer[i + pad, :pad] = inner[0]
        layer[i + pad, pad + width :] = inner[width - 1]
    for i in range(pad):
        layer[i] = layer[pad]
        layer[pad + height + i] = layer[pad + height - 1]
    return layer


@jit
def _blurred(layer: np.ndarray, taps: Taps, pad: int, height: int, width: int) -> np.ndarray:
    """The layer along the taps, rounded to whole levels, (H, W) float32; four taps in each pass over a row."""
    rows, columns, weights = taps
    out = np.empty((height, width), np.float32)
    total = np.empty(width, np.float32)
    n_taps = len(weights)
    for i in range(height):
        total[:] = np.float32(0.5)
        for k in range(0, n_taps - n_taps % 4, 4):
            a = layer[pad + i + rows[k], pad + columns[k] : pad + columns[k] + width]
            b = layer[pad + i + rows[k + 1], pad + columns[k + 1] : pad + columns[k + 1] + width]
            c = layer[pad + i + rows[k + 2], pad + columns[k + 2] : pad + columns[k + 2] + width]
            d = layer[pad + i + rows[k + 3], pad + columns[k + 3] : pad + columns[k + 3] + width]
            p, q, r, s = weights[k], weights[k + 1], weights[k + 2], weights[k + 3]
            for j in range(width):
                total[j] += (p * a[j] + q * b[j]) + (r * c[j] + s * d[j])
        for k in range(n_taps - n_taps % 4, n_taps):
            a = layer[pad + i + rows[k], pad + columns[k] : pad + columns[k] + width]
            p = weights[k]
            for j in range(width):
                total[j] += p * a[j]
        target = out[i]
        for j in range(width):
            target[j] = np.float32(np.int32(total[j]))
    return out


@jit
def _over(image: np.ndarray, snow: np.ndarray, mix: float) -> np.ndarray:
    """The whitened image and both layers of snow, in levels."""
    height, width = snow.shape
    keep, pale = np.float32(mix), np.float32(1 - mix)
    out = np.empty_like(image)
    both = np.empty(width, np.float32)
    grey = np.empty(width, np.float32)
    red_part, green_part, blue_part = np.float32(0.299 * 1.5), np.float32(0.587 * 1.5), np.float32(0.114 * 1.5)
    half, top = np.float32(127.5), np.float32(255)
    for i in range(height):
        here, turned = snow[i], snow[height - 1 - i][::-1]
        for j in range(width):
            both[j] = here[j] + turned[j]
        source, target = image[i], out[i]
        for j in range(width):
            red, green, blue = np.float32(source[j, 0]), np.float32(source[j, 1]), np.float32(source[j, 2])
            grey[j] = red_part * red + green_part * green + blue_part * blue + half
        for j in range(width):
            for channel in range(3):
                level = np.float32(source[j, channel])
                value = keep * level + pale * max(level, grey[j]) + both[j]
                target[j, channel] = np.uint8(np.int32(min(value, top)))
    return out


@jit
def snow_kernel(
    image: np.ndarray,
    flakes: np.ndarray,
    grids: tuple[Grid, Grid],
    taps: Taps,
    constants: tuple[float, float, float, float],
) -> np.ndarray:
    """The image in the snow of these flakes, (H, W, 3) uint8.

    Args:
        grids: For rows and columns of the image, the flake before each and the share of the next one.
        taps: Row offsets, column offsets and weights of the motion blur.
        constants: loc, scale, threshold, mix.
    """
    loc, scale, threshold, mix = constants
    pad = len(taps[2])
    layer = _layer(flakes, grids[0], grids[1], loc, scale, threshold, pad)
    return _over(image, _blurred(layer, taps, pad, image.shape[0], image.shape[1]), mix)
