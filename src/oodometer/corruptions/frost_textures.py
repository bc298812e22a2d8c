"""Frost on a window, made by code: five textures, so that no photograph need be shipped.

Each is a sheet of ice (smooth noise), crystals drawn as branching lines or as blades, and light from one side. Mean,
spread and tint of each follow those of one of the five photographs that the published generator uses.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
from PIL import Image, ImageDraw
from scipy import ndimage

from oodometer.core.random import rng_for

SHAPE = (640, 900)
"""Height and width of a texture, in pixels."""

VERSION = 2
"""Part of a condition's key: to be raised whenever a texture changes."""


@dataclass(frozen=True)
class Recipe:
    """How one texture is made.

    Args:
        tint: Mean of red, green and blue, 0 to 255.
        spread: Standard deviation of the brightness, in levels.
        n_stems: How many crystals.
        length: Shortest and longest stem, in pixels.
        n_twigs: Twigs to each side of a stem, where the crystals have any.
        sheet: Share of smooth ice in the brightness; the rest are crystals.
        relief: Share of the light from one side in the crystals.
        grain: Share of fine grain in the crystals.
        skew: Where the brightness has its tail: below 0, in the dark.
    """

    crystals: Literal["wrinkles", "blades", "feathers"]
    tint: tuple[float, float, float]
    spread: float
    n_stems: int
    length: tuple[float, float]
    n_twigs: int
    sheet: float
    relief: float
    grain: float
    skew: float = 0.0


RECIPES = (
    Recipe("wrinkles", (78, 149, 166), 18, 260, (15, 70), 0, sheet=0.62, relief=0.9, grain=0.3),
    Recipe("blades", (201, 205, 214), 22, 9000, (6, 70), 0, sheet=0.47, relief=0.45, grain=0.2, skew=-0.2),
    Recipe("blades", (201, 205, 214), 22, 7000, (8, 90), 0, sheet=0.48, relief=0.45, grain=0.2, skew=-0.2),
    Recipe("feathers", (138, 153, 165), 29, 9000, (3.5, 26), 3, sheet=0.25, relief=0.6, grain=0.1),
    Recipe("feathers", (112, 123, 135), 43, 4000, (9, 70), 6, sheet=0.4, relief=0.35, grain=0.05),
)


@dataclass(frozen=True)
class Lines:
    """Straight pieces of crystals: start, direction, length and brightness, (N,) each."""

    x: np.ndarray
    y: np.ndarray
    angle: np.ndarray
    length: np.ndarray
    light: np.ndarray


def procedural_textures() -> tuple[np.ndarray, ...]:
    """The five textures, (640, 900, 3) uint8 each."""
    return tuple(_texture(which) for which in range(len(RECIPES)))


@cache
def _texture(which: int) -> np.ndarray:
    recipe = RECIPES[which]
    rng = rng_for("frost texture", which, VERSION)
    sheet = _smooth_noise(rng, slope=1.8)
    crystals = _crystals(rng, recipe)
    value = _standardised(recipe.sheet * sheet + (1 - recipe.sheet) * _lit(rng, crystals, recipe))
    value = _standardised(value + recipe.skew * np.minimum(value**2, 6))
    texture = _tinted(value, _smooth_noise(rng, slope=2.2), recipe)
    texture.flags.writeable = False
    return texture


def _crystals(rng: np.random.Generator, recipe: Recipe) -> np.ndarray:
    """The thickness of the crystals, (640, 900) float64 from 0 to 255."""
    stems = _stems(rng, recipe)
    if recipe.crystals == "feathers":
        return _drawn(_with_twigs(rng, stems, recipe.n_twigs))
    if recipe.crystals == "blades":
        return _blades(rng, stems)
    both: np.ndarray = 0.25 * _blades(rng, stems) + 0.75 * _wrinkles(rng)
    return both


