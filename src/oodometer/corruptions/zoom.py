"""Zoom blur: the mean of the image and its enlargements."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy import ndimage

from oodometer.corruptions.gaussian import as_bytes, draw_nothing
from oodometer.corruptions.kernels.zoom import SPARE, add_layers, as_floats
from oodometer.corruptions.registry import Corruption
from oodometer.corruptions.severities import Strength

Axis = tuple[np.ndarray, np.ndarray, np.ndarray]
"""For each place of an enlarged axis: the place before it in the image, its weight, and that of the next place."""


def zooms(strength: Strength) -> np.ndarray:
    """The factors, the first of them 1; rounding of floats decides whether the end is among them.

    >>> [len(zooms(one)) for one in ((1.11, 0.01), (1.16, 0.01), (1.21, 0.02), (1.26, 0.02), (1.31, 0.03))]
    [12, 16, 11, 13, 11]
    """
    end, step = strength
    return np.arange(1, end, step)


def centre_zoom(image: np.ndarray, zoom: float) -> np.ndarray:
    """The centre of the image enlarged to its size or a little more, and cut at the right and the bottom."""
    height, width = image.shape[:2]
    rows, columns = math.ceil(height / zoom), math.ceil(width / zoom)
    top, left = (height - rows) // 2, (width - columns) // 2
    centre = image[top : top + rows, left : left + columns]
    enlarged: np.ndarray = ndimage.zoom(centre, (zoom, zoom, 1), order=1)
    return enlarged[:height, :width]


def apply_zoom_blur(image: np.ndarray, draws: None, strength: Strength) -> np.ndarray:  # noqa: ARG001
    """The mean of the image (which is also the first layer) and its enlargements."""
    pixels = (image / 255.0).astype(np.float32)
    factors = zooms(strength)
    total = np.zeros_like(pixels)
    for zoom in factors:
        total += centre_zoom(pixels, zoom)
    return as_bytes((pixels + total) / (len(factors) + 1))


@lru_cache(maxsize=512)
def enlarged_axis(size: int, zoom: float) -> Axis:
    """How `centre_zoom` interpolates along an axis: the corners of the centre stay corners."""
    kept = math.ceil(size / zoom)
    made = round(kept * zoom)
    places = np.arange(size) * ((kept - 1) / (made - 1))
    before = np.minimum(places.astype(np.int64), kept - 1)
    share = places - before
    # A place beyond the last by rounding counts as outside for scipy, which has 0 there.
    inside = places <= kept - 1
    return before + (size - kept) // 2, (1 - share) * inside, share * inside


def pieces_of(before: np.ndarray) -> np.ndarray:
    """Eight values of an enlarged row at a time: where they come from in a row of pixels, and where they go, (P, 2).

    As long as each pixel follows on the one before, so do all values. A last piece that is longer than that is written
    over by the next one.

    >>> pieces_of(np.array([0, 1, 2, 2, 3])).tolist()
    [[0, 0], [8, 8], [6, 9]]
    """
    gaps = before - np.arange(len(before))
    ends = np.flatnonzero(np.diff(gaps, append=gaps[-1] - 1)) + 1
    starts = np.r_[0, ends[:-1]]
    to = np.concatenate([np.arange(3 * a, 3 * b, 8) for a, b in zip(starts, ends, strict=True)])
    return np.stack([to + 3 * gaps[to // 3], to], axis=1)


@lru_cache(maxsize=16)
def layers_of(strength: Strength, height: int, width: int) -> tuple[Axis, Axis]:
    """The columns and the rows of all layers but the first, as `add_layers` takes them."""
    factors = zooms(strength)
    scale = 1 / (len(factors) + 1)
    across = [enlarged_axis(width, float(zoom)) for zoom in factors[1:]]
    at, before, after = (np.stack(part) for part in zip(*across, strict=True))
    outside = before[:, -1] + after[:, -1] == 0  # as above: all of it the blank pixel at the end
    at[outside, -1], after[outside, -1] = width - 1, 1.0
    down = [enlarged_axis(height, float(zoom)) for zoom in factors[1:]]
    row, above, below = (np.stack(part) for part in zip(*down, strict=True))
    pieces = [pieces_of(one) for one in at]
    first = np.cumsum([0, *map(len, pieces)])
    shares = np.pad(np.repeat(after, 3, axis=1), ((0, 0), (0, SPARE))).astype(np.float32)
    return (
        (np.concatenate(pieces).astype(np.int32), first, shares),
        (row, (above * scale).astype(np.float32), (below * scale).astype(np.float32)),
    )


def fast_zoom_blur(image: np.ndarray, rng: np.random.Generator, strength: Strength) -> np.ndarray:  # noqa: ARG001
    """The same, in float32, without making the layers."""
    height, width = image.shape[:2]
    columns, rows = layers_of(strength, height, width)
    out = np.empty_like(image, order="C")
    add_layers(as_floats(np.ascontiguousarray(image)), columns, rows, 2 / (len(columns[2]) + 2), out)
    return out


zoom_blur = Corruption("zoom_blur", "common", draw=draw_nothing, apply=apply_zoom_blur, fast=fast_zoom_blur)
