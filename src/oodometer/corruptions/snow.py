"""Snow: an enlarged, thresholded layer of noise, blurred along a steep line, over a whitened image."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy import ndimage

from oodometer.corruptions.gaussian import as_bytes
from oodometer.corruptions.kernels.snow import snow_kernel
from oodometer.corruptions.motion import motion_taps
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


def blurred(plane: np.ndarray, radius: float, sigma: float, angle: float) -> np.ndarray:
    """The plane under that motion blur with a replicated border, rounded, (H, W) uint8 -> (H, W) uint8."""
    height, width = plane.shape
    total = np.zeros(plane.shape)
    for (down, right), weight in zip(*motion_taps(radius, sigma, angle), strict=True):
        rows = np.clip(np.arange(height) + down, 0, height - 1)
        columns = np.clip(np.arange(width) + right, 0, width - 1)
        total += weight * plane[np.ix_(rows, columns)]
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
    layer = blurred(as_bytes(layer), radius, sigma, draws.angle) / 255.0
    snow_twice = (layer + layer[::-1, ::-1])[..., np.newaxis]
    return as_bytes(whitened(image / 255.0, mix) + snow_twice)


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
    offsets, weights = motion_taps(radius, sigma, draws.angle)
    reach = len(weights) - 1
    stride = width + 2 * reach
    flat = (offsets[:, 0] + reach) * stride + offsets[:, 1] + reach
    grids = _grid(height, zoom), _grid(width, zoom)
    return snow_kernel(
        image, draws.flakes, grids, (reach, flat, weights.astype(np.float32)), (loc, scale, threshold, mix)
    )


snow = Corruption("snow", "common", draw=draw_snow, apply=apply_snow, fast=fast_snow)
