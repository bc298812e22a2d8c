"""A JPEG file written and read again, without the file: all of baseline JPEG but the lossless entropy coding.

Colours to luma and chroma, chroma halved (4:2:0), the cosine transform, rounding to multiples of the quantisation
tables, and back. Whole numbers throughout, in the order of libjpeg's accurate integer transform ("islow", after
Loeffler, Ligtenberg and Moschytz 1989) and its triangle filter for the chroma ("fancy upsampling"): bit for bit what
libjpeg-turbo gives, for sides that are multiples of 16 (others need libjpeg's rules for the margin).

Sixteen rows of the image are worked on at a time. Their blocks lie side by side, so that the loops run over blocks:
row 8 c + r of the array holds the value in column c and row r of every block, first of luma, then of both chromas.
"""

from __future__ import annotations

import numpy as np

from oodometer.corruptions.jit import jit

I32 = np.int32
"""numba widens sums and products of int32: the casts keep the loops in 32 bits."""


@jit
def _to_ycc(row: np.ndarray, luma: np.ndarray, blue: np.ndarray, red: np.ndarray) -> None:
    # ITU-R 601 in multiples of 2⁻¹⁶.
    centre = I32((128 << 16) + 32767)
    for x in range(len(luma)):
        r, g, b = I32(row[3 * x]), I32(row[3 * x + 1]), I32(row[3 * x + 2])
        luma[x] = I32(I32(I32(19595) * r + I32(38470) * g + I32(7471) * b + I32(32768)) >> I32(16))
        blue[x] = I32(I32(I32(32768) * b - I32(11059) * r - I32(21709) * g + centre) >> I32(16))
        red[x] = I32(I32(I32(32768) * r - I32(27439) * g - I32(5329) * b + centre) >> I32(16))


@jit
def _to_rgb(luma: np.ndarray, blue: np.ndarray, red: np.ndarray, row: np.ndarray) -> None:
    low, high, half, bits = I32(0), I32(255), I32(32768), I32(16)
    for x in range(len(luma)):
        y, u, v = I32(luma[x]), I32(blue[x] - I32(128)), I32(red[x] - I32(128))
        r = I32(y + I32(I32(I32(91881) * v + half) >> bits))
        g = I32(y + I32(I32(half - I32(22554) * u - I32(46802) * v) >> bits))
        b = I32(y + I32(I32(I32(116130) * u + half) >> bits))
        row[3 * x] = np.uint8(min(max(r, low), high))
        row[3 * x + 1] = np.uint8(min(max(g, low), high))
        row[3 * x + 2] = np.uint8(min(max(b, low), high))


@jit
def _halve(upper: np.ndarray, lower: np.ndarray, out: np.ndarray) -> None:
    # Means of four; libjpeg rounds down and up in turn.
    for x in range(len(out)):
        total = I32(upper[2 * x] + upper[2 * x + 1] + lower[2 * x] + lower[2 * x + 1])
        out[x] = I32(I32(total + I32(1) + I32(x & 1)) >> I32(2))


@jit
def _double(near: np.ndarray, far: np.ndarray, sums: np.ndarray, out: np.ndarray) -> None:
    # Weights 9, 3, 3, 1 of the four nearest; the two columns at the margin have no neighbour.
    for x in range(len(near)):
        sums[x] = I32(I32(near[x]) * I32(3) + I32(far[x]))
    last = len(near) - 1
    out[0] = I32(I32(sums[0] * I32(4) + I32(8)) >> I32(4))
    out[2 * last + 1] = I32(I32(sums[last] * I32(4) + I32(7)) >> I32(4))
    left, right, inner = sums[:last], sums[1:], out[1 : 2 * last + 1]
    for x in range(last):
        inner[2 * x] = I32(I32(left[x] * I32(3) + right[x] + I32(7)) >> I32(4))
        inner[2 * x + 1] = I32(I32(right[x] * I32(3) + left[x] + I32(8)) >> I32(4))


@jit
def _to_blocks(row: np.ndarray, blocks: np.ndarray, place: int, first: int) -> None:
    n_blocks = len(row) // 8
    for column in range(8):
        values = blocks[8 * column + place][first : first + n_blocks]
        for i in range(n_blocks):
            values[i] = I32(row[8 * i + column] - I32(128))


