"""Brightness, contrast and saturation: nothing random.

Brightness and saturation are defined through hue, saturation and value (HSV). The fast path of brightness needs no hue:
a new value V' multiplies all channels of a pixel by V'/V. That of saturation repeats the definition in one pass.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from oodometer.corruptions.kernels.colour import channel_sums, map_channels, scale_by_largest, scale_saturation
from oodometer.corruptions.registry import Corruption
from oodometer.corruptions.severities import Strength


def _draw_nothing(rng: np.random.Generator, height: int, width: int, strength: Strength) -> None:
    """No random numbers are needed."""


def _to_bytes(pixels: np.ndarray) -> np.ndarray:
    """Pixels in [0, 1] as bytes; the published generator truncates."""
    return np.asarray(np.clip(pixels, 0, 1) * 255).astype(np.uint8)


def to_hsv(pixels: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Hue, saturation and value in [0, 1] of pixels in [0, 1], (..., 3) -> three of (...); grey has the hue of red."""
    red, green, blue = np.moveaxis(pixels, -1, 0)
    value = pixels.max(axis=-1)
    spread = value - pixels.min(axis=-1)
    divisor = np.where(spread == 0, 1.0, spread)
    # Where two channels are largest the later one decides, as in scikit-image.
    sextant = np.where(
        blue == value,
        4.0 + (red - green) / divisor,
        np.where(green == value, 2.0 + (blue - red) / divisor, (green - blue) / divisor),
    )
    hue = np.where(spread == 0, 0.0, sextant / 6.0 % 1.0)
    return hue, spread / np.where(value == 0, 1.0, value), value


def from_hsv(hue: np.ndarray, saturation: np.ndarray, value: np.ndarray) -> np.ndarray:
    """Pixels in [0, 1] of hue, saturation and value, three of (...) -> (..., 3)."""
    sextant = np.floor(hue * 6)
    part = hue * 6 - sextant
    least = value * (1 - saturation)
    falling = value * (1 - part * saturation)
    rising = value * (1 - (1 - part) * saturation)
    red = (value, falling, least, least, rising, value)
    green = (rising, value, value, falling, least, least)
    blue = (least, least, rising, value, value, falling)
    which = sextant.astype(np.int64) % 6
    return np.stack([np.choose(which, channel) for channel in (red, green, blue)], axis=-1)


def _apply_brightness(image: np.ndarray, draws: None, strength: Strength) -> np.ndarray:  # noqa: ARG001
    (added,) = strength
    hue, saturation, value = to_hsv(image / 255.0)
    return _to_bytes(from_hsv(hue, saturation, np.clip(value + added, 0, 1)))


def _apply_saturate(image: np.ndarray, draws: None, strength: Strength) -> np.ndarray:  # noqa: ARG001
    factor, offset = strength
    hue, saturation, value = to_hsv(image / 255.0)
    return _to_bytes(from_hsv(hue, np.clip(saturation * factor + offset, 0, 1), value))


def _apply_contrast(image: np.ndarray, draws: None, strength: Strength) -> np.ndarray:  # noqa: ARG001
    (factor,) = strength
    pixels = image / 255.0
    means = pixels.mean(axis=(0, 1), keepdims=True)
    return _to_bytes((pixels - means) * factor + means)


@cache
def _brightness_table(added: float) -> np.ndarray:
    """The new level at (largest channel, channel), (65536,) uint8: V' (1 - S), S taken with the channel as smallest."""
    pixels = np.arange(256) / 255.0
    largest = pixels[:, None]
    saturation = (largest - pixels) / np.maximum(largest, pixels[1])
    table = _to_bytes(np.clip(largest + added, 0, 1) * (1 - saturation)).reshape(-1)
    table.flags.writeable = False
    return table


def _fast_brightness(image: np.ndarray, rng: np.random.Generator, strength: Strength) -> np.ndarray:  # noqa: ARG001
    return scale_by_largest(image.reshape(-1, 3), _brightness_table(*strength)).reshape(image.shape)


def _fast_saturate(image: np.ndarray, rng: np.random.Generator, strength: Strength) -> np.ndarray:  # noqa: ARG001
    return scale_saturation(image.reshape(-1), *strength).reshape(image.shape)


def _fast_contrast(image: np.ndarray, rng: np.random.Generator, strength: Strength) -> np.ndarray:  # noqa: ARG001
    (factor,) = strength
    n_pixels = image.shape[0] * image.shape[1]
    means = channel_sums(image.reshape(len(image), -1))[:, None] / (255.0 * n_pixels)
    tables = _to_bytes((np.arange(256) / 255.0 - means) * factor + means)
    return map_channels(image.reshape(-1, 3), tables).reshape(image.shape)


brightness = Corruption("brightness", "common", draw=_draw_nothing, apply=_apply_brightness, fast=_fast_brightness)
contrast = Corruption("contrast", "common", draw=_draw_nothing, apply=_apply_contrast, fast=_fast_contrast)
saturate = Corruption("saturate", "extra", draw=_draw_nothing, apply=_apply_saturate, fast=_fast_saturate)
