"""Two bilinear samplings of an image, border mirrored, in float32."""

from __future__ import annotations

from typing import Any

import numpy as np

from oodometer.corruptions.jit import jit

Place = Any
"""An integer of the width that the machine likes best."""
Pixel = tuple[float, float, float]
U1, U2 = np.uint64(1), np.uint64(2)


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
def mirror_all(places: np.ndarray, n: int, before: np.ndarray, after: np.ndarray, share: np.ndarray) -> None:
    """The neighbours of places in a mirrored axis (edges not repeated), and the share of the one after."""
    last = np.int32(2 * n - 2)
    lowest = np.int32(0)
    for i in range(places.size):
        floor = np.floor(places[i])
        share[i] = np.float32(places[i] - floor)
        at = np.int32(floor)
        a, b = np.int32(abs(at)), np.int32(abs(np.int32(at + 1)))
        before[i] = min(a, np.int32(last - a))
        after[i] = min(b, np.int32(last - b))
        lowest = min(lowest, before[i], after[i])
    if lowest < 0:  # beyond one reflection
        for i in range(places.size):
            at = np.int32(np.floor(places[i]))
            before[i], after[i] = mirrored(at, n), mirrored(at + 1, n)


@jit
def reflect_all(places: np.ndarray, n: int, before: np.ndarray, after: np.ndarray, share: np.ndarray) -> None:
    """The neighbours of places in a mirrored axis (edges repeated), and the share of the one after."""
    last = np.int32(2 * n - 1)
    lowest = np.int32(0)
    for i in range(places.size):
        floor = np.floor(places[i])
        share[i] = np.float32(places[i] - floor)
        at = np.int32(floor)
        a, b = max(at, np.int32(-1 - at)), max(np.int32(at + 1), np.int32(-2 - at))
        before[i] = min(a, np.int32(last - a))
        after[i] = min(b, np.int32(last - b))
        lowest = min(lowest, before[i], after[i])
    if lowest < 0:
        for i in range(places.size):
            at = np.int32(np.floor(places[i]))
            before[i], after[i] = reflected(at, n), reflected(at + 1, n)


@jit
def bilinear(flat: np.ndarray, a: Place, b: Place, c: Place, d: Place, right: float, low: float) -> Pixel:
    """The weighted mean of four pixels: top left, top right, bottom left, bottom right."""
    a0, a1, a2 = flat[a], flat[a + U1], flat[a + U2]
    b0, b1, b2 = flat[b], flat[b + U1], flat[b + U2]
    c0, c1, c2 = flat[c], flat[c + U1], flat[c + U2]
    d0, d1, d2 = flat[d], flat[d + U1], flat[d + U2]
    a0, a1, a2 = a0 + (b0 - a0) * right, a1 + (b1 - a1) * right, a2 + (b2 - a2) * right
    c0, c1, c2 = c0 + (d0 - c0) * right, c1 + (d1 - c1) * right, c2 + (d2 - c2) * right
    return a0 + (c0 - a0) * low, a1 + (c1 - a1) * low, a2 + (c2 - a2) * low


@jit
def sample_row(flat: np.ndarray, near: np.ndarray, shares: np.ndarray, target: np.ndarray) -> None:
    """A row of samples; near has left, right, top and bottom, (4, W) int32, shares those of right and bottom."""
    left, right, top, bottom = near[0], near[1], near[2], near[3]
    across, down = shares[0], shares[1]
    width = left.size
    for x in range(width):
        upper, lower = top[x] * width, bottom[x] * width
        p0, p1, p2 = bilinear(
            flat,
            np.uint64(3 * (upper + left[x])),
            np.uint64(3 * (upper + right[x])),
            np.uint64(3 * (lower + left[x])),
            np.uint64(3 * (lower + right[x])),
            across[x],
            down[x],
        )
        at = np.uint64(3 * x)
        target[at], target[at + U1], target[at + U2] = p0, p1, p2


@jit
def warp(flat: np.ndarray, across: np.ndarray, down: np.ndarray, out: np.ndarray) -> None:
    """The affine part, border mirrored; flat is the image, (H * W * 3,) float32.

    Args:
        across: Parts of the places, in 1/1024 pixels, that depend on the column: x and y, (2, W) int64.
        down: Parts that depend on the row, (2, H) int64.
    """
    height, width = down.shape[1], across.shape[1]
    near, shares = np.empty((4, width), dtype=np.int32), np.empty((2, width), dtype=np.float32)
    for y in range(height):
        mirror_all(((across[0] + down[0, y]) >> 5) / 32, width, near[0], near[1], shares[0])
        mirror_all(((across[1] + down[1, y]) >> 5) / 32, height, near[2], near[3], shares[1])
        sample_row(flat, near, shares, out[y * width * 3 : (y + 1) * width * 3])


@jit
def displace(flat: np.ndarray, dx: np.ndarray, dy: np.ndarray, offset: float, out: np.ndarray) -> None:
    """The displaced image, border reflected, floored; flat is the image, (H * W * 3,) float32, out (H, W, 3) uint8."""
    height, width = dx.shape
    near, shares = np.empty((4, width), dtype=np.int32), np.empty((2, width), dtype=np.float32)
    columns = np.arange(width).astype(np.float64)
    line = np.empty(width * 3, dtype=np.float32)
    rows = out.reshape(height, width * 3)
    for y in range(height):
        reflect_all(columns + dx[y], width, near[0], near[1], shares[0])
        reflect_all(np.float64(y) + dy[y].astype(np.float64), height, near[2], near[3], shares[1])
        sample_row(flat, near, shares, line)
        row = rows[y]
        for i in range(line.size):
            row[i] = np.uint8(line[i] + np.float32(offset))


@jit
def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The matrix product in float32, on one thread: the libraries' own starts many for so small a task."""
    out = np.zeros((a.shape[0], b.shape[1]), dtype=np.float32)
    for i in range(out.shape[0]):
        total = out[i]
        for k in range(0, a.shape[1] - 3, 4):
            w0, w1, w2, w3 = a[i, k], a[i, k + 1], a[i, k + 2], a[i, k + 3]
            b0, b1, b2, b3 = b[k], b[k + 1], b[k + 2], b[k + 3]
            for j in range(total.size):
                total[j] += b0[j] * w0 + b1[j] * w1 + b2[j] * w2 + b3[j] * w3
        for k in range(a.shape[1] // 4 * 4, a.shape[1]):
            w0, b0 = a[i, k], b[k]
            for j in range(total.size):
                total[j] += b0[j] * w0
    return out