@jit
def _from_blocks(blocks: np.ndarray, place: int, first: int, row: np.ndarray) -> None:
    n_blocks = len(row) // 8
    for column in range(8):
        values = blocks[8 * column + place][first : first + n_blocks]
        for i in range(n_blocks):
            row[8 * i + column] = np.uint8(min(max(I32(values[i] + I32(128)), I32(0)), I32(255)))


@jit
def _forward(blocks: np.ndarray, first: int, step: int, left: int, right: int, odd_right: int) -> None:
    """The cosine transform of 8 rows of the array, times 2**left / 2**right, in place.

    Args:
        first: The first of the rows, which lie ``step`` apart.
        odd_right: What takes the 13 bits of the constants off again, and the scale.
    """
    p0, p1, p2, p3 = blocks[first], blocks[first + step], blocks[first + 2 * step], blocks[first + 3 * step]
    p4, p5, p6, p7 = (
        blocks[first + 4 * step],
        blocks[first + 5 * step],
        blocks[first + 6 * step],
        blocks[first + 7 * step],
    )
    up, down, half = I32(left), I32(right), I32((1 << right) >> 1)
    odd_down, odd_half = I32(odd_right), I32(1 << (odd_right - 1))
    for i in range(len(p0)):
        t0, t7, t1, t6 = I32(p0[i] + p7[i]), I32(p0[i] - p7[i]), I32(p1[i] + p6[i]), I32(p1[i] - p6[i])
        t2, t5, t3, t4 = I32(p2[i] + p5[i]), I32(p2[i] - p5[i]), I32(p3[i] + p4[i]), I32(p3[i] - p4[i])
        t10, t13, t11, t12 = I32(t0 + t3), I32(t0 - t3), I32(t1 + t2), I32(t1 - t2)
        p0[i] = I32(I32(I32(I32(t10 + t11) << up) + half) >> down)
        p4[i] = I32(I32(I32(I32(t10 - t11) << up) + half) >> down)
        z1 = I32(I32(t12 + t13) * I32(4433))
        p2[i] = I32(I32(z1 + t13 * I32(6270) + odd_half) >> odd_down)
        p6[i] = I32(I32(z1 - t12 * I32(15137) + odd_half) >> odd_down)
        z1, z2 = I32(I32(t4 + t7) * I32(-7373)), I32(I32(t5 + t6) * I32(-20995))
        z3, z4 = I32(t4 + t6), I32(t5 + t7)
        z5 = I32(I32(z3 + z4) * I32(9633))
        z3, z4 = I32(z3 * I32(-16069) + z5), I32(z4 * I32(-3196) + z5)
        p7[i] = I32(I32(t4 * I32(2446) + z1 + z3 + odd_half) >> odd_down)
        p5[i] = I32(I32(t5 * I32(16819) + z2 + z4 + odd_half) >> odd_down)
        p3[i] = I32(I32(t6 * I32(25172) + z2 + z3 + odd_half) >> odd_down)
        p1[i] = I32(I32(t7 * I32(12299) + z1 + z4 + odd_half) >> odd_down)


@jit
def _inverse(blocks: np.ndarray, first: int, step: int, right: int) -> None:
    """The inverse cosine transform of 8 rows of the array, in place, ``right`` bits of scale taken off."""
    p0, p1, p2, p3 = blocks[first], blocks[first + step], blocks[first + 2 * step], blocks[first + 3 * step]
    p4, p5, p6, p7 = (
        blocks[first + 4 * step],
        blocks[first + 5 * step],
        blocks[first + 6 * step],
        blocks[first + 7 * step],
    )
    down, half = I32(right), I32(1 << (right - 1))
    for i in range(len(p0)):
        z1 = I32(I32(p2[i] + p6[i]) * I32(4433))
        t2, t3 = I32(z1 - p6[i] * I32(15137)), I32(z1 + p2[i] * I32(6270))
        t0, t1 = I32(I32(p0[i] + p4[i]) << I32(13)), I32(I32(p0[i] - p4[i]) << I32(13))
        t10, t13 = I32(t0 + t3 + half), I32(t0 - t3 + half)
        t11, t12 = I32(t1 + t2 + half), I32(t1 - t2 + half)
        a0, a1, a2, a3 = p7[i], p5[i], p3[i], p1[i]
        z1, z2 = I32(I32(a0 + a3) * I32(-7373)), I32(I32(a1 + a2) * I32(-20995))
        z3, z4 = I32(a0 + a2), I32(a1 + a3)
        z5 = I32(I32(z3 + z4) * I32(9633))
        z3, z4 = I32(z3 * I32(-16069) + z5), I32(z4 * I32(-3196) + z5)
        b0, b1 = I32(a0 * I32(2446) + z1 + z3), I32(a1 * I32(16819) + z2 + z4)
        b2, b3 = I32(a2 * I32(25172) + z2 + z3), I32(a3 * I32(12299) + z1 + z4)
        p0[i], p7[i] = I32(I32(t10 + b3) >> down), I32(I32(t10 - b3) >> down)
        p1[i], p6[i] = I32(I32(t11 + b2) >> down), I32(I32(t11 - b2) >> down)
        p2[i], p5[i] = I32(I32(t12 + b1) >> down), I32(I32(t12 - b1) >> down)
        p3[i], p4[i] = I32(I32(t13 + b0) >> down), I32(I32(t13 - b0) >> down)


