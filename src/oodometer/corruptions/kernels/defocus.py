"""Sums over a disk around each pixel, from prefix sums down the columns, with the edge of the disk softened."""

from __future__ import annotations

from typing import Any

import numpy as np

from oodometer.corruptions.jit import jit
from oodometer.corruptions.kernels.shifted_sums import to_bytes

Quad = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
Groups = tuple[np.ndarray, np.ndarray]
"""Two groups of runs, each with the end and the start of every run as offsets into the prefix sums, (n, 2) int64."""
Weights = tuple[float, float, float]
STRIP = 112
"""Rows that are made at a time: they and all sums stay in the second-level cache."""


@jit
def add_columns(source: np.ndarray, shared: int, total: np.ndarray) -> None:
    """total[i] = the sum of source[i], source[i + 3], ... (``shared`` of them), modulo 65536."""
    n = source.size - 3 * (shared - 1)
    part = total[:n]
    for i in range(n):  # five times as fast as an assignment of the whole
        part[i] = source[i]
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
def column_sums(image: np.ndarray, rows: np.ndarray, columns: np.ndarray, shared: int, sums: np.ndarray) -> None:
    """Prefix sums down the columns of the padded image, modulo 65536; below them, their sums over ``shared`` columns.

    Args:
        image: (H, W, 3) uint8.
        rows: The row of the image for each row of the padded one.
        columns: The same for its columns.
        shared: An odd number.
        sums: (2, len(rows) + 1 or more, len(columns) * 3) uint16; the second part has at each place the sum over the
            columns that begin there.
    """
    height, width = image.shape[0], image.shape[1]
    margin = (columns.size - width) // 2
    flat = image.reshape(height, width * 3)
    inner = slice(3 * margin, 3 * (margin + width))
    sums[:, 0] = 0
    for y in range(rows.size):
        below = sums[0, y + 1]
        add_bytes(sums[0, y, inner], flat[rows[y]], below[inner])
        for k in range(2 * margin):
            x = k if k < margin else width + k
            at = 3 * (margin + columns[x])
            below[3 * x], below[3 * x + 1], below[3 * x + 2] = below[at], below[at + 1], below[at + 2]
        add_columns(below, shared, sums[1, y + 1])


@jit
def add_two_runs(total: np.ndarray, a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray) -> None:
    """Total += a - b + c - d, modulo 65536."""
    for i in range(total.size):
        total[i] = np.uint16(total[i] + a[i] - b[i] + c[i] - d[i])


@jit
def add_four_runs(total: np.ndarray, ends: Quad, starts: Quad) -> None:
    """Total += the ends - the starts, modulo 65536."""
    (a, b, c, d), (e, f, g, h) = ends, starts
    for i in range(total.size):
        total[i] = np.uint16(total[i] + a[i] + b[i] + c[i] + d[i] - e[i] - f[i] - g[i] - h[i])


@jit
def run_sums(sums: np.ndarray, runs: np.ndarray, total: np.ndarray) -> None:
    """total[i] = sum over k of sums[i + runs[k, 0]] - sums[i + runs[k, 1]], modulo 65536; an even number of runs."""
    n = total.size
    total[:] = 0
    n_fours = len(runs) // 4 * 4
    for k in range(0, n_fours, 4):
        a, b, c, d = runs[k, 0], runs[k, 1], runs[k + 1, 0], runs[k + 1, 1]
        e, f, g, h = runs[k + 2, 0], runs[k + 2, 1], runs[k + 3, 0], runs[k + 3, 1]
        add_four_runs(
            total,
            (sums[a : a + n], sums[c : c + n], sums[e : e + n], sums[g : g + n]),
            (sums[b : b + n], sums[d : d + n], sums[f : f + n], sums[h : h + n]),
        )
    for k in range(n_fours, len(runs), 2):
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
def disk_rows(sums: np.ndarray, disk: Groups, side: np.ndarray, edge: float, rows: np.ndarray) -> None:
    """Rows = sums over the disk, softened across, and the side added."""
    total, part = np.empty(rows.size + 6, dtype=np.float32), np.empty(rows.size + 6, dtype=np.uint16)
    run_sums(sums, disk[0], part)
    set_as_float(total, part)
    if len(disk[1]):
        run_sums(sums, disk[1], part)
        add_as_float(total, part, 1.0)
    soften(rows, total, 3, edge, 1 - 2 * edge)
    if len(side):
        part = part[: rows.size]
        run_sums(sums, side, part)
        add_as_float(rows, part.view(np.int16), edge)


@jit
def disk_means(sums: np.ndarray, disk: Groups, sides: Groups, weights: Weights, out: np.ndarray) -> None:
    """The softened mean over the disk around each pixel, floored.

    Args:
        sums: What `column_sums` made, and beyond it as much as a row.
        disk: Its runs, in two groups whose sums fit into 16 bits; the second may be empty.
        sides: Runs that are added after the softening across, and after the softening down; each may be empty.
        weights: That of the neighbours in the softening, that of a pixel, and what is added before the floor.
        out: (H, W * 3) uint8.
    """
    edge, weight, offset = weights
    stride = sums.shape[2]
    flat = sums.reshape(sums.size)
    across = np.empty((len(out) + 2) * stride, dtype=np.float32)
    disk_rows(flat, disk, sides[0], edge, across)
    total = np.empty((len(out), stride), dtype=np.float32)
    means = total.reshape(total.size)
    soften(means, across, stride, edge * weight, (1 - 2 * edge) * weight)
    if len(sides[1]):
        part = np.empty(means.size + 6, dtype=np.uint16)
        run_sums(flat, sides[1], part)
        add_softened(means, part.view(np.int16), edge * edge * weight, edge * (1 - 2 * edge) * weight)
    to_bytes(total, out, offset)


@jit
def defocus(image: np.ndarray, rows: np.ndarray, columns: np.ndarray, runs: Any, out: np.ndarray) -> None:
    """The image out of focus, strip by strip; runs has the fields of ``oodometer.corruptions.defocus.Runs``."""
    sums = np.empty((2, STRIP + 2 * runs.margin + 2, 3 * columns.size), dtype=np.uint16)
    for y in range(0, len(out), STRIP):
        strip = out[y : y + STRIP]
        column_sums(image, rows[y : y + len(strip) + 2 * runs.margin], columns, runs.shared, sums)
        disk_means(sums, runs.disk, runs.sides, runs.weights, strip)
