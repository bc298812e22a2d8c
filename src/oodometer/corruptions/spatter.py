"""Spatter: drops of water that glisten, or flecks of mud, where smoothed noise is high.

The published generator calls OpenCV for the glisten of the drops (edges, distances, histogram). Those steps are
written out here from their definitions, in whole numbers, so that OpenCV is not needed.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy import ndimage

from oodometer.corruptions.kernels.spatter import mud_kernel, water_kernel
from oodometer.corruptions.registry import Corruption
from oodometer.corruptions.severities import Strength

WATER = (175 / 255, 238 / 255, 238 / 255)
"""Pale turquoise."""
MUD = (63 / 255, 42 / 255, 20 / 255)

EDGE_LOW, EDGE_HIGH = 50, 150
TAN_22 = 13573
"""tan(22.5 degrees) * 2 ** 15, rounded: the bound between two directions of an edge."""

UNIT = 1 << 16
STRAIGHT, DIAGONAL, KNIGHT = UNIT, round(1.4 * UNIT), round(2.1969 * UNIT)
"""Lengths of the steps of a distance (Borgefors 1986, 5x5), in parts of 2 ** 16."""
FARTHEST = 20 * UNIT

GLISTEN = np.array([[-2, -1, 0], [-1, 1, 1], [0, 1, 2]])
"""Light from one corner."""


def draw_spatter(rng: np.random.Generator, height: int, width: int, strength: Strength) -> np.ndarray:  # noqa: ARG001
    """Standard normal draws, (H, W) float32."""
    return rng.standard_normal((height, width), dtype=np.float32)


def smoothed(plane: np.ndarray, sigma: float) -> np.ndarray:
    """A Gaussian blur with a replicated border, cut off at four sigma."""
    result: np.ndarray = ndimage.gaussian_filter(plane, sigma, mode="nearest", truncate=4.0)
    return result


def edges(plane: np.ndarray) -> np.ndarray:
    """Canny's edges (thresholds 50 and 150, sum of absolute gradients), (H, W) uint8 -> (H, W) bool."""
    across = ndimage.sobel(plane.astype(np.int64), axis=1, mode="nearest")
    down = ndimage.sobel(plane.astype(np.int64), axis=0, mode="nearest")
    size = np.abs(across) + np.abs(down)
    ridge = (size > EDGE_LOW) & _is_ridge(np.pad(size, 1), across, down)
    parts, _ = ndimage.label(ridge, np.ones((3, 3)))
    found: np.ndarray = ridge & np.isin(parts, parts[ridge & (size > EDGE_HIGH)])
    return found


def _is_ridge(size: np.ndarray, across: np.ndarray, down: np.ndarray) -> np.ndarray:
    """Where the gradient is largest along its own direction; `size` has a border of zeros."""
    here, left, right = size[1:-1, 1:-1], size[1:-1, :-2], size[1:-1, 2:]
    above, below = size[:-2, 1:-1], size[2:, 1:-1]
    low = np.abs(across) * TAN_22
    steep = np.abs(down) << 15
    falling = (here > size[:-2, :-2]) & (here > size[2:, 2:])
    rising = (here > size[:-2, 2:]) & (here > size[2:, :-2])
    sideways = np.where((across ^ down) < 0, rising, falling)
    vertical = (here > above) & (here >= below)
    horizontal = (here > left) & (here >= right)
    # tan(67.5 degrees) = tan(22.5 degrees) + 2
    ridge: np.ndarray = np.where(
        steep < low, horizontal, np.where(steep > low + (np.abs(across) << 16), vertical, sideways)
    )
    return ridge


def distances(zeros: np.ndarray) -> np.ndarray:
    """The length of the shortest way to a zero in steps of the 5x5 chamfer, at most 20, (H, W) int64 in 2 ** -16."""
    start = np.where(zeros, 0, 1 << 30)
    both_ways = _swept(_swept(start)[::-1, ::-1])[::-1, ::-1]
    return np.asarray(np.minimum(both_ways, FARTHEST))


