"""Sums over a disk around each pixel, from prefix sums down the columns, with the edge of the disk softened."""

from __future__ import annotations

import numpy as np

from oodometer.corruptions.jit import jit
from oodometer.corruptions.kernels.taps import to_bytes

Groups = tuple[np.ndarray, np.ndarray]
"""Two groups of runs, each with the end and the start of every run as offsets into the prefix sums, (n, 2) int64."""
STRIP = 4096
"""About as many values are made at a time: they stay in the first-level cache."""


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
def add_bytes(above: np.ndarray, source: np.ndarray, below: np.ndarray) -> None:
    """Below = above + source, modulo 65536; uint16 and uint8."""
    for i in range(source.size):
        below[i] = np.uint16(above[i] + source[i])


@jit
def column_sums(image: np.ndarray, rows: np.ndarray, columns: np.ndarray, shared: int) -> np.ndarray:
    """Prefix sums down the columns of the padded image, modulo 65536; below them, their sums over ``shared`` columns.

    The second part of the (2 * (len(rows) + 1) + 1, len(columns) * 3) uint16 has at each place the sum over the columns
    that begin there; the last row is spare, so that a strip may run over the end.

    Args:
        image: (H, W, 3) uint8.
        rows: The row of the image for each row of the padded one.
        columns: The same for its columns.
        shared: An odd number.
    """
    height, width = image.shape[0], image.shape[1]
    n, margin = columns.size * 3, (columns.size - width) // 2
    sums = np.empty((2 * rows.size + 3, n), dtype=np.uint16)
    flat = image.reshape(height, width * 3)
    inner = slice(3 * margin, 3 * (margin + width))
    sums[0] = 0
    for y in range(rows.size):
        below = sums[y + 1]
        add_bytes(sums[y, inner], flat[rows[y]], below[inner])
        for k in range(2 * margin):
            x = k if k < margin else width + k
            at = 3 * (margin + columns[x])
            below[3 * x], below[3 * x + 1], below[3 * x + 2] = below[at], below[at + 1], below[at + 2]
    for y in range(rows.size + 1):
        add_columns(sums[y], shared, sums[rows.size + 1 + y])
    return sums


@jit
def add_two_runs(total: np.ndarray, a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray) -> None:
    """Total += a - b + c - d, modulo 65536."""
    for i in range(total.size):
        total[i] = np.uint16(total[i] + a[i] - b[i] + c[i] - d[i])


@jit
def run_sums(sums: np.ndarray, runs: np.ndarray, total: np.ndarray) -> None:
    """total[i] = sum over k of sums[i + runs[k, 0]] - sums[i + runs[k, 1]], modulo 65536; an even number of runs."""
    n = total.size
    total[:] = 0
    for k in range(0, len(runs), 2):
        a, b, c, d = runs[k, 0], runs[k, 1], runs[k + 1, 0], runs[k + 1, 1]
        add_two_runs(total, sums[a : a + n], sums[b : b + n], sums[c : c + n], sums[d : d + n])


@jit
def set_as_float(total: np.ndarray, part: np.ndarray) -> None:
    """Total = part, float32 and uint16."""
    for i in range(total.size):
        total[i] = np.float32(part[i])


@jit
def add_as_float(total: np.ndarray, part: np.ndarray, weight: float) -> None:
    """Total += weight * part, float32 and an integer type."""
    w = np.float32(weight)
    for i in range(total.size):
        total[i] += w * np.float32(part[i])


@jit
def soften(total: np.ndarray, source: np.ndarray, step: int, outer: float, inner: float) -> None:
    """total[i] = the weighted sum of three values of the source, ``step`` apart."""
    n = total.size
    w, v = np.float32(outer), np.float32(inner)
    a, b, c = source[:n], source[step : step + n], source[2 * step : 2 * step + n]
    for i in range(n):
        total[i] = v * b[i] + w * (a[i] + c[i])


@jit
def add_softened(total: np.ndarray, source: np.ndarray, outer: float, inner: float) -> None:
    """Total += the same across, of int16."""
    n = total.size
    w, v = np.float32(outer), np.float32(inner)
    a, b, c = source[:n], source[3 : 3 + n], source[6 : 6 + n]
    for i in range(n):
        total[i] += v * np.float32(b[i]) + w * (np.float32(a[i]) + np.float32(c[i]))


@jit
def disk_rows(
    sums: np.ndarray, disk: Groups, side: np.ndarray, edge: float, scratch: tuple[np.ndarray, np.ndarray]
) -> None:
    """Sums over the disk, softened across, and the side added, into the second part of the scratch."""
    part, rows = scratch
    total = np.empty(rows.size + 6, dtype=np.float32)
    part = part[: total.size]
    run_sums(sums, disk[0], part)
    set_as_float(total, part)
    if len(disk[1]):
        run_sums(sums, disk[1], part)
        add_as_float(total, part, 1.0)
    soften(rows, total, 3, edge, 1 - 2 * edge)
    if len(side):
        run_sums(sums, side, part[: rows.size])
        add_as_float(rows, part[: rows.size].view(np.int16), edge)


@jit
def disk_means(
    sums: np.ndarray, disk: Groups, sides: Groups, weights: tuple[float, float, float], out: np.ndarray
) -> None:
    """The softened mean over the disk around each pixel, floored.

    Args:
        sums: What `column_sums` made.
        disk: Its runs, in two groups whose sums fit into 16 bits; the second may be empty.
        sides: Runs that are added after the softening across, and after the softening down; each may be empty.
        weights: That of the neighbours in the softening, that of a pixel, and what is added before the floor.
        out: (H, W * 3) uint8.
    """
    edge, weight, offset = weights
    height, stride = out.shape[0], sums.shape[1]
    flat = sums.reshape(sums.size)
    at_a_time = max(2, STRIP // stride)
    part = np.empty(at_a_time * stride + 6, dtype=np.uint16)
    across = np.empty((at_a_time + 2) * stride, dtype=np.float32)
    total = np.empty((at_a_time, stride), dtype=np.float32)
    disk_rows(flat, disk, sides[0], edge, (part, across[: 2 * stride]))
    for y in range(0, height, at_a_time):
        n_rows = min(at_a_time, height - y)
        n = n_rows * stride
        disk_rows(flat[(y + 2) * stride :], disk, sides[0], edge, (part, across[2 * stride : 2 * stride + n]))
        means = total.reshape(total.size)[:n]
        soften(means, across, stride, edge * weight, (1 - 2 * edge) * weight)
        if len(sides[1]):
            run_sums(flat[y * stride :], sides[1], part[: n + 6])
            add_softened(means, part.view(np.int16), edge * edge * weight, edge * (1 - 2 * edge) * weight)
        to_bytes(total, out[y : y + n_rows], offset)
        across[: 2 * stride] = across[n : n + 2 * stride]
