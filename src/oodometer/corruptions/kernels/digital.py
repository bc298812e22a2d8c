"""The compiled loops of pixelation."""

from __future__ import annotations

import numpy as np

from oodometer.corruptions.jit import jit

PRECISION_BITS = 22
"""Pillow's weights of 8-bit images are whole multiples of 2⁻²²."""


@jit
def _average(total: np.uint32, weight: int) -> np.uint32:
    half = np.uint32(1 << (PRECISION_BITS - 1))
    return np.uint32(np.uint32(np.uint32(total * np.uint32(weight)) + half) >> np.uint32(PRECISION_BITS))


@jit
def _shrink_row(row: np.ndarray, firsts: np.ndarray, counts: np.ndarray, weights: np.ndarray, out: np.ndarray) -> None:
    for x in range(len(firsts)):
        place = np.uint64(firsts[x]) * np.uint64(3)
        red = green = blue = np.uint32(0)
        for _ in range(counts[x]):
            red = np.uint32(red + np.uint32(row[place]))
            green = np.uint32(green + np.uint32(row[place + np.uint64(1)]))
            blue = np.uint32(blue + np.uint32(row[place + np.uint64(2)]))
            place += np.uint64(3)
        out[np.uint64(3 * x)] = np.uint8(_average(red, weights[x]))
        out[np.uint64(3 * x + 1)] = np.uint8(_average(green, weights[x]))
        out[np.uint64(3 * x + 2)] = np.uint8(_average(blue, weights[x]))


@jit
def _shrink_column(rows: np.ndarray, weight: int, total: np.ndarray, out: np.ndarray) -> None:
    total[:] = np.uint32(0)
    for y in range(len(rows)):
        row = rows[y]
        for x in range(len(row)):
            total[x] += np.uint32(row[x])
    for x in range(len(out)):
        out[x] = np.uint8(_average(total[x], weight))


@jit
def _enlarge_row(small: np.ndarray, sources: np.ndarray, out: np.ndarray) -> None:
    for x in range(len(sources)):
        place = np.uint64(sources[x]) * np.uint64(3)
        out[np.uint64(3 * x)] = small[place]
        out[np.uint64(3 * x + 1)] = small[place + np.uint64(1)]
        out[np.uint64(3 * x + 2)] = small[place + np.uint64(2)]


@jit
def shrink_and_enlarge(
    rows: np.ndarray, across: np.ndarray, down: np.ndarray, columns: np.ndarray, lines: np.ndarray
) -> np.ndarray:
    """The image made small by means of boxes and large again by repetition, (H, 3 W) uint8.

    Along a row first and rounded to a byte, then along the columns, as Pillow does (since version 13 not for images
    more than twice as tall as wide).

    Args:
        across: (3, W') int64: first pixel, number of pixels and weight of each box along a row.
        down: (3, H') int64: the same along a column.
        columns: (W,) int64: the small column of each column.
        lines: (H,) int64: the small row of each row, never decreasing.
    """
    narrow = np.empty((len(rows), 3 * across.shape[1]), np.uint8)
    for y in range(len(rows)):
        _shrink_row(rows[y], across[0], across[1], across[2], narrow[y])
    out = np.empty(rows.shape, np.uint8)
    total, small = np.empty(narrow.shape[1], np.uint32), np.empty(narrow.shape[1], np.uint8)
    done = -1
    for y in range(len(rows)):
        line = lines[y]
        if line == done:
            out[y] = out[y - 1]
            continue
        _shrink_column(narrow[down[0, line] : down[0, line] + down[1, line]], down[2, line], total, small)
        _enlarge_row(small, columns, out[y])
        done = line
    return out