def _swept(start: np.ndarray) -> np.ndarray:
    """Shortest ways that come from above and from the left."""
    height, width = start.shape
    swept = np.full((height + 2, width + 4), 1 << 30)
    ahead = STRAIGHT * np.arange(width)
    for i in range(height):
        two_above, above = swept[i], swept[i + 1]
        best = np.minimum(start[i], above[2:-2] + STRAIGHT)
        for row, column, step in (
            (two_above, 1, KNIGHT),
            (two_above, 3, KNIGHT),
            (above, 0, KNIGHT),
            (above, 4, KNIGHT),
            (above, 1, DIAGONAL),
            (above, 3, DIAGONAL),
        ):
            best = np.minimum(best, row[column : column + width] + step)
        # Straight steps from the left: a running minimum of what is left after walking here.
        swept[i + 2, 2:-2] = np.minimum.accumulate(best - ahead) + ahead
    return swept[2:, 2:-2]


def box_sum(plane: np.ndarray) -> np.ndarray:
    """The sum over each 3x3 neighbourhood, mirrored at the border pixel."""
    wide = np.pad(plane, 1, mode="reflect")
    rows = wide[:-2] + wide[1:-1] + wide[2:]
    total: np.ndarray = rows[:, :-2] + rows[:, 1:-1] + rows[:, 2:]
    return total


def equalised(plane: np.ndarray) -> np.ndarray:
    """The plane with its histogram made flat, the least level to 0 and the largest to 255."""
    counts = np.bincount(plane.ravel(), minlength=256)
    least = int(np.argmax(counts > 0))
    if counts[least] == plane.size:
        return plane
    below = np.cumsum(counts) - counts[least]
    scale = np.float32(255) / np.float32(plane.size - counts[least])
    table = np.rint(np.maximum(below, 0).astype(np.float32) * scale).astype(np.int64)
    flat: np.ndarray = table[plane]
    return flat


def glisten(drops: np.ndarray) -> np.ndarray:
    """How drops shine: a relief of the distances to their edges, (H, W) uint8 -> (H, W) int64 from 0 to 255."""
    mean_distance = (box_sum(distances(edges(drops))) / UNIT * (1 / 9)).astype(np.float32)
    levels = equalised(mean_distance.astype(np.int64))
    relief = np.clip(ndimage.correlate(levels, GLISTEN, mode="mirror"), 0, 255)
    return (2 * box_sum(relief) + 9) // 18


def apply_spatter(image: np.ndarray, draws: np.ndarray, strength: Strength) -> np.ndarray:
    """The image behind drops of water, or flecked with mud."""
    loc, scale, sigma, threshold, amount, is_mud = strength
    pixels = image / 255.0
    liquid = smoothed(loc + scale * draws.astype(np.float64), sigma)
    liquid = np.where(liquid < threshold, 0, liquid)
    if is_mud:
        cover = smoothed((liquid > threshold).astype(np.float64), amount)[..., np.newaxis]
        cover = np.where(cover < 0.8, 0, cover)
        spattered = pixels * (1 - cover) + cover * MUD
    else:
        # Beyond 255 a level begins again at 0, as a cast to a byte does; said in full, because that cast is undefined.
        drops = ((liquid * 255).astype(np.int64) % 256).astype(np.uint8)
        shine = drops * glisten(drops)
        # Nothing shines where no drop fell; the published code divides by zero there.
        spattered = pixels + (shine / max(shine.max(), 1) * amount)[..., np.newaxis] * WATER
    result: np.ndarray = (np.clip(spattered, 0, 1) * 255).astype(np.uint8)
    return result


@lru_cache(maxsize=64)
def _half_gaussian(sigma: float) -> np.ndarray:
    """Weights of the blur from the centre outwards."""
    steps = np.arange(int(4 * sigma + 0.5) + 1)
    weights = np.exp(-0.5 / sigma**2 * steps**2)
    whole: np.ndarray = weights / (2 * weights.sum() - weights[0])
    whole.flags.writeable = False
    return whole


def fast_spatter(image: np.ndarray, rng: np.random.Generator, strength: Strength) -> np.ndarray:
    """The same in compiled loops."""
    loc, scale, sigma, threshold, amount, is_mud = strength
    draws = draw_spatter(rng, image.shape[0], image.shape[1], strength)
    if is_mud:
        return mud_kernel(image, draws, (loc, scale, threshold), _half_gaussian(sigma), _half_gaussian(amount))
    return water_kernel(image, draws, (loc, scale, threshold, amount), _half_gaussian(sigma))


spatter = Corruption("spatter", "extra", draw=draw_spatter, apply=apply_spatter, fast=fast_spatter)