@jit
def _quantise(values: np.ndarray, step: int) -> None:
    # The transform leaves a factor of 8. A quotient below 2¹⁵ of numbers below 2²⁴ truncates correctly in float32.
    divisor, half, factor = np.float32(8 * step), I32(4 * step), I32(step)
    for i in range(len(values)):
        size = I32(I32(np.divide(np.float32(I32(abs(values[i]) + half)), divisor)) * factor)
        values[i] = size if values[i] >= I32(0) else I32(-size)


@jit
def _blocks_and_back(blocks: np.ndarray, n_luma: int, luma_steps: np.ndarray, chroma_steps: np.ndarray) -> None:
    for row in range(8):
        _forward(blocks, row, 8, 2, 0, 11)
    for column in range(8):
        _forward(blocks, 8 * column, 1, 0, 2, 15)
        for row in range(8):
            values = blocks[8 * column + row]
            _quantise(values[:n_luma], luma_steps[row, column])
            _quantise(values[n_luma:], chroma_steps[row, column])
        _inverse(blocks, 8 * column, 1, 11)
    for row in range(8):
        _inverse(blocks, row, 8, 18)


@jit
def round_trip(rows: np.ndarray, luma_steps: np.ndarray, chroma_steps: np.ndarray) -> np.ndarray:
    """The image as it comes back from a JPEG file, (H, 3 W) uint8, H and W multiples of 16.

    Args:
        luma_steps: The quantisation table of luma, (8, 8) int64.
        chroma_steps: That of both chromas.
    """
    height, width = rows.shape[0], rows.shape[1] // 3
    n_luma, n_chroma = width // 8, width // 16  # blocks in a row of blocks
    blocks = np.empty((64, 2 * n_luma + 2 * n_chroma), np.int32)
    line, halved, pair = np.empty(width, np.int32), np.empty(width // 2, np.int32), np.empty((2, 2, width), np.int32)
    luma, chromas = np.empty((height, width), np.uint8), np.empty((2, height // 2, width // 2), np.uint8)
    for top in range(0, height, 16):
        for y in range(16):
            _to_ycc(rows[top + y], line, pair[0, y % 2], pair[1, y % 2])
            _to_blocks(line, blocks, y % 8, y // 8 * n_luma)
            if y % 2 == 1:
                for chroma in range(2):
                    _halve(pair[chroma, 0], pair[chroma, 1], halved)
                    _to_blocks(halved, blocks, y // 2, 2 * n_luma + chroma * n_chroma)
        _blocks_and_back(blocks, 2 * n_luma, luma_steps, chroma_steps)
        for y in range(16):
            _from_blocks(blocks, y % 8, y // 8 * n_luma, luma[top + y])
        for chroma in range(2):
            for y in range(8):
                _from_blocks(blocks, y, 2 * n_luma + chroma * n_chroma, chromas[chroma, top // 2 + y])
    out = np.empty(rows.shape, np.uint8)
    for y in range(height):
        near = y // 2
        far = min(max(near - 1 + 2 * (y % 2), 0), height // 2 - 1)
        for chroma in range(2):
            _double(chromas[chroma, near], chromas[chroma, far], halved, pair[chroma, 0])
        _to_rgb(luma[y], pair[0, 0], pair[1, 0], out[y])
    return out
