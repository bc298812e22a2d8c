"""Defocus blur: every point becomes a disk."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy import ndimage

from oodometer.corruptions.gaussian import as_bytes, draw_nothing
from oodometer.corruptions.kernels.blur import ABOVE, border_index
from oodometer.corruptions.kernels.defocus import add_as_float, column_sums, run_sums
from oodometer.corruptions.kernels.taps import in_fours, to_bytes, weighted_sum
from oodometer.corruptions.registry import Corruption
from oodometer.corruptions.severities import Strength

MOST_SUMMED = 65535 // 255
"""Bytes whose sum surely fits into 16 bits."""


def alias_weights(radius: float, alias_blur: float) -> np.ndarray:
    """The Gaussian that softens the edge of the disk: 3 taps up to radius 8, otherwise 5; float64."""
    half = 1 if radius <= 8 else 2
    weights = np.exp(-(np.arange(-half, half + 1) ** 2) / (2 * alias_blur**2))
    normalised: np.ndarray = weights / weights.sum()
    return normalised


def grid_reach(radius: float) -> int:
    """Half the side of the grid that the disk is drawn on."""
    return 8 if radius <= 8 else int(radius)


@lru_cache(maxsize=64)
def disk_kernel(radius: float, alias_blur: float) -> np.ndarray:
    """The published kernel, (2R + 1, 2R + 1) float64.

    Its softening mirrors at the border of the grid. Where the disk reaches that border (radius 8 and more), the kernel
    therefore sums to more than 1, and the image becomes brighter.

    >>> [round(float(disk_kernel(radius, 0.5).sum()), 3) for radius in (4, 6, 8, 10)]
    [1.0, 1.0, 1.013, 1.011]
    """
    reach = grid_reach(radius)
    y, x = np.mgrid[-reach : reach + 1, -reach : reach + 1]
    disk = (x**2 + y**2 <= radius**2).astype(np.float64)
    kernel: np.ndarray = disk / disk.sum()
    for axis in (0, 1):
        kernel = ndimage.correlate1d(kernel, alias_weights(radius, alias_blur), axis=axis, mode="mirror")
    kernel.flags.writeable = False
    return kernel


def apply_defocus_blur(image: np.ndarray, draws: None, strength: Strength) -> np.ndarray:  # noqa: ARG001
    """The image out of focus, border mirrored."""
    kernel = disk_kernel(*strength)
    blurred = ndimage.correlate(image / 255.0, kernel[:, :, None], mode="mirror")
    return as_bytes(blurred)


def half_height(radius: float, column: int) -> int:
    """How far the disk reaches up and down in a column.

    >>> half_height(8, 0), half_height(8, 1), half_height(8, 8)
    (8, 7, 0)
    """
    return int(np.sqrt(radius**2 - column**2) + 1e-9)


class Runs(NamedTuple):
    """The disk as runs down the columns of a padded image.

    Args:
        margin: The width of the padding.
        shared: In the middle columns (this many) the disk is equally high, but for its tip; they are added up once.
        disk: Ends and starts of the runs, as offsets into the prefix sums, in groups whose sums fit into 16 bits.
        taps: Offsets and weights that soften the sum over the disk.
        border: Runs that correct for the border of the grid (see `disk_kernel`), and their weight.
    """

    margin: int
    shared: int
    disk: tuple[tuple[np.ndarray, np.ndarray], ...]
    taps: tuple[np.ndarray, np.ndarray]
    border: tuple[np.ndarray, np.ndarray] | None
    border_weight: float


@lru_cache(maxsize=64)
def runs_of(radius: float, alias_blur: float, height: int, width: int) -> Runs:
    """The runs for an image of this size."""
    reach = int(radius)
    margin = reach + 1
    stride = (width + 2 * margin) * 3
    second = (height + 2 * margin + 1) * stride  # where the sums over the middle columns begin
    inner = half_height(radius, reach - 1) if reach else 0

    def run(dx: int, first: int, last: int) -> tuple[int, int]:
        at = 3 * (dx + margin)
        return (last + 1 + margin) * stride + at, (first + margin) * stride + at

    def middle(first: int, last: int) -> tuple[int, int]:
        end, start = run(-inner, first, last)
        return second + end, second + start

    # The sum over the disk is needed one pixel around the image too, hence one row and one pixel earlier.
    earlier = stride + 3
    core = half_height(radius, inner)
    sized = [((2 * core + 1) * (2 * inner + 1), middle(-core, core))]
    for dx in range(-reach, reach + 1):
        high = half_height(radius, dx)
        if abs(dx) > inner:
            sized.append((2 * high + 1, run(dx, -high, high)))
        elif high > core:
            sized += [(high - core, run(dx, -high, -core - 1)), (high - core, run(dx, core + 1, high))]
    n_pixels = sum(size for size, _ in sized)
    weights = alias_weights(radius, alias_blur)
    half = len(weights) // 2
    edge = float(weights[half - 1])
    return Runs(
        margin,
        2 * inner + 1,
        tuple(_paired(group, earlier) for group in _groups(sized)),
        _soft_taps(edge, stride, n_pixels),
        _paired(_border_runs(reach, inner, run, middle), 0) if reach >= grid_reach(radius) else None,
        edge / n_pixels,
    )


def _groups(sized: list[tuple[int, tuple[int, int]]]) -> list[list[tuple[int, int]]]:
    """The runs in as few groups as fit into 16 bits."""
    groups: list[list[tuple[int, int]]] = [[]]
    filled = 0
    for size, one in sized:
        if filled + size > MOST_SUMMED:
            groups.append([])
            filled = 0
        groups[-1].append(one)
        filled += size
    return groups


def _paired(runs: list[tuple[int, int]], earlier: int) -> tuple[np.ndarray, np.ndarray]:
    """Ends and starts, an even number of them: an empty run is added where one is missing."""
    even = [*runs, (runs[0][0], runs[0][0])] if len(runs) % 2 else runs
    ends, starts = np.array(even, dtype=np.int64).T - earlier
    return np.ascontiguousarray(ends), np.ascontiguousarray(starts)


def _soft_taps(edge: float, stride: int, n_pixels: int) -> tuple[np.ndarray, np.ndarray]:
    """3x3 taps (of five weights the outermost are below 0.0003, and left out), divided by the pixels of the disk."""
    across = np.array([edge, 1 - 2 * edge, edge])
    offsets = np.add.outer(np.arange(3) * stride, np.arange(3) * 3).ravel()
    weights = np.outer(across, across).ravel()
    kept = weights > 1e-7
    return in_fours(offsets[kept], weights[kept] / n_pixels)


def _border_runs(
    reach: int,
    inner: int,
    run: Callable[[int, int, int], tuple[int, int]],
    middle: Callable[[int, int], tuple[int, int]],
) -> list[tuple[int, int]]:
    """What mirroring at the border of the grid adds: the rim but one, again; and takes away: what lies outside."""
    added = [run(-reach, -inner, inner), run(reach, -inner, inner), middle(-reach, -reach), middle(reach, reach)]
    outside = reach + 1
    lost = [run(0, -outside, -outside), run(0, outside, outside), run(-outside, 0, 0), run(outside, 0, 0)]
    return added + [(start, end) for end, start in lost]


def fast_defocus_blur(image: np.ndarray, rng: np.random.Generator, strength: Strength) -> np.ndarray:  # noqa: ARG001
    """The same from sums over runs, softened afterwards."""
    height, width = image.shape[:2]
    runs = runs_of(strength[0], strength[1], height, width)
    rows, columns = border_index(height, runs.margin, "mirror"), border_index(width, runs.margin, "mirror")
    sums = column_sums(image, rows, columns, runs.shared)
    stride = sums.shape[1]
    around = 3 * 2 * runs.margin
    over_disk = disk_sums(sums.reshape(-1), runs.disk, (height + 2) * stride - around + 6)
    total = np.empty((height, stride), dtype=np.float32)
    flat = total.reshape(-1)[: height * stride - around]
    weighted_sum(flat, over_disk, *runs.taps)
    if runs.border is not None:
        part = np.empty(flat.size, dtype=np.uint16)
        run_sums(sums.reshape(-1), *runs.border, part)
        add_as_float(flat, part.view(np.int16), runs.border_weight)
    out = np.empty((height, width * 3), dtype=np.uint8)
    to_bytes(total, out, ABOVE)
    return out.reshape(height, width, 3)


def disk_sums(sums: np.ndarray, groups: tuple[tuple[np.ndarray, np.ndarray], ...], n: int) -> np.ndarray:
    """The sum over the disk at each of n places, float32."""
    total = np.zeros(n, dtype=np.float32)
    part = np.empty(n, dtype=np.uint16)
    for ends, starts in groups:
        run_sums(sums, ends, starts, part)
        add_as_float(total, part, 1.0)
    return total


defocus_blur = Corruption("defocus_blur", "common", draw=draw_nothing, apply=apply_defocus_blur, fast=fast_defocus_blur)
