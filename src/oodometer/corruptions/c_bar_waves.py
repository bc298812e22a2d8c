"""Sine waves over the image: plane waves, wavy rings, and plasma (ImageNet-C-bar)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from oodometer.corruptions.kernels import c_bar as kernels
from oodometer.corruptions.registry import Corruption
from oodometer.corruptions.severities import Strength


class Wave(NamedTuple):
    """A plane wave: sin(x along_x + y along_y + phase)."""

    along_x: float
    along_y: float
    phase: float


def draw_wave(rng: np.random.Generator, height: int, width: int, strength: Strength) -> Wave:  # noqa: ARG001
    """One frequency up to Nyquist's, the other no higher, in either order; any phase."""
    high = rng.uniform(-math.pi, math.pi)
    low = rng.uniform(-abs(high), abs(high))
    along_x, along_y = (high, low) if rng.integers(2) else (low, high)
    return Wave(along_x, along_y, rng.uniform(0, 2 * math.pi))


def apply_wave(image: np.ndarray, wave: Wave, strength: Strength) -> np.ndarray:
    """Add one plane wave to all channels; its amplitude is 196 at a constant of 10."""
    y, x = np.ogrid[: image.shape[0], : image.shape[1]]
    noise = np.sin(x * wave.along_x + y * wave.along_y + wave.phase)
    return _bytes(image + strength[0] * 19.6 * noise[..., None])


def fast_wave(image: np.ndarray, rng: np.random.Generator, strength: Strength) -> np.ndarray:
    """The same by the addition theorem: sines of rows and of columns only."""
    height, width = image.shape[:2]
    wave = draw_wave(rng, height, width, strength)
    x, y = np.arange(width) * wave.along_x, np.arange(height) * wave.along_y + wave.phase
    plane = np.outer(np.cos(y), np.sin(x)) + np.outer(np.sin(y), np.cos(x))
    return kernels.blend(image, 1.0, plane, strength[0] * 19.6)


class Rings(NamedTuple):
    """Rings around (x, y), whose radius waves with the angle."""

    x: float
    y: float
    waves: float
    amplitude: float
    ring: float


def draw_rings(rng: np.random.Generator, height: int, width: int, strength: Strength) -> Rings:  # noqa: ARG001
    """A centre in the image, up to 10 waves around it; amplitude and ring width up to a tenth of the shorter side."""
    tenth = min(height, width) / 10
    return Rings(
        rng.uniform(0, width), rng.uniform(0, height), rng.uniform(0, 10), rng.uniform(0, tenth), rng.uniform(0, tenth)
    )


def apply_rings(image: np.ndarray, rings: Rings, strength: Strength) -> np.ndarray:
    """Add a saw tooth in [-1/2, 1/2] of the waving distance to the centre, times 128 at a constant of 10.

    >>> image = np.full((32, 32, 3), 100, np.uint8)
    >>> apply_rings(image, Rings(0, 0, 0, 0, ring=4), (10.0,))[0, :6, 0]
    array([ 36,  68, 100, 132,  36,  68], dtype=uint8)
    """
    y, x = np.ogrid[: image.shape[0], : image.shape[1]]
    dx, dy = x - rings.x, y - rings.y
    distance = np.sqrt(dx**2 + dy**2) + np.sin(np.arctan2(dx, dy) * rings.waves) * rings.amplitude
    noise = (distance % rings.ring) / rings.ring - 0.5
    return _bytes(image + strength[0] * 12.8 * noise[..., None])


def fast_rings(image: np.ndarray, rng: np.random.Generator, strength: Strength) -> np.ndarray:
    """The same, compiled."""
    height, width = image.shape[:2]
    rings = draw_rings(rng, height, width, strength)
    centre, shape = np.array(rings[:2]), np.array(rings[2:])
    return kernels.blend(image, 1.0, kernels.ring_plane(height, width, centre, shape), strength[0] * 12.8)


class Plasma(NamedTuple):
    """A feedback of sines, folded over itself some times."""

    time: float
    iterations: int
    sharpness: float
    scale: float


def draw_plasma(rng: np.random.Generator, height: int, width: int, strength: Strength) -> Plasma:  # noqa: ARG001
    """Time in three turns, 4 to 6 folds, and a scale of 7.5 to 20 per cent of the shorter side."""
    return Plasma(
        time=rng.uniform(0, 6 * math.pi),
        iterations=int(rng.integers(4, 7)),
        sharpness=rng.uniform(0.5, 1),
        scale=rng.uniform(0.075, 0.2) * min(height, width),
    )


def plasma_steps(plasma: Plasma) -> np.ndarray:
    """Frequency, phase and amplitude of each fold, (iterations, 3)."""
    n = np.arange(plasma.iterations)
    return np.stack([1.93**n, plasma.time / 1.15**n, (2.25 - plasma.sharpness) ** -n.astype(float)], axis=1)


def apply_plasma(image: np.ndarray, plasma: Plasma, strength: Strength) -> np.ndarray:
    """Mix the image with a coloured plasma in [-1, 1] times 64 at a constant of 10; the image loses as much weight."""
    y, x = (np.array(part) / plasma.scale for part in np.mgrid[: image.shape[0], : image.shape[1]])
    for frequency, phase, amplitude in plasma_steps(plasma):
        first = np.cos(y * frequency + phase) * amplitude
        second = np.sin(x * frequency + phase) * amplitude
        x = x + first - 0.3 * second
        y = y + second + 0.3 * first
    red, blue = np.sin(x - plasma.time), np.sin(y + plasma.time)
    green = np.sin((x + y + math.sin(plasma.time)) * 0.5)
    intensity = strength[0] * 6.4
    return _bytes((1 - intensity / 255) * image + intensity * np.stack([red, green, blue], axis=2))


def fast_plasma(image: np.ndarray, rng: np.random.Generator, strength: Strength) -> np.ndarray:
    """The same, compiled."""
    height, width = image.shape[:2]
    plasma = draw_plasma(rng, height, width, strength)
    planes = kernels.plasma_planes(height, width, plasma.time, plasma_steps(plasma), plasma.scale)
    intensity = strength[0] * 6.4
    return kernels.blend_colour(image, 1 - intensity / 255, planes, np.full(3, intensity))


def _bytes(values: np.ndarray) -> np.ndarray:
    cut: np.ndarray = np.clip(values, 0, 255).astype(np.uint8)
    return cut


single_frequency_greyscale = Corruption("single_frequency_greyscale", "bar", draw_wave, apply_wave, fast_wave)
cocentric_sine_waves = Corruption("cocentric_sine_waves", "bar", draw_rings, apply_rings, fast_rings)
plasma_noise = Corruption("plasma_noise", "bar", draw_plasma, apply_plasma, fast_plasma)