def _lit(rng: np.random.Generator, crystals: np.ndarray, recipe: Recipe) -> np.ndarray:
    """The crystals under light from the upper left, standardised; dense ones are lit the most."""
    soft = ndimage.gaussian_filter(crystals, 0.7)
    relief = soft - np.roll(soft, (1, 1), axis=(0, 1))
    body = soft + ndimage.gaussian_filter(crystals, 1.5)  # Thin ice between the twigs.
    shaded = (1 - recipe.relief) * _standardised(body) + recipe.relief * _standardised(relief)
    patches = np.clip(1 + 0.35 * _smooth_noise(rng, slope=1.6), 0.3, 1.8)
    grained = (1 - recipe.grain) * _standardised(shaded * patches) + recipe.grain * _smooth_noise(rng, slope=0.3)
    return _standardised(grained)


def _standardised(plane: np.ndarray) -> np.ndarray:
    standard: np.ndarray = (plane - plane.mean()) / plane.std()
    return standard


def _smooth_noise(rng: np.random.Generator, slope: float) -> np.ndarray:
    """Noise whose amplitude falls as frequency ** -slope, mean 0 and standard deviation 1."""
    height, width = SHAPE
    spectrum = np.fft.rfft2(rng.standard_normal(SHAPE))
    radius = np.hypot(np.fft.fftfreq(height)[:, np.newaxis], np.fft.rfftfreq(width))
    return _standardised(np.fft.irfft2(spectrum / (radius + 2 / width) ** slope, SHAPE))


