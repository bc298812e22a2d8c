"""Gaussian blur, one of the extra corruptions."""

from __future__ import annotations

import numpy as np
from scipy import ndimage

from oodometer.corruptions.kernels.blur import blurred_bytes
from oodometer.corruptions.registry import Corruption
from oodometer.corruptions.severities import Strength


def smoothed(image: np.ndarray, sigma: float) -> np.ndarray:
    """The image in [0, 1] smoothed per channel, border replicated, cut at 4 sigma, float64."""
    filtered: np.ndarray = ndimage.gaussian_filter(image / 255.0, (sigma, sigma, 0), mode="nearest", truncate=4.0)
    return filtered


def as_bytes(pixels: np.ndarray) -> np.ndarray:
    """Values in [0, 1] as bytes; the published generator cuts the fraction off.

    >>> as_bytes(np.array([-0.1, 0.5, 0.999, 2])).tolist()
    [0, 127, 254, 255]
    """
    levels: np.ndarray = np.clip(pixels, 0, 1) * 255
    return levels.astype(np.uint8)


def draw_nothing(rng: np.random.Generator, height: int, width: int, strength: Strength) -> None:
    """Nothing is random."""


def apply_gaussian_blur(image: np.ndarray, draws: None, strength: Strength) -> np.ndarray:  # noqa: ARG001
    """The image smoothed by a Gaussian of this sigma."""
    (sigma,) = strength
    return as_bytes(smoothed(image, sigma))


def fast_gaussian_blur(image: np.ndarray, rng: np.random.Generator, strength: Strength) -> np.ndarray:  # noqa: ARG001
    """The same in float32."""
    return blurred_bytes(image, strength[0])


gaussian_blur = Corruption(
    "gaussian_blur", "extra", draw=draw_nothing, apply=apply_gaussian_blur, fast=fast_gaussian_blur
)
