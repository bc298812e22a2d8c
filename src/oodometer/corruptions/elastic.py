"""Elastic transform: a random affine map, then random displacements that vary smoothly."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy import ndimage

from oodometer.corruptions.gaussian import as_bytes
from oodometer.corruptions.kernels.blur import ABOVE, border_index, gaussian_weights
from oodometer.corruptions.kernels.elastic import displace, fields_of, product, smooth_few, warp
from oodometer.corruptions.kernels.random_words import random_halves
from oodometer.corruptions.registry import Corruption
from oodometer.corruptions.severities import Strength

TRUNCATE = 3.0
"""Sigmas at which the smoothing is cut off."""
WIDE_RADIUS = 24
"""Above it, smoothing by cosines is faster than by taps."""
LEFT_OUT = 2e-4
"""Pixels that smoothing by cosines may be wrong by, in the root mean square."""


class ElasticDraws(NamedTuple):
    """Shifts of three points, (3, 2) float64 in pixels, and the fields in [-1, 1], (2, H, W) float32, x before y."""

    shifts: np.ndarray
    fields: np.ndarray


def draw_elastic_transform(rng: np.random.Generator, height: int, width: int, strength: Strength) -> ElasticDraws:
    """Shifts of three points and two fields; the fields have 65536 levels, far finer than any effect of theirs."""
    shifts = rng.uniform(-strength[2], strength[2], size=(3, 2))
    halves = random_halves(rng, 2 * height * width).reshape(2, height, width)
    return ElasticDraws(shifts, (halves.astype(np.float32) - np.float32(32767.5)) * np.float32(1 / 32768))


def affine_of(shifts: np.ndarray, height: int, width: int) -> np.ndarray:
    """Where each pixel of the result comes from, (2, 3) float64: (x, y) = M (x', y', 1).

    Three points around the centre move by the shifts. The published code takes (height, width) for (x, y) here, which
    matters only where the image isn't square.
    """
    x, y = height // 2, width // 2
    square = min(height, width) // 3
    points = np.array([[x + square, y + square], [x + square, y - square], [x - square, y - square]], dtype=np.float32)
    (x0, y0), (x1, y1), (x2, y2) = (points + shifts.astype(np.float32)).tolist()
    # The points are the corners of a square, so that their differences are the columns of the forward map.
    a, b, c, d = x1 - x2, x0 - x1, y1 - y2, y0 - y1
    inverse = np.array([[d, -b], [-c, a]]) * (2 * square / (a * d - b * c))
    return np.column_stack([inverse, points[2] - inverse @ (x2, y2)])


def source_parts(affine: np.ndarray, height: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    """The places of `affine_of` in 1/1024 pixels: parts that depend on the column, (2, W), and on the row, (2, H).

    The published set was made with an OpenCV (before version 5) whose warpAffine adds these and keeps five bits below
    the pixel, rounded: hence the 16. Exact places differ from it by 0.2 levels in the mean and up to 3 at edges.
    """
    across = np.rint(affine[:, :1] * np.arange(width) * 1024)
    down = np.rint((affine[:, 1:2] * np.arange(height) + affine[:, 2:]) * 1024) + 16
    limit = 2.0**29
    return across.clip(-limit, limit).astype(np.int32), down.clip(-limit, limit).astype(np.int32)


def warped(pixels: np.ndarray, affine: np.ndarray) -> np.ndarray:
    """The affine part: bilinear, places to 1/32 pixel, border mirrored."""
    across, down = source_parts(affine, *pixels.shape[:2])
    at_x, at_y = ((across[:, None, :] + down[:, :, None]) >> 5) / 32
    return sampled(pixels, at_y, at_x, "mirror")


def sampled(pixels: np.ndarray, y: np.ndarray, x: np.ndarray, mode: str) -> np.ndarray:
    """The image at these places, bilinear, (H, W, 3)."""
    channels = [ndimage.map_coordinates(pixels[..., c], [y, x], order=1, mode=mode) for c in range(3)]
    return np.stack(channels, axis=-1)


def apply_elastic_transform(image: np.ndarray, draws: ElasticDraws, strength: Strength) -> np.ndarray:
    """The image under an affine map and then smooth displacements."""
    alpha, sigma, _ = strength
    height, width = image.shape[:2]
    pixels = warped(image / 255.0, affine_of(draws.shifts, height, width))
    dx, dy = (
        ndimage.gaussian_filter(field.astype(np.float64), sigma, mode="reflect", truncate=TRUNCATE) * alpha
        for field in draws.fields
    )
    y, x = np.mgrid[:height, :width]
    moved = sampled(pixels, y + dy, x + dx, "reflect")
    return as_bytes(moved)


class Smoothing(NamedTuple):
    """A Gaussian with a reflected border along an axis of n: K slow cosines, and everything.

    A symmetric filter with that border is diagonal in the basis of the DCT-II.
    """

    into: np.ndarray
    """Cosines, (K, n) float32."""
    out_of: np.ndarray
    """The same with the gains of the filter, (n, K) float32."""
    whole: np.ndarray
    """The filter, (n, n) float32, symmetric."""
    fast: np.ndarray
    """The filter without the slow cosines, (n, n) float32."""


@lru_cache(maxsize=16)
def smoothing(size: int, sigma: float, alpha: float) -> Smoothing:
    """The filter with as few slow cosines as the displacement allows."""
    weights = gaussian_weights(sigma, TRUNCATE)
    radius = len(weights) // 2
    frequencies = np.pi * np.arange(size) / size
    gains = np.cos(np.outer(frequencies, np.arange(-radius, radius + 1))) @ weights
    basis = np.cos(np.outer(frequencies, np.arange(size) + 0.5)) * np.sqrt(2 / size)
    basis[0] = np.sqrt(1 / size)
    # What is fast along both axes is left out: its root mean square, with fields of variance 1/3, in pixels.
    left_out = alpha / np.sqrt(3) * np.cumsum(gains[::-1] ** 2)[::-1] / size
    k = max(int((left_out > LEFT_OUT).sum()), 1)
    slow, fast = basis[:k], basis[k:]
    parts = slow, (slow * gains[:k, None]).T, (basis.T * gains) @ basis, (fast.T * gains[k:]) @ fast
    return Smoothing(*(np.ascontiguousarray(one, dtype=np.float32) for one in parts))


def displacement(field: np.ndarray, alpha: float, sigma: float) -> np.ndarray:
    """A smoothed field in pixels, (H, W) float32 -> (H, W) float32."""
    if alpha == 0:
        return np.zeros_like(field)
    height, width = field.shape
    if int(TRUNCATE * sigma + 0.5) <= WIDE_RADIUS:
        weights = (gaussian_weights(sigma, TRUNCATE) * np.sqrt(alpha)).astype(np.float32)  # of alpha, half on each axis
        down, across = (border_index(size, len(weights) // 2, "reflect") for size in (height, width))
        return smooth_few(field, weights, down * width, across)
    rows, columns = smoothing(height, sigma, alpha), smoothing(width, sigma, alpha)
    slow_down = product(product(rows.into, field), columns.whole)
    slow_across = product(product(columns.into, np.ascontiguousarray(field.T)), rows.fast)
    left, right = np.hstack([rows.out_of, slow_across.T]), np.vstack([slow_down, columns.out_of.T])
    return product(np.multiply(left, np.float32(alpha), order="C"), np.ascontiguousarray(right))


def with_blank_row(image: np.ndarray, dtype: type) -> np.ndarray:
    """Room for the image, a blank row and two values more, flat."""
    room = np.empty(image.size + 3 * image.shape[1] + 2, dtype=dtype)
    room[image.size :] = 0
    return room


def fast_elastic_transform(image: np.ndarray, rng: np.random.Generator, strength: Strength) -> np.ndarray:
    """The same with two compiled samplings in float32."""
    alpha, sigma, shift = strength
    height, width = image.shape[:2]
    shifts = rng.uniform(-shift, shift, size=(3, 2))
    fields = fields_of(random_halves(rng, 2 * height * width)).reshape(2, height, width)
    dx, dy = (displacement(field, alpha, sigma) for field in fields)
    across, down = source_parts(affine_of(shifts, height, width), height, width)
    flat, moved = (with_blank_row(image, dtype) for dtype in (np.uint8, np.float32))
    flat[: image.size] = image.reshape(-1)
    warp(flat, across, down, moved)
    out = np.empty_like(image, order="C")
    displace(moved, dx, dy, ABOVE, out)
    return out


elastic_transform = Corruption(
    "elastic_transform",
    "common",
    draw=draw_elastic_transform,
    apply=apply_elastic_transform,
    fast=fast_elastic_transform,
)