def _stems(rng: np.random.Generator, recipe: Recipe) -> Lines:
    """Stems in bundles: neighbours point much the same way, as crystals that grew from one seed do."""
    n = recipe.n_stems
    seeds = _spread_out(rng, n // 7)
    towards = rng.uniform(0, 2 * np.pi, len(seeds))
    seed = rng.integers(len(seeds), size=n)
    shortest, longest = recipe.length
    return Lines(
        x=seeds[seed, 0] + rng.normal(0, shortest, n),
        y=seeds[seed, 1] + rng.normal(0, shortest, n),
        angle=towards[seed] + rng.normal(0, 0.45, n),
        length=shortest * (longest / shortest) ** rng.random(n),
        light=rng.uniform(0.45, 1, n),
    )


def _spread_out(rng: np.random.Generator, n: int) -> np.ndarray:
    """About n places all over the texture, one in each cell of a grid, (n, 2): x, y."""
    height, width = SHAPE
    cell = (height * width / n) ** 0.5
    rows, columns = np.mgrid[0 : height / cell, 0 : width / cell]
    corners = np.stack([columns.ravel(), rows.ravel()], axis=1)
    places: np.ndarray = (corners + rng.random(corners.shape)) * cell
    return places


def _wrinkles(rng: np.random.Generator) -> np.ndarray:
    """Thin folds of a sheet of ice, (640, 900) float64 from 0 to 255: zero lines of noise that was pushed about."""
    height, width = SHAPE
    down, right = np.mgrid[0:height, 0:width]
    push = 30 * _smooth_noise(rng, slope=1.8), 30 * _smooth_noise(rng, slope=1.8)
    folds = np.zeros(SHAPE)
    for slope in (0.9, 1.2):
        noise = ndimage.gaussian_filter(_smooth_noise(rng, slope=slope), (0.8, 2.5), mode="wrap")
        moved = ndimage.map_coordinates(noise, (down + push[0], right + push[1]), order=1, mode="grid-wrap")
        folds += np.exp(-np.abs(_standardised(moved)) * 4)
    return np.clip(folds * 127.5, 0, 255)


def _with_twigs(rng: np.random.Generator, stems: Lines, n_twigs: int) -> Lines:
    """The stems, twigs at sixty degrees on both sides of each, and twigs on the twigs."""
    twigs = _twigs(rng, stems, n_twigs, 0.5)
    small = _twigs(rng, twigs, max(n_twigs // 3, 2), 0.45)
    return _joined([stems, twigs, small])


def _twigs(rng: np.random.Generator, stems: Lines, n: int, ratio: float) -> Lines:
    """Twigs that grow shorter towards the tip of their stem."""
    place = np.tile(np.repeat((np.arange(n) + 0.5) / n, 2), len(stems.x))
    side = np.tile([1.0, -1.0], n * len(stems.x))
    parent = np.repeat(np.arange(len(stems.x)), 2 * n)
    along = place * stems.length[parent]
    return Lines(
        x=stems.x[parent] + along * np.cos(stems.angle[parent]),
        y=stems.y[parent] + along * np.sin(stems.angle[parent]),
        angle=stems.angle[parent] + side * (np.pi / 3 + rng.normal(0, 0.06, len(parent))),
        length=ratio * stems.length[parent] * (1.05 - place) * rng.uniform(0.6, 1, len(parent)),
        light=stems.light[parent] * rng.uniform(0.75, 1, len(parent)),
    )


def _joined(parts: list[Lines]) -> Lines:
    fields = ("x", "y", "angle", "length", "light")
    return Lines(*(np.concatenate([getattr(part, field) for part in parts]) for field in fields))


def _drawn(lines: Lines) -> np.ndarray:
    """The lines as brightness, (640, 900) float64 from 0 to 255; drawn at twice the size, so that edges are smooth."""
    height, width = SHAPE
    canvas = Image.new("L", (2 * width, 2 * height))
    pen = ImageDraw.Draw(canvas)
    visible = lines.length > 1
    ends = np.stack([lines.x, lines.y, *_tips(lines)], axis=1)[visible] * 2
    lights = (255 * lines.light[visible]).astype(int).tolist()
    thick = np.clip(lines.length[visible] / 18, 1, 4).round().astype(int).tolist()
    for end, light, stroke in zip(ends.tolist(), lights, thick, strict=True):
        pen.line(end, fill=light, width=stroke)
    return np.asarray(canvas.reduce(2), dtype=np.float64)


def _tips(lines: Lines) -> tuple[np.ndarray, np.ndarray]:
    return lines.x + lines.length * np.cos(lines.angle), lines.y + lines.length * np.sin(lines.angle)


def _blades(rng: np.random.Generator, stems: Lines) -> np.ndarray:
    """Narrow facets, each with a lit and a shaded half, over one another, (640, 900) float64 from 0 to 255."""
    height, width = SHAPE
    canvas = Image.new("L", (2 * width, 2 * height), 110)
    pen = ImageDraw.Draw(canvas)
    tip_x, tip_y = _tips(stems)
    half = stems.length * rng.uniform(0.03, 0.12, len(stems.x))
    off_x, off_y = -half * np.sin(stems.angle), half * np.cos(stems.angle)
    middle_x, middle_y = (2 * stems.x + tip_x) / 3, (2 * stems.y + tip_y) / 3
    left = np.stack([stems.x, stems.y, middle_x + off_x, middle_y + off_y, tip_x, tip_y], axis=1) * 2
    right = np.stack([stems.x, stems.y, middle_x - off_x, middle_y - off_y, tip_x, tip_y], axis=1) * 2
    shade = 255 * stems.light
    lit = np.clip(shade * (1 + 0.35 * np.sin(stems.angle)), 0, 255)
    dim = np.clip(shade * (1 - 0.35 * np.sin(stems.angle)), 0, 255)
    for one, other, bright, dark in zip(left.tolist(), right.tolist(), lit.tolist(), dim.tolist(), strict=True):
        pen.polygon(one, fill=int(bright))
        pen.polygon(other, fill=int(dark))
        pen.line(one[:2] + one[4:], fill=255, width=1)
    return np.asarray(canvas.reduce(2), dtype=np.float64)


def _tinted(value: np.ndarray, hue: np.ndarray, recipe: Recipe) -> np.ndarray:
    """The brightness in colour, (640, 900, 3) uint8; where the ice is thick it is whiter."""
    tint = np.array(recipe.tint)
    grey = tint.mean()
    colour = (tint - grey) * (1 - 0.25 * np.clip(hue, -2, 2))[..., np.newaxis]
    levels = grey + recipe.spread * value[..., np.newaxis] + colour
    texture: np.ndarray = np.clip(levels, 0, 255).astype(np.uint8)
    return texture
