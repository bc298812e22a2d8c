"""Two bilinear samplings of an image, all channels of a pixel at a time."""

from __future__ import annotations

import numpy as np

from oodometer.corruptions.jit import jit

Pixel = tuple[float, float, float, float]


@jit
def with_four(image: np.ndarray) -> np.ndarray:
    """The image as float32 with a fourth channel of zeros, flat: a pixel is then one vector of the machine."""
    height, width = image.shape[0], image.shape[1]
    flat = np.zeros(height * width * 4, dtype=np.float32)
    for y in range(height):
        source = image[y]
        target = flat[y * width * 4 : (y + 1) * width * 4]
        for x in range(width):
            target[4 * x] = source[x, 0]
            target[4 * x + 1] = source[x, 1]
            target[4 * x + 2] = source[x, 2]
    return flat


@jit
def mirrored(i: int, n: int) -> int:
    """The place of i in a mirrored axis whose edges are not repeated (cv2's reflect 101)."""
    i = abs(i) % (2 * n - 2)
    return i if i < n else 2 * n - 2 - i


@jit
def reflected(i: int, n: int) -> int:
    """The place of i in a mirrored axis whose edges are repeated (scipy's reflect)."""
    i = i % (2 * n)
    return i if i < n else 2 * n - 1 - i


@jit
def bilinear(flat: np.ndarray, corners: tuple[int, int, int, int], right: float, low: float) -> Pixel:
    """The weighted mean of four pixels: top left, top right, bottom left, bottom right."""
    a, b, c, d = corners[0], corners[1], corners[2], corners[3]
    a0, a1, a2, a3 = flat[a], flat[a + 1], flat[a + 2], flat[a + 3]
    b0, b1, b2, b3 = flat[b], flat[b + 1], flat[b + 2], flat[b + 3]
    c0, c1, c2, c3 = flat[c], flat[c + 1], flat[c + 2], flat[c + 3]
    d0, d1, d2, d3 = flat[d], flat[d + 1], flat[d + 2], flat[d + 3]
    a0, a1, a2, a3 = a0 + (b0 - a0) * right, a1 + (b1 - a1) * right, a2 + (b2 - a2) * right, a3 + (b3 - a3) * right
    c0, c1, c2, c3 = c0 + (d0 - c0) * right, c1 + (d1 - c1) * right, c2 + (d2 - c2) * right, c3 + (d3 - c3) * right
    return a0 + (c0 - a0) * low, a1 + (c1 - a1) * low, a2 + (c2 - a2) * low, a3 + (c3 - a3) * low


@jit
def warp(flat: np.ndarray, across: np.ndarray, down: np.ndarray, out: np.ndarray) -> None:
    """The affine part, border mirrored; flat as of `with_four`.

    Args:
        across: Parts of the places that depend on the column: x and y, (2, W) float64.
        down: Parts that depend on the row, (2, H) float64.
    """
    height, width = down.shape[1], across.shape[1]
    for y in range(height):
        row = out[y * width * 4 : (y + 1) * width * 4]
        for x in range(width):
            at_x, at_y = across[0, x] + down[0, y], across[1, x] + down[1, y]
            left, top = np.floor(at_x), np.floor(at_y)
            right, low = np.float32(at_x - left), np.float32(at_y - top)
            x0, y0 = np.int64(left), np.int64(top)
            if 0 <= x0 < width - 1 and 0 <= y0 < height - 1:
                at = np.uint64(4 * (y0 * width + x0))
                corners = at, at + np.uint64(4), at + np.uint64(4 * width), at + np.uint64(4 * width + 4)
            else:
                x1, y1 = mirrored(x0 + 1, width), mirrored(y0 + 1, height)
                x0, y0 = mirrored(x0, width), mirrored(y0, height)
                corners = (
                    np.uint64(4 * (y0 * width + x0)),
                    np.uint64(4 * (y0 * width + x1)),
                    np.uint64(4 * (y1 * width + x0)),
                    np.uint64(4 * (y1 * width + x1)),
                )
            row[4 * x], row[4 * x + 1], row[4 * x + 2], row[4 * x + 3] = bilinear(flat, corners, right, low)


@jit
def displace(flat: np.ndarray, dx: np.ndarray, dy: np.ndarray, offset: float, out: np.ndarray) -> None:
    """The displaced image, border reflected, floored; flat as of `with_four`, out (H, W, 3) uint8."""
    height, width = dx.shape
    above = np.float32(offset)
    for y in range(height):
        row = out[y]
        for x in range(width):
            # The whole pixels apart from the fraction: float32 has too few digits for both.
            left, top = np.floor(dx[y, x]), np.floor(dy[y, x])
            right, low = dx[y, x] - left, dy[y, x] - top
            x0, y0 = x + np.int64(left), y + np.int64(top)
            if 0 <= x0 < width - 1 and 0 <= y0 < height - 1:
                at = np.uint64(4 * (y0 * width + x0))
                corners = at, at + np.uint64(4), at + np.uint64(4 * width), at + np.uint64(4 * width + 4)
            else:
                x1, y1 = reflected(x0 + 1, width), reflected(y0 + 1, height)
                x0, y0 = reflected(x0, width), reflected(y0, height)
                corners = (
                    np.uint64(4 * (y0 * width + x0)),
                    np.uint64(4 * (y0 * width + x1)),
                    np.uint64(4 * (y1 * width + x0)),
                    np.uint64(4 * (y1 * width + x1)),
                )
            first, second, third, _ = bilinear(flat, corners, right, low)
            row[x, 0] = np.uint8(np.int32(first + above))
            row[x, 1] = np.uint8(np.int32(second + above))
            row[x, 2] = np.uint8(np.int32(third + above))


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
