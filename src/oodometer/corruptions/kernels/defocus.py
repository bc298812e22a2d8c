"""Sums over a disk around each pixel, from prefix sums down the columns."""

from __future__ import annotations

import numpy as np

from oodometer.corruptions.jit import jit
from oodometer.corruptions.kernels.taps import CHUNK


@jit
def add_columns(source: np.ndarray, shared: int, total: np.ndarray) -> None:
    """total[i] = the sum of source[i], source[i + 3], ... (``shared`` of them), modulo 65536."""
    n = source.size - 3 * (shared - 1)
    total[:] = source
    part = total[:n]
    for k in range(1, shared, 2):
        a, b = source[3 * k : 3 * k + n], source[3 * k + 3 : 3 * k + 3 + n]
        for i in range(n):
            part[i] = np.uint16(part[i] + a[i] + b[i])


@jit
def column_sums(image: np.ndarray, rows: np.ndarray, columns: np.ndarray, shared: int) -> np.ndarray:
    """Prefix sums down the columns of the padded image, modulo 65536; below them, their sums over ``shared`` columns.

    The second part of the (2 * (len(rows) + 1), len(columns) * 3) uint16 has at each place the sum over the columns
    that begin there.

    Args:
        image: (H, W, 3) uint8.
        rows: The row of the image for each row of the padded one.
        columns: The same for its columns.
        shared: An odd number.
    """
    n = columns.size * 3
    sums = np.empty((2 * rows.size + 2, n), dtype=np.uint16)
    line = np.empty(n, dtype=np.uint8)
    sums[0] = 0
    for y in range(rows.size):
        source = image[rows[y]]
        for x in range(columns.size):
            at = columns[x]
            line[3 * x] = source[at, 0]
            line[3 * x + 1] = source[at, 1]
            line[3 * x + 2] = source[at, 2]
        above, below = sums[y], sums[y + 1]
        for i in range(n):
            below[i] = np.uint16(above[i] + line[i])
    for y in range(rows.size + 1):
        add_columns(sums[y], shared, sums[rows.size + 1 + y])
    return sums


@jit
def add_two_runs(total: np.ndarray, a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray) -> None:
    """Total += a - b + c - d, modulo 65536."""
    for i in range(total.size):
        total[i] = np.uint16(total[i] + a[i] - b[i] + c[i] - d[i])


@jit
def run_sums(sums: np.ndarray, ends: np.ndarray, starts: np.ndarray, total: np.ndarray) -> None:
    """total[i] = sum over k of sums[i + ends[k]] - sums[i + starts[k]], modulo 65536; an even number of runs."""
    for start in range(0, total.size, CHUNK):
        part = total[start : start + CHUNK]
        n = part.size
        part[:] = 0
        for k in range(0, ends.size, 2):
            a, b, c, d = start + ends[k], start + starts[k], start + ends[k + 1], start + starts[k + 1]
            add_two_runs(part, sums[a : a + n], sums[b : b + n], sums[c : c + n], sums[d : d + n])


@jit
def add_as_float(total: np.ndarray, part: np.ndarray, weight: float) -> None:
    """Total += weight * part, float32 and uint16."""
    w = np.float32(weight)
    for i in range(total.size):
        total[i] += w * np.float32(part[i])
