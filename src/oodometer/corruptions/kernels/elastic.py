"""Smoothing of fields and two bilinear samplings of an image, border mirrored, in float32."""

from __future__ import annotations

from typing import Any

import numpy as np

from oodometer.corruptions.jit import jit
from oodometer.corruptions.kernels.shifted_sums import weighted_sum
from oodometer.corruptions.kernels.simd_lanes import mix_four

Place = Any
"""An integer of the width that the machine likes best."""


@jit
def mirrored(i: Place, n: int) -> Place:
    """The place of i in a mirrored axis whose edges are not repeated (cv2's reflect 101)."""
    i = abs(i) % (2 * n - 2)
    return min(i, 2 * n - 2 - i)


@jit
def reflected(i: Place, n: int) -> Place:
    """The place of i in a mirrored axis whose edges are repeated (scipy's reflect)."""
    i = i % (2 * n)
    return min(i, 2 * n - 1 - i)


@jit
def turned(share: np.float32, a: Place, b: Place) -> np.float32:
    """The share of the later one of two neighbours, given that of b; none if both are the same."""
    return share if a < b else np.float32(1) - share if b < a else np.float32(0)


@jit
def extent(places: np.ndarray) -> tuple[int, int]:
    """The least and the greatest place."""
    least = greatest = places[0]
    for i in range(places.size):
        least, greatest = min(least, places[i]), max(greatest, places[i])
    return least, greatest


@jit
def mirror_all(places: np.ndarray, share: np.ndarray, n: int) -> None:
    """Places, and shares of those after them, made such in a mirrored axis, edges not repeated."""
    least, greatest = extent(places)
    if least >= 0 and greatest < n - 1:
        return
    last = np.int32(2 * n - 2)
    far = least < -last or greatest >= last  # beyond one reflection
    for i in range(places.size):
        if far:
            a, b = np.int32(mirrored(places[i], n)), np.int32(mirrored(places[i] + 1, n))
        else:
            a, b = np.int32(abs(places[i])), np.int32(abs(np.int32(places[i] + np.int32(1))))
            a, b = min(a, np.int32(last - a)), min(b, np.int32(last - b))
        places[i], share[i] = min(a, b), turned(share[i], a, b)


@jit
def reflect_all(places: np.ndarray, share: np.ndarray, n: int) -> None:
    """The same with edges repeated."""
    least, greatest = extent(places)
    if least >= 0 and greatest < n - 1:
        return
    last = np.int32(2 * n - 1)
    far = least < -1 - last or greatest >= last
    for i in range(places.size):
        at = places[i]
        if far:
            a, b = np.int32(reflected(at, n)), np.int32(reflected(at + 1, n))
        else:
            a, b = max(at, np.int32(-1 - at)), max(np.int32(at + 1), np.int32(-2 - at))
            a, b = min(a, np.int32(last - a)), min(b, np.int32(last - b))
        places[i], share[i] = min(a, b), turned(share[i], a, b)


@jit
def split_fixed(across: np.ndarray, down: int, places: np.ndarray, share: np.ndarray) -> None:
    """Places in 1/1024 pixels as whole pixels and the rest, to 1/32 pixel."""
    for x in range(across.size):
        at = np.int32(across[x] + np.int32(down)) >> np.int32(5)
        places[x] = at >> np.int32(5)
        share[x] = np.float32(at & np.int32(31)) * np.float32(1 / 32)


@jit
def split_moved(start: int, step: int, move: np.ndarray, places: np.ndarray, share: np.ndarray) -> None:
    """Places start + step * i + move[i] as whole pixels and the rest."""
    for x in range(move.size):
        floor = np.floor(move[x])
        places[x] = np.int32(floor) + np.int32(start + step * x)
        share[x] = move[x] - floor


@jit
def sample_row(
    flat: np.ndarray, places: tuple[np.ndarray, np.ndarray], shares: tuple[np.ndarray, np.ndarray], out: np.ndarray
) -> None:
    """A row of pixels, each the bilinear mean of four: left and top, the shares of right and bottom."""
    left, top = places
    right, low = shares
    row = np.int32(3 * left.size)
    for x in range(left.size):
        left[x] = top[x] * row + left[x] * np.int32(3)
    for x in range(left.size):
        mix_four(flat, (left[x], np.int32(left[x] + row)), (right[x], low[x]), out, 3 * x)


