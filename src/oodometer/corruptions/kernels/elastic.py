"""Smoothing of fields and two bilinear samplings of an image, border mirrored, in float32."""

from __future__ import annotations

from typing import Any

import numpy as np

from oodometer.corruptions.jit import jit
from oodometer.corruptions.kernels.quads import mix_bytes, mix_floats

Place = Any
"""An integer of the width that the machine likes best."""
Quad = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


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
def mirror_all(places: np.ndarray, n: int, before: np.ndarray, after: np.ndarray) -> None:
    """The places and those after them in a mirrored axis, edges not repeated."""
    last = np.int32(2 * n - 2)
    lowest = np.int32(0)
    for i in range(places.size):
        a, b = np.int32(abs(places[i])), np.int32(abs(np.int32(places[i] + np.int32(1))))
        a, b = min(a, np.int32(last - a)), min(b, np.int32(last - b))
        before[i], after[i] = a, b
        lowest = min(lowest, min(a, b))
    if lowest < 0:  # beyond one reflection
        for i in range(places.size):
            before[i], after[i] = mirrored(places[i], n), mirrored(places[i] + 1, n)


@jit
def reflect_all(places: np.ndarray, n: int, before: np.ndarray, after: np.ndarray) -> None:
    """The places and those after them in a mirrored axis, edges repeated."""
    last = np.int32(2 * n - 1)
    lowest = np.int32(0)
    for i in range(places.size):
        at = places[i]
        a, b = max(at, np.int32(-1 - at)), max(np.int32(at + 1), np.int32(-2 - at))
        a, b = min(a, np.int32(last - a)), min(b, np.int32(last - b))
        before[i], after[i] = a, b
        lowest = min(lowest, min(a, b))
    if lowest < 0:
        for i in range(places.size):
            before[i], after[i] = reflected(places[i], n), reflected(places[i] + 1, n)


@jit
def corners(near: np.ndarray, width: int, offsets: np.ndarray) -> None:
    """Where the four pixels around each place begin; near has left, right, top and bottom, (4, W) int32."""
    left, right, top, bottom = near[0], near[1], near[2], near[3]
    a, b, c, d = offsets[0], offsets[1], offsets[2], offsets[3]
    row = np.int32(3 * width)
    for x in range(left.size):
        upper, lower = np.int32(top[x] * row), np.int32(bottom[x] * row)
        near_left, near_right = np.int32(left[x] * np.int32(3)), np.int32(right[x] * np.int32(3))
        a[x], b[x], c[x], d[x] = upper + near_left, upper + near_right, lower + near_left, lower + near_right


@jit
def split_fixed(across: np.ndarray, down: int, places: np.ndarray, share: np.ndarray) -> None:
    """Places in 1/1024 pixels as whole pixels and the rest, to 1/32 pixel."""
    for x in range(across.size):
        at = np.int32((across[x] + down) >> 5)
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
def warp(flat: np.ndarray, across: np.ndarray, down: np.ndarray, out: np.ndarray) -> None:
    """The affine part, border mirrored, exact.

    Args:
        flat: The image and a byte more, (H * W * 3 + 1,) uint8.
        across: Parts of the places, in 1/1024 pixels, that depend on the column: x and y, (2, W) int64.
        down: Parts that depend on the row, (2, H) int64.
        out: The result and a value more, (H * W * 3 + 1,) float32.
    """
    height, width = down.shape[1], across.shape[1]
    near, offsets = np.empty((4, width), dtype=np.int32), np.empty((4, width), dtype=np.int32)
    places, right, low = np.empty(width, np.int32), np.empty(width, np.float32), np.empty(width, np.float32)
    a, b, c, d = offsets[0], offsets[1], offsets[2], offsets[3]
    for y in range(height):
        split_fixed(across[0], down[0, y], places, right)
        mirror_all(places, width, near[0], near[1])
        split_fixed(across[1], down[1, y], places, low)
        mirror_all(places, height, near[2], near[3])
        corners(near, width, offsets)
        for x in range(width):
            mix_bytes(flat, (a[x], b[x], c[x], d[x]), (right[x], low[x]), out, 3 * (y * width + x))


