"""Defocus blur: every point becomes a disk."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy import ndimage

from oodometer.corruptions.gaussian import as_bytes, draw_nothing
from oodometer.corruptions.kernels.blur import ABOVE, border_index
from oodometer.corruptions.kernels.defocus import STRIP, Groups, Weights, defocus
from oodometer.corruptions.registry import Corruption
from oodometer.corruptions.severities import Strength

MOST_SUMMED = 65535 // 255
"""Bytes whose sum surely fits into 16 bits."""
Run = tuple[int, int]
"""Its end and its start."""


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
        disk: The runs, in two groups whose sums fit into 16 bits.
        sides: Runs that correct for the border of the grid (see `disk_kernel`): the columns, the rows.
        weights: That of the neighbours in the softening, that of a pixel, and what is added before the floor.
    """

    margin: int
    shared: int
    disk: Groups
    sides: Groups
    weights: Weights


class Padded(NamedTuple):
    """Where the prefix sums of a padded image are, as offsets from the place of the pixel in question.

    Args:
        second: Where the sums over the middle columns begin, which reach this far (inner) to either side.
    """

    margin: int
    stride: int
    second: int
    inner: int

    def column(self, dx: int, first: int, last: int) -> Run:
        """The end and the start of a run."""
        at = 3 * (dx + self.margin)
        return (last + 1 + self.margin) * self.stride + at, (first + self.margin) * self.stride + at

    def middle(self, first: int, last: int) -> Run:
        """The same of the middle columns at once."""
        end, start = self.column(-self.inner, first, last)
        return self.second + end, self.second + start

    def row(self, dy: int, half: int) -> list[Run]:
        """A run across."""
        if half == self.inner:
            return [self.middle(dy, dy)]
        return [self.column(dx, dy, dy) for dx in range(-half, half + 1)]


@lru_cache(maxsize=64)
def runs_of(radius: float, alias_blur: float, width: int) -> Runs:
    """The runs for an image of this width."""
    reach = int(radius)
    margin = reach + 1
    stride = (width + 2 * margin) * 3
    inner = half_height(radius, reach - 1) if reach else 0
    padded = Padded(margin, stride, (STRIP + 2 * margin + 2) * stride, inner)
    core = half_height(radius, inner)
    sized = [((2 * core + 1) * (2 * inner + 1), padded.middle(-core, core))]
    for dx in range(-reach, reach + 1):
        high = half_height(radius, dx)
        if abs(dx) > inner:
            sized.append((2 * high + 1, padded.column(dx, -high, high)))
        elif high > core:
            sized.append((high - core, padded.column(dx, -high, -core - 1)))
            sized.append((high - core, padded.column(dx, core + 1, high)))
    # Of five weights the outermost are below 0.0003: added to their neighbours, they are wrong by 0.017 levels at most.
    edge = (1 - float(alias_weights(radius, alias_blur).max())) / 2
    columns, rows = _sides(radius, padded)
    one, two = _groups(sized)
    return Runs(
        margin,
        2 * inner + 1,
        # The disk is needed one pixel around the image too, the sides only along it.
        (_paired(one, stride + 3), _paired(two, stride + 3)),
        (_paired(columns, stride), _paired(rows, 3)),
        (edge, 1 / sum(size for size, _ in sized), ABOVE),
    )


def _groups(sized: list[tuple[int, Run]]) -> tuple[list[Run], list[Run]]:
    """The runs in two groups, as many in the first as fit into 16 bits."""
    n_first = int(np.searchsorted(np.cumsum([size for size, _ in sized]), MOST_SUMMED, side="right"))
    runs = [one for _, one in sized]
    return runs[:n_first], runs[n_first:]


def _paired(runs: list[Run], earlier: int) -> np.ndarray:
    """The runs that many places earlier, an even number of them: an empty run is added where one is missing."""
    even = [*runs, (runs[0][0], runs[0][0])] if len(runs) % 2 else runs
    return np.array(even, dtype=np.int64).reshape(-1, 2) - earlier


def _sides(radius: float, padded: Padded) -> tuple[list[Run], list[Run]]:
    """What mirroring at the border of the grid adds, the rim but one again; and takes away, what lies outside.

    The columns are softened down and the rows across, as the disk is.
    """
    grid = grid_reach(radius)
    columns, rows = _rim(radius, padded, grid - 1, grid)
    lost_columns, lost_rows = _rim(radius, padded, grid, grid + 1)
    return columns + _negative(lost_columns), rows + _negative(lost_rows)


def _rim(radius: float, padded: Padded, source: int, distance: int) -> tuple[list[Run], list[Run]]:
    """The two columns and the two rows of the disk that lie so far out (source), moved to another distance."""
    if source > radius:
        return [], []
    half = half_height(radius, source)
    columns = [padded.column(at, -half, half) for at in (-distance, distance)]
    return columns, padded.row(-distance, half) + padded.row(distance, half)


def _negative(runs: list[Run]) -> list[Run]:
    return [(start, end) for end, start in runs]


def fast_defocus_blur(image: np.ndarray, rng: np.random.Generator, strength: Strength) -> np.ndarray:  # noqa: ARG001
    """The same from sums over runs, softened afterwards."""
    height, width = image.shape[:2]
    runs = runs_of(strength[0], strength[1], width)
    rows, columns = border_index(height, runs.margin, "mirror"), border_index(width, runs.margin, "mirror")
    out = np.empty((height, width * 3), dtype=np.uint8)
    defocus(image, rows, columns, runs, out)
    return out.reshape(height, width, 3)


defocus_blur = Corruption("defocus_blur", "common", draw=draw_nothing, apply=apply_defocus_blur, fast=fast_defocus_blur)
