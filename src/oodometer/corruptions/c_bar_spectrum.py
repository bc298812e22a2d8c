"""Noise made in Fourier space: blue noise that masks, brownish noise that is added (ImageNet-C-bar).

The published spectrum isn't quite Hermitian (its right half is its left half turned by half a circle, which is one
row and one column off for even sides), and the real part of its inverse transform is taken. Kept as it is.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy import fft

from oodometer.corruptions.kernels import c_bar as kernels
from oodometer.corruptions.registry import Corruption
from oodometer.corruptions.severities import Strength


class Phases(NamedTuple):
    """Random phases of n spectra: the left halves (n, H, W // 2), and the middle columns (n, H) of odd widths."""

    left: np.ndarray
    middle: np.ndarray


def draw_phases(rng: np.random.Generator, height: int, width: int, *, n: int) -> Phases:
    """The phases of n spectra; the middle column is the same from both ends, with 0 in the middle."""
    left = rng.random((n, height, width // 2)) * (2 * math.pi)
    middle = np.zeros((n, height))
    if width % 2:
        column = rng.random((n, height // 2)) * (2 * math.pi)
        middle[:, : height // 2] = column
        middle[:, height - height // 2 :] = column[:, ::-1]
    return Phases(left, middle)


def distance_from_centre(height: int, width: int) -> np.ndarray:
    """Distance of each frequency from the middle (H / 2, W / 2), in cycles per shorter side, (H, W).

    In a square image that is the distance in pixels of the spectrum; in others the noise stays alike in all directions.
    """
    side = min(height, width)
    y = (np.arange(height) - height / 2) * (side / height)
    x = (np.arange(width) - width / 2) * (side / width)
    return np.asarray(np.hypot(y[:, None], x))


@lru_cache(maxsize=8)
def blue_power(height: int, width: int) -> np.ndarray:
    """Amplitude that grows with the frequency."""
    return _read_only(distance_from_centre(height, width))


@lru_cache(maxsize=8)
def brownish_power(height: int, width: int) -> np.ndarray:
    """Amplitude that falls with the square of the frequency."""
    return _read_only(1 / (distance_from_centre(height, width) ** 2 + 1))


def field(left: np.ndarray, middle: np.ndarray, power: np.ndarray) -> np.ndarray:
    """The noise of one spectrum, scaled to standard deviation 1, (H, W)."""
    height, width = power.shape
    columns = [left, middle[:, None], left[::-1, ::-1]] if width % 2 else [left, left[::-1, ::-1]]
    spectrum = power * np.exp(1j * np.concatenate(columns, axis=1))
    noise = np.real(fft.ifft2(np.roll(spectrum, (height // 2, width // 2), axis=(0, 1))))
    return np.asarray(noise / noise.std())


def fast_field(left: np.ndarray, middle: np.ndarray, power: np.ndarray) -> tuple[np.ndarray, float]:
    """The noise of one spectrum before scaling, and its standard deviation.

    The real part of a transform is the transform of the Hermitian part of its spectrum: half the work.
    """
    noise = fft.irfft2(kernels.half_spectrum(left, middle, power), s=power.shape, overwrite_x=True)
    return noise, float(noise.std())


def draw_blue(rng: np.random.Generator, height: int, width: int, strength: Strength) -> Phases:  # noqa: ARG001
    """The phases of one spectrum."""
    return draw_phases(rng, height, width, n=1)


def apply_blue(image: np.ndarray, phases: Phases, strength: Strength) -> np.ndarray:
    """Black wherever blue noise is not above 3 constant / 10 - 2.5 standard deviations."""
    noise = field(phases.left[0], phases.middle[0], blue_power(*image.shape[:2]))
    return image * (noise > _threshold(strength))[..., None]


def fast_blue(image: np.ndarray, rng: np.random.Generator, strength: Strength) -> np.ndarray:
    """The same, compiled."""
    height, width = image.shape[:2]
    phases = draw_blue(rng, height, width, strength)
    noise, deviation = fast_field(phases.left[0], phases.middle[0], blue_power(height, width))
    return kernels.masked(image, noise, _threshold(strength) * deviation)


def draw_brownish(rng: np.random.Generator, height: int, width: int, strength: Strength) -> Phases:  # noqa: ARG001
    """The phases of three spectra, one for each channel."""
    return draw_phases(rng, height, width, n=3)


def apply_brownish(image: np.ndarray, phases: Phases, strength: Strength) -> np.ndarray:
    """Add noise with an amplitude of about 1/f**2 to each channel; its standard deviation is 64 at a constant of 10."""
    power = brownish_power(*image.shape[:2])
    noise = np.stack([field(left, middle, power) for left, middle in zip(*phases, strict=True)], axis=2)
    return np.clip(image + strength[0] * 6.4 * noise, 0, 255).astype(np.uint8)


def fast_brownish(image: np.ndarray, rng: np.random.Generator, strength: Strength) -> np.ndarray:
    """The same, compiled."""
    height, width = image.shape[:2]
    phases = draw_brownish(rng, height, width, strength)
    power = brownish_power(height, width)
    made = [fast_field(left, middle, power) for left, middle in zip(*phases, strict=True)]
    gains = strength[0] * 6.4 / np.array([deviation for _, deviation in made])
    return kernels.blend_colour(image, 1.0, np.stack([noise for noise, _ in made]), gains)


def _threshold(strength: Strength) -> float:
    return strength[0] * 0.3 - 2.5


def _read_only(array: np.ndarray) -> np.ndarray:
    array.setflags(write=False)
    return array


blue_noise_sample = Corruption("blue_noise_sample", "bar", draw_blue, apply_blue, fast_blue)
brownish_noise = Corruption("brownish_noise", "bar", draw_brownish, apply_brownish, fast_brownish)