@jit
def displace(flat: np.ndarray, dx: np.ndarray, dy: np.ndarray, offset: float, out: np.ndarray) -> None:
    """The displaced image, border reflected, floored; flat is what `warp` made, out (H, W, 3) uint8."""
    height, width = dx.shape
    near, offsets = np.empty((4, width), dtype=np.int32), np.empty((4, width), dtype=np.int32)
    places, right, low = np.empty(width, np.int32), np.empty(width, np.float32), np.empty(width, np.float32)
    a, b, c, d = offsets[0], offsets[1], offsets[2], offsets[3]
    line = np.empty(width * 3 + 1, dtype=np.float32)
    rows = out.reshape(height, width * 3)
    for y in range(height):
        split_moved(0, 1, dx[y], places, right)
        reflect_all(places, width, near[0], near[1])
        split_moved(y, 0, dy[y], places, low)
        reflect_all(places, height, near[2], near[3])
        corners(near, width, offsets)
        for x in range(width):
            mix_floats(flat, (a[x], b[x], c[x], d[x]), (right[x], low[x]), line, 3 * x)
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
        for i in range(a.shape[0]):
            add_product(a[i : i + 1], b, out[i : i + 1])
    return out


@jit
def transposed(field: np.ndarray) -> np.ndarray:
    """The transpose, contiguous, in tiles that stay in the cache."""
    height, width = field.shape
    out = np.empty((width, height), dtype=np.float32)
    for left in range(0, width, 16):
        for y in range(height):
            for x in range(left, min(left + 16, width)):
                out[x, y] = field[y, x]
    return out


@jit
def smooth_few(field: np.ndarray, weights: np.ndarray, down: np.ndarray, across: np.ndarray) -> np.ndarray:
    """Both passes of a symmetric filter, row by row.

    Args:
        weights: From the centre outwards, (R + 1,) float32, R a multiple of four.
        down: The row inside for each row of the padded field, (H + 2 R,).
        across: The same for columns.
    """
    height, width = field.shape
    radius = weights.size - 1
    out = np.empty((height, width), dtype=np.float32)
    line, padded = np.empty(width, dtype=np.float32), np.empty(width + 2 * radius, dtype=np.float32)
    for y in range(height):
        set_scaled(line, field[y], weights[0])
        for k in range(1, radius, 4):
            u, v = y + radius - k, y + radius + k
            add_pairs(
                line,
                (field[down[u]], field[down[u - 1]], field[down[u - 2]], field[down[u - 3]]),
                (field[down[v]], field[down[v + 1]], field[down[v + 2]], field[down[v + 3]]),
                weights[k : k + 4],
            )
        inner = padded[radius : radius + width]
        for x in range(width):
            inner[x] = line[x]
        for x in range(radius):
            padded[x] = line[across[x]]
            padded[radius + width + x] = line[across[radius + width + x]]
        set_scaled(out[y], line, weights[0])
        for k in range(1, radius, 4):
            u, v = radius - k, radius + k
            add_pairs(
                out[y],
                (padded[u:], padded[u - 1 :], padded[u - 2 :], padded[u - 3 :]),
                (padded[v:], padded[v + 1 :], padded[v + 2 :], padded[v + 3 :]),
                weights[k : k + 4],
            )
    return out


@jit
def set_scaled(total: np.ndarray, a: np.ndarray, weight: float) -> None:
    """Total = weight * a."""
    for i in range(total.size):
        total[i] = a[i] * weight


@jit
def add_pairs(total: np.ndarray, before: Quad, after: Quad, weights: np.ndarray) -> None:
    """Adds four pairs of rows, each pair with a weight; the rows may be longer than the total."""
    a0, a1, a2, a3 = before
    b0, b1, b2, b3 = after
    w0, w1, w2, w3 = weights[0], weights[1], weights[2], weights[3]
    for i in range(total.size):
        total[i] += (a0[i] + b0[i]) * w0 + (a1[i] + b1[i]) * w1 + (a2[i] + b2[i]) * w2 + (a3[i] + b3[i]) * w3
