"""Zoom blur: the mean of the image and its enlargements."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy import ndimage

from oodometer.corruptions.gaussian import as_bytes, draw_nothing
from oodometer.corruptions.kernels.blur import ABOVE
from oodometer.corruptions.kernels.zoom import add_layer, packed, unpacked
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


@lru_cache(maxsize=16)
def layers_of(strength: Strength, height: int, width: int) -> list[tuple[tuple[np.ndarray, np.ndarray], Axis]]:
    """The columns and the rows of each layer but the first, as `add_layer` takes them."""
    factors = zooms(strength)
    scale = 1 / (256 * (len(factors) + 1))
    layers: list[tuple[tuple[np.ndarray, np.ndarray], Axis]] = []
    for zoom in factors[1:]:
        at, before, after = enlarged_axis(width, float(zoom))
        if before[-1] + after[-1] == 0:  # outside, as above: share 256 of the blank column at the end
            at, after = np.append(at[:-1], width - 1), np.append(after[:-1], 1.0)
        columns = at.astype(np.uint32), np.round(after * 256).astype(np.uint64)
        row, above, below = enlarged_axis(height, float(zoom))
        layers.append((columns, (row, (above * scale).astype(np.float32), (below * scale).astype(np.float32))))
    return layers


def fast_zoom_blur(image: np.ndarray, rng: np.random.Generator, strength: Strength) -> np.ndarray:  # noqa: ARG001
    """The same, with weights out of 256 across and float32 down."""
    height, width = image.shape[:2]
    layers = layers_of(strength, height, width)
    words = np.zeros((height, width + 1), dtype=np.uint64)
    packed(image, words[:, :width])
    total = np.empty((height, width * 4), dtype=np.float32)
    np.multiply(words[:, :width].view(np.uint16), np.float32(2 / (len(layers) + 2)), out=total)
    wide = np.zeros((height + 1, width), dtype=np.uint64)
    for columns, rows in layers:
        add_layer(words, columns, rows, wide, total)
    out = np.empty_like(image)
    unpacked(total, ABOVE, out)
    return out


zoom_blur = Corruption("zoom_blur", "common", draw=draw_nothing, apply=apply_zoom_blur, fast=fast_zoom_blur)
