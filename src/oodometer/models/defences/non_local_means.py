"""Non-local means: each pixel becomes the mean of those whose surroundings look alike, the more the noisier the image.

Buades, Coll & Morel, CVPR 2005, with patches compared by sums over rectangles (Darbon et al., ISBI 2008). The strength
is from Donoho and Johnstone's estimate of the noise (Biometrika 81, 1994), as in Hendrycks & Dietterich 2019.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np

from oodometer.models.defences.registry import Defence, on_pixels

BEFORE, AFTER = 1, 2
"""Pixels of a patch before and after its own, see `non_local_means`."""

PATCH, REACH, STRENGTH = 5, 6, 0.8
"""Pixels of a patch's side, how far similar ones are looked for, and the filter's strength in deviations of the noise:
what the documentation of scikit-image advises."""

LEAST = 1e-6
"""Noise of a deviation below this is rounding: a hundredth of a hundredth of a level."""

FAR = 5.0
"""Patches that differ by more, in units of the strength, count for nothing."""

MEDIAN_OF_NORMAL = 0.6744897501960817
"""Of the size of a standard normal number."""

HIGH = np.array([-0.48296291314453416, 0.8365163037378079, -0.2241438680420134, -0.12940952255126037])
"""The high-pass filter of Daubechies' wavelet with two vanishing moments."""


def denoised(image: np.ndarray) -> np.ndarray:
    """The image with less noise, (H, W, 3) uint8; one without any noise stays as it is."""
    pixels = image / 255.0
    sigma = noise_of(pixels)
    if sigma < LEAST:
        return image
    cleaned = non_local_means(pixels, sigma, STRENGTH * sigma)
    return np.asarray(np.clip(np.rint(255 * cleaned), 0, 255), dtype=np.uint8)


def noise_of(pixels: np.ndarray) -> float:
    """The standard deviation of the noise, the mean over channels, (H, W, C) float.

    By the median of the finest diagonal wavelet coefficients, in which a photograph has little and noise all its share;
    those of exactly 0 don't count.
    """
    details = _high_pass(_high_pass(pixels, 0), 1)
    sizes = [np.abs(details[..., channel][details[..., channel] != 0]) for channel in range(pixels.shape[2])]
    return float(np.mean([np.median(one) / MEDIAN_OF_NORMAL if len(one) else 0.0 for one in sizes]))


def _high_pass(pixels: np.ndarray, axis: int) -> np.ndarray:
    """Every other value of the filtered image, mirrored at its edges."""
    reach = len(HIGH) - 1
    widths = [(reach, reach) if at == axis else (0, 0) for at in range(pixels.ndim)]
    mirrored = np.moveaxis(np.pad(pixels, widths, mode="symmetric"), axis, 0)
    n = (pixels.shape[axis] + reach) // 2
    parts = [mirrored[1 + reach - tap :: 2][:n] * weight for tap, weight in enumerate(HIGH)]
    return np.moveaxis(np.sum(parts, axis=0), 0, axis)


def non_local_means(pixels: np.ndarray, sigma: float, strength: float) -> np.ndarray:
    """The weighted mean over similar pixels, (H, W, C) float -> the same.

    The weight of a pixel is exp(-d), d the mean squared difference of the two patches, less what noise alone makes of
    it, over the squared strength. A patch reaches from one pixel before to two after, and counts as if it had five in a
    row: so it is in the fast mode of scikit-image, by which people have measured.
    """
    height, width, channels = pixels.shape
    border = 2 * REACH + AFTER
    edges = ((0, 0), (border, border), (border, border))
    mode: Literal["reflect", "edge"] = "reflect" if min(height, width) > 1 else "edge"
    padded = np.pad(np.moveaxis(pixels, 2, 0).astype(np.float32), edges, mode=mode)
    weights = np.ones((height, width), dtype=np.float32)  # of each pixel itself
    sums = _part(padded, border, border, height, width).copy()
    unit = channels * (strength * PATCH) ** 2
    for down, across in _moves():
        weight = _weights(padded, (down, across), sigma, unit)  # of REACH pixels more on every side
        for sign in (1, -1):  # what one pixel is to another, that is to it
            top, left = (REACH, REACH) if sign == 1 else (REACH - down, REACH - across)
            own = weight[top : top + height, left : left + width]
            weights += own
            sums += own * _part(padded, border + sign * down, border + sign * across, height, width)
    return np.asarray(np.moveaxis(sums / weights, 0, 2), dtype=np.float64)


def _moves() -> Iterator[tuple[int, int]]:
    """One of each two opposite moves."""
    steps = range(-REACH, REACH + 1)
    return ((down, across) for down in steps for across in steps if (down, across) > (0, 0))


def _part(padded: np.ndarray, top: int, left: int, height: int, width: int) -> np.ndarray:
    return padded[:, top : top + height, left : left + width]


def _weights(padded: np.ndarray, move: tuple[int, int], sigma: float, unit: float) -> np.ndarray:
    """The weight of the pixel so far away for every pixel, those of REACH more on every side too."""
    start = REACH + AFTER - BEFORE
    height, width = (side - 2 * REACH - AFTER + BEFORE for side in padded.shape[1:])
    here = _part(padded, start, start, height, width)
    difference = here - _part(padded, start + move[0], start + move[1], height, width)
    squares = np.einsum("chw,chw->hw", difference, difference)
    squares -= len(padded) * 2 * sigma**2
    distance = _sums_of_patches(squares)
    distance /= unit
    weight = np.exp(-np.maximum(distance, 0))
    weight[distance > FAR] = 0
    return np.asarray(weight)


def _sums_of_patches(values: np.ndarray) -> np.ndarray:
    """The sum over the patch that begins at each place; a patch less on every side."""
    side = BEFORE + AFTER + 1
    n = len(values) - side + 1
    rows = np.sum([values[at : at + n] for at in range(side)], axis=0)
    n = values.shape[1] - side + 1
    return np.asarray(np.sum([rows[:, at : at + n] for at in range(side)], axis=0))


NON_LOCAL_MEANS = Defence(
    {"patch": PATCH, "reach": REACH, "strength": STRENGTH, "noise": "donoho-johnstone, db2"}, on_pixels(denoised)
)