@jit
def warp(flat: np.ndarray, across: np.ndarray, down: np.ndarray, out: np.ndarray) -> None:
    """The affine part, border mirrored, exact.

    Args:
        flat: The image, a blank row and two values more, flat, uint8.
        across: Parts of the places, in 1/1024 pixels, that depend on the column: x and y, (2, W) int32.
        down: Parts that depend on the row, (2, H) int32.
        out: The result and at least one value more, flat, float32.
    """
    height, width = down.shape[1], across.shape[1]
    left, top = np.empty(width, np.int32), np.empty(width, np.int32)
    right, low = np.empty(width, np.float32), np.empty(width, np.float32)
    for y in range(height):
        split_fixed(across[0], down[0, y], left, right)
        mirror_all(left, right, width)
        split_fixed(across[1], down[1, y], top, low)
        mirror_all(top, low, height)
        sample_row(flat, (left, top), (right, low), out[3 * y * width :])


@jit
def displace(flat: np.ndarray, dx: np.ndarray, dy: np.ndarray, offset: float, out: np.ndarray) -> None:
    """The displaced image, border reflected, floored.

    Args:
        flat: What `warp` made, a blank row and two values more.
        offset: Added before the floor.
        out: (H, W, 3) uint8.
    """
    height, width = dx.shape
    left, top = np.empty(width, np.int32), np.empty(width, np.int32)
    right, low = np.empty(width, np.float32), np.empty(width, np.float32)
    line = np.empty(width * 3 + 1, dtype=np.float32)
    rows = out.reshape(height, width * 3)
    for y in range(height):
        split_moved(0, 1, dx[y], left, right)
        reflect_all(left, right, width)
        split_moved(y, 0, dy[y], top, low)
        reflect_all(top, low, height)
        sample_row(flat, (left, top), (right, low), line)
        row = rows[y]
        for i in range(row.size):
            row[i] = np.uint8(np.int32(line[i] + np.float32(offset)))


@jit
def fields_of(halves: np.ndarray) -> np.ndarray:
    """Integers from 0 to 65535 as floats from -1 to 1."""
    out = np.empty(halves.size, dtype=np.float32)
    for i in range(out.size):
        out[i] = (np.float32(halves[i]) - np.float32(32767.5)) * np.float32(1 / 32768)
    return out


@jit
def add_product(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """Adds the matrix product, float32, on one thread: the libraries' own starts many for so small a task."""
    whole = b.shape[0] // 4 * 4
    for k in range(0, whole, 4):
        b0, b1, b2, b3 = b[k], b[k + 1], b[k + 2], b[k + 3]
        for i in range(out.shape[0]):
            total = out[i]
            w0, w1, w2, w3 = a[i, k], a[i, k + 1], a[i, k + 2], a[i, k + 3]
            for j in range(total.size):
                total[j] += b0[j] * w0 + b1[j] * w1 + b2[j] * w2 + b3[j] * w3
    for k in range(whole, b.shape[0]):
        b0 = b[k]
        for i in range(out.shape[0]):
            total, w0 = out[i], a[i, k]
            for j in range(total.size):
                total[j] += b0[j] * w0


@jit
def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The matrix product in float32."""
    out = np.zeros((a.shape[0], b.shape[1]), dtype=np.float32)
    if a.shape[0] <= b.shape[0]:
        add_product(a, b, out)
    else:  # row by row, while b stays in the cache
        starts = np.arange(b.shape[0]) * b.shape[1]
        for i in range(a.shape[0]):
            weighted_sum(out[i], b.reshape(-1), starts, a[i])
    return out


@jit
def smooth_few(field: np.ndarray, weights: np.ndarray, down: np.ndarray, across: np.ndarray) -> np.ndarray:
    """Both passes of a filter, row by row.

    Args:
        weights: (2 R + 1,) float32.
        down: Where the row inside begins for each row of the padded field, (H + 2 R,).
        across: The column inside for each column of the padded field, (W + 2 R,).
    """
    height, width = field.shape
    radius = weights.size // 2
    steps = np.arange(weights.size)
    out = np.empty((height, width), dtype=np.float32)
    padded = np.empty(width + 2 * radius, dtype=np.float32)
    line = padded[radius : radius + width]
    for y in range(height):
        weighted_sum(line, field.reshape(-1), down[y : y + weights.size], weights)
        for x in range(radius):
            padded[x] = line[across[x]]
            padded[radius + width + x] = line[across[radius + width + x]]
        weighted_sum(out[y], padded, steps, weights)
    return out
