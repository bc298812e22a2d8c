"""The compiled loops of brightness, contrast and saturation."""

from __future__ import annotations

import numpy as np

from oodometer.corruptions.jit import jit

ROW = 1024
"""Pixels that are saturated at a time: few enough for the first-level cache."""


@jit
def scale_by_largest(pixels: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Each channel looked up by the pixel's largest channel and its own value, (N, 3) uint8.

    Args:
        table: (65536,) uint8: the new level at largest * 256 + value.
    """
    out = np.empty(pixels.shape, np.uint8)
    for i in range(len(pixels)):
        red, green, blue = np.uint32(pixels[i, 0]), np.uint32(pixels[i, 1]), np.uint32(pixels[i, 2])
        first = np.uint32(max(max(red, green), blue) * np.uint32(256))
        out[i, 0] = table[np.uint64(first + red)]
        out[i, 1] = table[np.uint64(first + green)]
        out[i, 2] = table[np.uint64(first + blue)]
    return out


@jit
def channel_sums(rows: np.ndarray) -> np.ndarray:
    """The sum of each channel, (H, 3 W) uint8 -> (3,) uint64."""
    columns = np.zeros(rows.shape[1], np.uint32)  # holds images of up to 2**24 rows
    for y in range(len(rows)):
        row = rows[y]
        for x in range(len(row)):
            columns[x] += np.uint32(row[x])
    sums = np.zeros(3, np.uint64)
    for x in range(len(columns)):
        sums[x % 3] += np.uint64(columns[x])
    return sums


@jit
def map_channels(pixels: np.ndarray, tables: np.ndarray) -> np.ndarray:
    """Each channel through a table of its own, (N, 3) uint8 and (3, 256) uint8 -> (N, 3) uint8."""
    out = np.empty(pixels.shape, np.uint8)
    reds, greens, blues = tables[0], tables[1], tables[2]
    for i in range(len(pixels)):
        out[i, 0] = reds[np.uint64(pixels[i, 0])]
        out[i, 1] = greens[np.uint64(pixels[i, 1])]
        out[i, 2] = blues[np.uint64(pixels[i, 2])]
    return out


@jit
def _split(values: np.ndarray, red: np.ndarray, green: np.ndarray, blue: np.ndarray) -> None:
    for i in range(len(red)):
        red[i], green[i], blue[i] = values[3 * i], values[3 * i + 1], values[3 * i + 2]


@jit
def _join(red: np.ndarray, green: np.ndarray, blue: np.ndarray, values: np.ndarray) -> None:
    for i in range(len(red)):
        values[3 * i], values[3 * i + 1], values[3 * i + 2] = red[i], green[i], blue[i]


@jit
def _saturate(red: np.ndarray, green: np.ndarray, blue: np.ndarray, factor: float, offset: float) -> None:
    # The definition, operation by operation in float64: many results are whole levels (all of them where the factor
    # is 2), and only the same rounding errors truncate them to the same byte. np.divide, because "/" looks for a zero,
    # and that branch keeps the loop from being vectorised.
    for i in range(len(red)):
        r, g, b = np.divide(red[i], 255.0), np.divide(green[i], 255.0), np.divide(blue[i], 255.0)
        value = max(max(r, g), b)
        spread = value - min(min(r, g), b)
        is_blue, is_green = b == value, g == value
        across = r - g if is_blue else (b - r if is_green else g - b)
        corner = 4.0 if is_blue else (2.0 if is_green else 0.0)
        turn = np.divide(corner + np.divide(across, spread if spread > 0.0 else 1.0), 6.0)
        turn = turn if turn >= 0.0 else turn + 1.0
        hue = (turn if spread > 0.0 else 0.0) * 6.0
        saturation = min(np.divide(spread, value if value > 0.0 else 1.0) * factor + offset, 1.0)
        sextant = np.floor(hue)
        part = hue - sextant
        least = value * (1.0 - saturation)
        falling = value * (1.0 - part * saturation)
        rising = value * (1.0 - (1.0 - part) * saturation)
        r = falling if sextant == 1.0 else (rising if sextant == 4.0 else least)
        g = rising if sextant == 0.0 else (falling if sextant == 3.0 else least)
        b = rising if sextant == 2.0 else (falling if sextant == 5.0 else least)
        r = value if (sextant == 0.0) | (sextant == 5.0) else r
        g = value if (sextant == 1.0) | (sextant == 2.0) else g
        b = value if (sextant == 3.0) | (sextant == 4.0) else b
        red[i] = np.uint8(np.int32(r * 255.0))
        green[i] = np.uint8(np.int32(g * 255.0))
        blue[i] = np.uint8(np.int32(b * 255.0))


@jit
def scale_saturation(values: np.ndarray, factor: float, offset: float) -> np.ndarray:
    """Pixels with saturation S factor + offset, at most 1, (3 N,) uint8 -> (3 N,) uint8."""
    out = np.empty(values.size, np.uint8)
    planes = np.empty((3, ROW), np.uint8)
    for start in range(0, values.size, 3 * ROW):
        n_pixels = min(ROW, (values.size - start) // 3)
        red, green, blue = planes[0, :n_pixels], planes[1, :n_pixels], planes[2, :n_pixels]
        _split(values[start : start + 3 * ROW], red, green, blue)
        _saturate(red, green, blue, factor, offset)
        _join(red, green, blue, out[start : start + 3 * ROW])
    return out
