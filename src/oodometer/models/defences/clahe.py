"""Contrast limited adaptive histogram equalisation: each place gets the contrast that its neighbourhood lacks.

Zuiderveld, Graphics Gems IV, 1994; with OpenCV's defaults (clip limit 40, 8 x 8 tiles) and its arithmetic, as a
preprocessing in Hendrycks & Dietterich 2019. They do not say what is done about colours: here brightness (luma) is
equalised, and all three channels of a pixel move by as much.
"""

from __future__ import annotations

import numpy as np

from oodometer.models.defences.registry import Defence, on_pixels

CLIP, TILES, LEVELS = 40.0, 8, 256


def equalised(image: np.ndarray) -> np.ndarray:
    """The image with its brightness equalised, (H, W, 3) uint8."""
    luma = luma_of(image)
    moved = equalised_grey(luma).astype(np.int16) - luma
    return np.asarray(np.clip(image.astype(np.int16) + moved[..., None], 0, 255), dtype=np.uint8)


def luma_of(image: np.ndarray) -> np.ndarray:
    """Brightness by the weights of ITU-R BT.601, (H, W, 3) uint8 -> (H, W) uint8.

    >>> luma_of(np.array([[[255, 0, 0], [255, 255, 255]]], dtype=np.uint8)).tolist()
    [[76, 255]]
    """
    weighted = image.astype(np.uint32) @ np.array([4899, 9617, 1868], dtype=np.uint32)  # of 16,384
    return ((weighted + (1 << 13)) >> 14).astype(np.uint8)


def equalised_grey(grey: np.ndarray) -> np.ndarray:
    """One channel, (H, W) uint8 -> (H, W) uint8: between the curves of the four nearest tiles."""
    height, width = grey.shape
    padded = _padded(grey)
    tile = padded.shape[0] // TILES, padded.shape[1] // TILES
    curves = _curves(padded, tile)
    above, below, down = _nearest(height, tile[0])
    left, right, across = _nearest(width, tile[1])

    def at(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        return np.asarray(curves[rows[:, None], columns[None, :], grey])

    over = at(above, left) * (1 - across) + at(above, right) * across
    under = at(below, left) * (1 - across) + at(below, right) * across
    mixed = over * (1 - down)[:, None] + under * down[:, None]
    return np.asarray(np.clip(np.rint(mixed), 0, 255), dtype=np.uint8)


def _padded(grey: np.ndarray) -> np.ndarray:
    """The image cut into whole tiles: where it is not, mirrored below and to the right, as OpenCV does."""
    height, width = grey.shape
    if height % TILES == 0 and width % TILES == 0:
        return grey
    more = TILES - height % TILES, TILES - width % TILES
    # Mirrors of mirrors where an image is smaller than what is added.
    return np.pad(grey, ((0, more[0]), (0, more[1])), mode="reflect" if min(grey.shape) > 1 else "edge")


def _curves(padded: np.ndarray, tile: tuple[int, int]) -> np.ndarray:
    """What each level becomes in each tile, (TILES, TILES, LEVELS) float32."""
    height, width = tile
    tiles = padded.reshape(TILES, height, TILES, width).swapaxes(1, 2).reshape(TILES * TILES, height * width)
    offsets = LEVELS * np.arange(len(tiles))[:, None]
    counts = np.bincount((tiles + offsets).ravel(), minlength=LEVELS * len(tiles)).reshape(len(tiles), LEVELS)
    limit = max(int(CLIP * height * width / LEVELS), 1)
    clipped = np.minimum(counts, limit)
    spread = np.stack(
        [_spread(row, int(over)) for row, over in zip(clipped, (counts - clipped).sum(axis=1), strict=True)]
    )
    scale = np.float32(LEVELS - 1) / np.float32(height * width)
    levels = np.rint(np.cumsum(spread, axis=1).astype(np.float32) * scale)
    return np.asarray(np.clip(levels, 0, 255), dtype=np.float32).reshape(TILES, TILES, LEVELS)


def _spread(counts: np.ndarray, over: int) -> np.ndarray:
    """The counts with what was cut off given to all levels alike, the rest to every so many of them."""
    each, rest = divmod(over, LEVELS)
    counts = counts + each
    if rest:
        counts[: rest * max(LEVELS // rest, 1) : max(LEVELS // rest, 1)] += 1
    return counts


def _nearest(size: int, tile: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of each row (or column) the tile before it and after it, and how far it is from the one to the other."""
    places = np.arange(size, dtype=np.float32) * np.float32(1 / tile) - np.float32(0.5)
    before = np.floor(places).astype(np.int64)
    share = (places - before).astype(np.float32)
    return np.maximum(before, 0), np.minimum(before + 1, TILES - 1), share


CLAHE = Defence({"clip": CLIP, "tiles": TILES, "on": "luma"}, on_pixels(equalised))
