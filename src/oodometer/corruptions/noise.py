"""Gaussian, shot, impulse and speckle noise: each channel value on its own becomes another, at random.

The definitions take one random number per value. The fast paths draw from the same distributions in another way: the
chance that level x becomes level y has a closed form, and an alias table (Walker 1977) turns one 32-bit random word
into y. Probabilities are whole multiples of 2⁻³² to 2⁻²⁶ and add up to 1 exactly.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr
from scipy.stats import poisson

from oodometer.corruptions.kernels.noise import (
    LEVEL_BITS,
    OFFSET_BITS,
    add_offsets,
    alias_tables,
    replace_levels,
    salt_and_pepper,
)
from oodometer.corruptions.registry import Corruption
from oodometer.corruptions.severities import Strength

_LEVELS = np.arange(256)


class LevelTable(NamedTuple):
    """What `oodometer.corruptions.kernels.noise.replace_levels` draws from."""

    table: np.ndarray
    factor: int


class ImpulseDraws(NamedTuple):
    """Two uniform numbers for each value: is it struck, and is it then white or black?"""

    struck: np.ndarray
    colour: np.ndarray


def _to_bytes(pixels: np.ndarray) -> np.ndarray:
    """Pixels in [0, 1] as bytes; the published generator truncates."""
    return np.asarray(np.clip(pixels, 0, 1) * 255).astype(np.uint8)


def _key(rng: np.random.Generator) -> np.ndarray:
    """The 128 bits that the words of one image depend on, (4,) uint32."""
    return rng.integers(0, 2**32, size=4, dtype=np.uint32)


def _draw_normals(rng: np.random.Generator, height: int, width: int, strength: Strength) -> np.ndarray:  # noqa: ARG001
    return rng.standard_normal((height, width, 3))


def _draw_uniforms(rng: np.random.Generator, height: int, width: int, strength: Strength) -> np.ndarray:  # noqa: ARG001
    return rng.random((height, width, 3))


def _draw_impulse(rng: np.random.Generator, height: int, width: int, strength: Strength) -> ImpulseDraws:  # noqa: ARG001
    struck, colour = rng.random((2, height, width, 3))
    return ImpulseDraws(struck, colour)


def _apply_gaussian(image: np.ndarray, normals: np.ndarray, strength: Strength) -> np.ndarray:
    (sigma,) = strength
    return _to_bytes(image / 255.0 + sigma * normals)


def _apply_speckle(image: np.ndarray, normals: np.ndarray, strength: Strength) -> np.ndarray:
    (sigma,) = strength
    pixels = image / 255.0
    return _to_bytes(pixels + pixels * (sigma * normals))


def _apply_shot(image: np.ndarray, uniforms: np.ndarray, strength: Strength) -> np.ndarray:
    # A Poisson count depends on the pixel: the draw is its quantile. That of 0 is -1 in scipy, hence the maximum.
    (photons,) = strength
    counts = np.maximum(poisson.ppf(uniforms, image / 255.0 * photons), 0)
    return _to_bytes(counts / photons)


def _apply_impulse(image: np.ndarray, draws: ImpulseDraws, strength: Strength) -> np.ndarray:
    (amount,) = strength
    extreme = np.where(draws.colour <= 0.5, np.uint8(255), np.uint8(0))
    return np.where(draws.struck <= amount, extreme, image)


def gaussian_transitions(sigma: float) -> np.ndarray:
    """The chance that level x becomes level y under Gaussian noise, (256, 256), rows x."""
    return _normal_transitions(np.full(256, 255 * sigma))


def speckle_transitions(sigma: float) -> np.ndarray:
    """The chance that level x becomes level y under speckle noise, (256, 256), rows x."""
    return _normal_transitions(sigma * _LEVELS)


def _normal_transitions(spreads: np.ndarray) -> np.ndarray:
    # floor(clip(x/255 + n/255, 0, 1) 255) is at least y, for y from 1 to 255, where x + n is.
    with np.errstate(divide="ignore"):  # black has no speckle
        at_least = ndtr((_LEVELS[:, None] - np.arange(1, 256)) / spreads[:, None])
    return np.asarray(-np.diff(at_least, axis=1, prepend=1.0, append=0.0))


def shot_transitions(photons: float) -> np.ndarray:
    """The chance that level x becomes level y under shot noise, (256, 256), rows x."""
    counts = np.arange(int(np.ceil(photons)))
    means = _LEVELS[:, None] / 255.0 * photons
    made = np.zeros((256, 256))
    np.add.at(made.T, _to_bytes(counts / photons), poisson.pmf(counts, means).T)
    made[:, 255] += poisson.sf(len(counts) - 1, means[:, 0])
    return made


def impulse_transitions(amount: float) -> np.ndarray:
    """The chance that level x becomes level y under impulse noise, (256, 256), rows x."""
    made = (1 - amount) * np.eye(256)
    made[:, [0, 255]] += amount / 2
    return made


def _whole_counts(chances: np.ndarray, total: int) -> np.ndarray:
    """Chances as whole numbers that add up to the total in each row; the likeliest outcome takes the rest."""
    counts: np.ndarray = np.rint(chances * total).astype(np.int64)
    counts[np.arange(len(counts)), counts.argmax(axis=1)] += total - counts.sum(axis=1)
    return counts


@cache
def _gaussian_table(sigma: float) -> np.ndarray:
    """Alias table of floor(255 n), n ~ N(0, sigma), (512,): x + floor(255 n), clipped, is the noisy level."""
    offsets = np.arange(-254, 256)
    chances = -np.diff(ndtr(-offsets / (255 * sigma)), prepend=1.0, append=0.0)
    n_columns, fraction_bits = 1 << OFFSET_BITS, 32 - OFFSET_BITS
    counts = _whole_counts(np.append(chances, 0.0)[None], n_columns << fraction_bits)
    thresholds, aliases = alias_tables(counts, fraction_bits)
    return _read_only((thresholds[0] << OFFSET_BITS) | aliases[0])


@cache
def _shot_table(photons: float) -> LevelTable:
    chances = shot_transitions(photons)
    n_outcomes = int(photons) + 1
    n_columns = 1 << max(n_outcomes - 1, 1).bit_length()
    if n_columns > 128 or photons != int(photons):
        return _level_table(chances, factor=1 << 16)
    # Few outcomes, k/c for k up to c: a small table, which the first-level cache holds.
    return _level_table(chances, factor=-(-255 * (1 << 16) // int(photons)), n_columns=n_columns, n_outcomes=n_outcomes)


@cache
def _speckle_table(sigma: float) -> LevelTable:
    return _level_table(speckle_transitions(sigma), factor=1 << 16)


def _level_table(chances: np.ndarray, factor: int, n_columns: int = 256, n_outcomes: int = 256) -> LevelTable:
    """Alias tables of 256 distributions over the levels (j factor) >> 16, for j below ``n_outcomes``."""
    fraction_bits = 32 - LEVEL_BITS
    levels = (np.arange(n_columns) * factor >> 16) & 255
    columns = np.zeros((256, n_columns))
    columns[:, :n_outcomes] = chances[:, levels[:n_outcomes]]
    thresholds, aliases = alias_tables(_whole_counts(columns, n_columns << fraction_bits), fraction_bits)
    return LevelTable(_read_only((thresholds << LEVEL_BITS) | levels[aliases]), factor)


def _read_only(entries: np.ndarray) -> np.ndarray:
    table = entries.astype(np.uint32)
    table.flags.writeable = False
    return table


def _fast_gaussian(image: np.ndarray, rng: np.random.Generator, strength: Strength) -> np.ndarray:
    return add_offsets(image.reshape(-1), _gaussian_table(*strength), _key(rng)).reshape(image.shape)


def _fast_shot(image: np.ndarray, rng: np.random.Generator, strength: Strength) -> np.ndarray:
    return replace_levels(image.reshape(-1), *_shot_table(*strength), _key(rng)).reshape(image.shape)


def _fast_speckle(image: np.ndarray, rng: np.random.Generator, strength: Strength) -> np.ndarray:
    return replace_levels(image.reshape(-1), *_speckle_table(*strength), _key(rng)).reshape(image.shape)


def _fast_impulse(image: np.ndarray, rng: np.random.Generator, strength: Strength) -> np.ndarray:
    (amount,) = strength
    salt, struck = round(amount / 2 * 2**32), round(amount * 2**32)
    return salt_and_pepper(image.reshape(-1), salt, struck, _key(rng)).reshape(image.shape)


gaussian_noise = Corruption(
    "gaussian_noise", "common", draw=_draw_normals, apply=_apply_gaussian, fast=_fast_gaussian, exact=False
)
shot_noise = Corruption("shot_noise", "common", draw=_draw_uniforms, apply=_apply_shot, fast=_fast_shot, exact=False)
impulse_noise = Corruption(
    "impulse_noise", "common", draw=_draw_impulse, apply=_apply_impulse, fast=_fast_impulse, exact=False
)
speckle_noise = Corruption(
    "speckle_noise", "extra", draw=_draw_normals, apply=_apply_speckle, fast=_fast_speckle, exact=False
)
