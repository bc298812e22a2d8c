"""Compiled snow: flakes to layer, layer to blurred layer, blurred layer over the image."""

from __future__ import annotations

import numpy as np

from oodometer.corruptions.jit import jit
from oodometer.corruptions.kernels.shifted_sums import weighted_sum

Grid = tuple[np.ndarray, np.ndarray]
Taps = tuple[int, np.ndarray, np.ndarray]


@jit
def _layer(
    flakes: np.ndarray, rows: Grid, columns: Grid, constants: tuple[float, float, float], pad: int
) -> np.ndarray:
    """The thresholded layer in whole levels, (H + 2 pad, W + 2 pad) float32, its border replicated.

    In float64, because a value that crosses the threshold by rounding would make or lose a whole flake.
    """
    loc, scale, threshold = constants
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
def _blurred(layer: np.ndarray, taps: Taps) -> np.ndarray:
    """The layer along the taps, not yet rounded, (H, W) float32."""
    reach, offsets, weights = taps
    out = np.empty((layer.shape[0] - 2 * reach, layer.shape[1] - 2 * reach), np.float32)
    for i in range(out.shape[0]):
        weighted_sum(out[i], layer.reshape(-1)[i * layer.shape[1] :], offsets, weights)
    return out


@jit
def _backwards(values: np.ndarray, out: np.ndarray) -> None:
    """The values from the last to the first; vectorised only with indices that can't be negative."""
    n, one = np.uint64(len(out)), np.uint64(1)
    for j in range(n):
        out[j] = values[n - one - j]


@jit
def _thrice(values: np.ndarray, out: np.ndarray) -> None:
    """Each value for three channels."""
    for j in range(len(values)):
        value = values[j]
        out[3 * j] = value
        out[3 * j + 1] = value
        out[3 * j + 2] = value


@jit
def _over(image: np.ndarray, snow: np.ndarray, mix: float) -> np.ndarray:
    """The whitened image and both layers of snow, in levels; each loop runs over one row without branches."""
    height, width = image.shape[:2]
    keep, pale = np.float32(mix), np.float32(1 - mix)
    red_part, green_part, blue_part = np.float32(0.299 * 1.5), np.float32(0.587 * 1.5), np.float32(0.114 * 1.5)
    rounding, half, top = np.float32(0.5), np.float32(127.5), np.float32(255)
    out = np.empty_like(image)
    both, turned = np.empty(width, np.float32), np.empty(width, np.float32)
    levels = np.empty(3 * width, np.float32)
    grey = np.empty(width, np.float32)
    both_thrice = np.empty(3 * width, np.float32)
    grey_thrice = np.empty(3 * width, np.float32)
    for i in range(height):
        here = snow[i]
        _backwards(snow[height - 1 - i], turned)
        for j in range(width):
            # Each rounded to whole levels before they are added.
            both[j] = np.float32(np.int32(here[j] + rounding) + np.int32(turned[j] + rounding))
        source, target = image[i].reshape(-1), out[i].reshape(-1)
        for j in range(3 * width):
            levels[j] = np.float32(source[j])
        for j in range(width):
            grey[j] = red_part * levels[3 * j] + green_part * levels[3 * j + 1] + blue_part * levels[3 * j + 2] + half
        _thrice(both, both_thrice)
        _thrice(grey, grey_thrice)
        for j in range(3 * width):
            value = keep * levels[j] + pale * max(levels[j], grey_thrice[j]) + both_thrice[j]
            target[j] = np.uint8(np.int32(min(value, top)))
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
        taps: Of the motion blur: the width of the border, offsets from the corner of the bordered layer, weights.
        constants: loc, scale, threshold, mix.
    """
    loc, scale, threshold, mix = constants
    layer = _layer(flakes, grids[0], grids[1], (loc, scale, threshold), taps[0])
    return _over(image, _blurred(layer, taps), mix)
