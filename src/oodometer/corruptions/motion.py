"""Motion blur: a one-sided Gaussian along a random direction, as ImageMagick defines it."""

from __future__ import annotations

import math

import numpy as np

from oodometer.corruptions.kernels.shifted_sums import pad_edge, weighted_rows
from oodometer.corruptions.registry import Corruption
from oodometer.corruptions.severities import Strength

LEAST_WEIGHT = 1e-6
"""Taps of less weight are left out by the fast path: together less than a thousandth of a level."""


def draw_motion_blur(rng: np.random.Generator, height: int, width: int, strength: Strength) -> float:  # noqa: ARG001
    """The direction in degrees."""
    return float(rng.uniform(-45, 45))


def motion_taps(radius: float, sigma: float, angle: float) -> tuple[np.ndarray, np.ndarray]:
    """The taps of ImageMagick's MotionBlurImage: offsets (row, column), (N, 2) int64, and weights, (N,) float64.

    >>> offsets, weights = motion_taps(1, 1, 45)
    >>> offsets.tolist(), weights.round(3).tolist()
    ([[0, 0], [1, 1], [1, 1]], [0.574, 0.348, 0.078])
    """
    steps = np.arange(2 * int(radius) + 1)
    weights = np.exp(-(steps**2) / (2 * sigma**2))
    direction = np.array([math.sin(math.radians(angle)), math.cos(math.radians(angle))])
    offsets = np.ceil(steps[:, None] * direction - 0.5).astype(np.int64)
    return offsets, weights / weights.sum()


def smeared(image: np.ndarray, angle: float, strength: Strength) -> np.ndarray:
    """The image smeared along the direction, border replicated, in levels that are not yet rounded, float64."""
    offsets, weights = motion_taps(strength[0], strength[1], angle)
    height, width = image.shape[:2]
    reach = int(np.abs(offsets).max())
    padded = np.pad(image.astype(np.float64), ((reach, reach), (reach, reach), (0, 0)), mode="edge")
    total = np.zeros(image.shape)
    for (down, right), weight in zip(offsets + reach, weights, strict=True):
        total += weight * padded[down : down + height, right : right + width]
    return total


def apply_motion_blur(image: np.ndarray, draws: float, strength: Strength) -> np.ndarray:
    """The image smeared along the drawn direction.

    ImageMagick rounds to the nearest level; the pip package cuts off the fraction.
    """
    return np.clip(np.floor(smeared(image, draws, strength) + 0.5), 0, 255).astype(np.uint8)


def merged_taps(radius: float, sigma: float, angle: float) -> tuple[np.ndarray, np.ndarray]:
    """The taps with equal offsets added up and the tail left out; the weights sum to 1 again."""
    offsets, weights = motion_taps(radius, sigma, angle)
    changes = (offsets[1:] != offsets[:-1]).any(axis=1)
    first = np.concatenate([[0], np.flatnonzero(changes) + 1])
    total = np.add.reduceat(weights, first)
    kept = total >= LEAST_WEIGHT
    return offsets[first[kept]], total[kept] / total[kept].sum()


def fast_motion_blur(image: np.ndarray, rng: np.random.Generator, strength: Strength) -> np.ndarray:
    """The same in float32, over long rows."""
    angle = draw_motion_blur(rng, image.shape[0], image.shape[1], strength)
    offsets, weights = merged_taps(strength[0], strength[1], angle)
    height, width = image.shape[:2]
    top, left = -offsets.min(axis=0)  # The first tap is (0, 0), so these are not negative.
    bottom, right = offsets.max(axis=0)
    padded = pad_edge(image, top, bottom, left, right)
    stride = padded.shape[1]
    flat = (offsets[:, 0] + top) * stride + (offsets[:, 1] + left) * 3
    out = np.empty((height, width * 3), dtype=np.uint8)
    weighted_rows(padded, flat, weights.astype(np.float32), 0.5, out)
    return out.reshape(height, width, 3)


motion_blur = Corruption("motion_blur", "common", draw=draw_motion_blur, apply=apply_motion_blur, fast=fast_motion_blur)
