"""Snow: an enlarged, thresholded layer of noise, blurred along a steep line, over a whitened image."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy import ndimage

from oodometer.corruptions.kernels.snow import snow_kernel
from oodometer.corruptions.registry import Corruption
from oodometer.corruptions.severities import Strength

GREY_WEIGHTS = (0.299, 0.587, 0.114)
"""ITU-R BT.601 luma, as OpenCV converts RGB to grey."""


class SnowDraws(NamedTuple):
    """The random numbers of one image's snow.

    Args:
        flakes: Standard normal draws, (ceil(H / zoom), ceil(W / zoom)) float32: the centre of the published layer,
            which is all that the zoom leaves of it.
        angle: Direction of the fall, in degrees.
    """

    flakes: np.ndarray
    angle: float


def draw_snow(rng: np.random.Generator, height: int, width: int, strength: Strength) -> SnowDraws:
    """The flakes and their direction."""
    zoom = strength[2]
    shape = int(np.ceil(height / zoom)), int(np.ceil(width / zoom))
    return SnowDraws(rng.standard_normal(shape, dtype=np.float32), rng.uniform(-135, -45))


def zoomed(layer: np.ndarray, zoom: float, height: int, width: int) -> np.ndarray:
    """The layer enlarged by linear interpolation between its corners, its centre (H, W) float64."""
    # scipy's default mode loses the last row to rounding at some sizes (150 px by 3); "nearest" is the same elsewhere.
    large: np.ndarray = ndimage.zoom(layer, zoom, order=1, mode="nearest")
    top, left = (large.shape[0] - height) // 2, (large.shape[1] - width) // 2
    return large[top : top + height, left : left + width]


def motion_taps(radius: float, sigma: float, angle: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """ImageMagick's motion blur: row and column offsets and weights of its taps, (2 radius + 1,) each.

    Half a Gaussian, from the pixel outwards along the direction, at the nearest whole pixels.

    >>> rows, columns, weights = motion_taps(1, 1.0, -90)
    >>> rows.tolist(), columns.tolist(), weights.round(3).tolist()
    ([0, -1, -2], [0, 0, 0], [0.574, 0.348, 0.078])
    """
    steps = np.arange(2 * int(radius) + 1)
    weights = np.exp(-(steps**2) / (2 * sigma**2))
    direction = np.deg2rad(angle)
    rows = np.ceil(steps * np.sin(direction) - 0.5).astype(np.int64)
    columns = np.ceil(steps * np.cos(direction) - 0.5).astype(np.int64)
    return rows, columns, weights / weights.sum()


def blurred(plane: np.ndarray, radius: float, sigma: float, angle: float) -> np.ndarray:
    """The plane under that motion blur with a replicated border, rounded, (H, W) uint8 -> (H, W) uint8."""
    height, width = plane.shape
    total = np.zeros(plane.shape)
    for row, column, weight in zip(*motion_taps(radius, sigma, angle), strict=True):
        down = np.clip(np.arange(height) + row, 0, height - 1)
        right = np.clip(np.arange(width) + column, 0, width - 1)
        total += weight * plane[np.ix_(down, right)]
    return np.floor(total + 0.5).astype(np.uint8)


def whitened(pixels: np.ndarray, mix: float) -> np.ndarray:
    """The image mixed with a pale grey copy of itself, (H, W, 3) from 0 to 1."""
    grey = (pixels @ np.array(GREY_WEIGHTS))[..., np.newaxis]
    mixed: np.ndarray = mix * pixels + (1 - mix) * np.maximum(pixels, grey * 1.5 + 0.5)
    return mixed


def apply_snow(image: np.ndarray, draws: SnowDraws, strength: Strength) -> np.ndarray:
    """The image in snow: the layer falls twice, as it is and turned by half a turn."""
    loc, scale, zoom, threshold, radius, sigma, mix = strength
    layer = zoomed(loc + scale * draws.flakes.astype(np.float64), zoom, *image.shape[:2])
    layer = np.where(layer < threshold, 0, layer)
    layer = blurred((np.clip(layer, 0, 1) * 255).astype(np.uint8), radius, sigma, draws.angle) / 255.0
    snow_twice = (layer + layer[::-1, ::-1])[..., np.newaxis]
    return (np.clip(whitened(image / 255.0, mix) + snow_twice, 0, 1) * 255).astype(np.uint8)


@lru_cache(maxsize=256)
def _grid(length: int, zoom: float) -> tuple[np.ndarray, np.ndarray]:
    """For each pixel along one side of the image: the flake before it, and the share of the next one."""
    n_flakes = int(np.ceil(length / zoom))
    n_large = round(n_flakes * zoom)
    place = np.arange(n_large) * ((n_flakes - 1) / max(n_large - 1, 1))
    first = (n_large - length) // 2
    place = place[first : first + length]
    before = np.clip(np.floor(place), 0, max(n_flakes - 2, 0)).astype(np.int64)
    share = np.clip(place - before, 0, 1)
    before.flags.writeable = share.flags.writeable = False
    return before, share


def fast_snow(image: np.ndarray, rng: np.random.Generator, strength: Strength) -> np.ndarray:
    """The same in one pass of compiled loops."""
    loc, scale, zoom, threshold, radius, sigma, mix = strength
    height, width = image.shape[:2]
    draws = draw_snow(rng, height, width, strength)
    rows, columns, weights = motion_taps(radius, sigma, draws.angle)
    taps = rows, columns, weights.astype(np.float32)
    grids = _grid(height, zoom), _grid(width, zoom)
    return snow_kernel(image, draws.flakes, grids, taps, (loc, scale, threshold, mix))


snow = Corruption("snow", "common", draw=draw_snow, apply=apply_snow, fast=fast_snow)
