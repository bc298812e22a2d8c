"""How far apart two pictures are if one of them may be a part of the other: cropped copies.

Each of the two is cut to windows of several sizes and places, and each window compared with the whole of the other one,
as `structure_features` compare two pictures: whatever their brightness and contrast. The closest window counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import pairwise

import numpy as np

from oodometer.build.testset.pairs import Pairs, by_distance
from oodometer.build.testset.pixel_features import SIDE
from oodometer.build.testset.ssim import C2, grey

WINDOWS = ((1.0, 1), (0.95, 3), (0.9, 4), (0.8, 6))
"""Sides of the windows, as shares of the picture's, and in how many places along a side: never two small pixels apart.
Benchmarks find copies of nine tenths of a side by them; copies of less than three quarters are no neighbours."""

FINE = 16
"""What is compared has so many pixels a side: fewer than the pictures, since a window lies between two places."""

FLAT = float(np.sqrt(C2 / 2))
"""One more number of each vector, by which flat pictures are alike."""

_IMAGES_AT_ONCE = 256


def crop_distances(pictures: np.ndarray, others: np.ndarray, pairs: Pairs) -> Pairs:
    """The same pairs with their distances as crops of each other, from 0 to 2; the closest first.

    Args:
        pictures, others: Where the first and the second of each pair are, (N, 32, 32, 3) uint8; the same where both
            are of one set.

    >>> whole = np.random.default_rng(0).integers(0, 256, (1, 32, 32, 3), np.uint8).repeat(2, 0)
    >>> same = Pairs(np.array([0]), np.array([1]), np.array([0.5]), np.array([False]))
    >>> float(crop_distances(whole, whole, same).distance[0].round(3))
    0.0
    """
    cosines = _either_way(pictures, others, pairs)
    distance = np.sqrt(np.maximum(2 - 2 * cosines.astype(np.float64), 0))
    return by_distance(Pairs(pairs.first, pairs.second, distance, pairs.mirrored))


def _either_way(pictures: np.ndarray, others: np.ndarray, pairs: Pairs) -> np.ndarray:
    """The largest cosine of a window of one of each pair and the whole of the other one, (P,)."""
    first, second, mirrored = pairs.first, pairs.second, pairs.mirrored
    if pictures is others:  # each picture is cut once, as the first of some pairs and as the second of others
        ends = np.concatenate([first, second]), np.concatenate([second, first])
        both = _best_windows(pictures, pictures, *ends, np.concatenate([mirrored, mirrored]))
        return np.asarray(both.reshape(2, -1).max(axis=0))
    best = np.maximum(
        _best_windows(pictures, others, first, second, mirrored),
        _best_windows(others, pictures, second, first, mirrored),
    )
    return np.asarray(best)


def _best_windows(
    pictures: np.ndarray, others: np.ndarray, cut: np.ndarray, whole: np.ndarray, mirrored: np.ndarray
) -> np.ndarray:
    """The largest cosine of a window of each cut picture and the whole of its other one, (P,)."""
    found = np.full(len(cut), -1.0, np.float32)
    for images, pairs in _blocks(cut):
        shown = _shown(others, whole[pairs], mirrored[pairs])
        starts = np.searchsorted(cut[pairs], images)
        values, lengths = _windows(pictures[images])
        for windows, length, rows in zip(values, lengths, _runs(starts, len(pairs)), strict=True):
            # The numbers of a direction have the mean 0, so the mean of the window need not be taken away.
            products = shown[rows, :-1] @ windows.T / FINE + shown[rows, -1:] * FLAT
            found[pairs[rows]] = (products / length).max(axis=1)
    return found


def _blocks(cut: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """A few pictures, and the pairs in which they are cut, in the order of the pictures."""
    order = np.argsort(cut, kind="stable")
    images, starts = np.unique(cut[order], return_index=True)
    ends = np.append(starts[1:], len(cut))
    for start in range(0, len(images), _IMAGES_AT_ONCE):
        some = slice(start, start + _IMAGES_AT_ONCE)
        yield images[some], order[starts[some][0] : ends[some][-1]]


def _runs(starts: np.ndarray, end: int) -> list[slice]:
    return [slice(*ends) for ends in pairwise([*starts.tolist(), end])]


def _shown(others: np.ndarray, whole: np.ndarray, mirrored: np.ndarray) -> np.ndarray:
    """The directions of the whole pictures of some pairs, (P, D); each picture is looked at once, both ways."""
    images, places = np.unique(whole, return_inverse=True)
    pictures = others[images]
    both = np.stack([_wholes(pictures), _wholes(pictures[:, :, ::-1])])
    return np.asarray(both[mirrored.astype(int), places])


def _windows(pictures: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The grey values of the windows of each picture, (N, 32, 32, 3) uint8 -> (N, W, 256) float32.

    And the lengths that they have as vectors, (N, W): see `_directions`.
    """
    values = grey(pictures).astype(np.float32)
    made = []
    for cutting in _cuttings():
        down = np.tensordot(values, cutting, axes=(1, 2))  # image, column, place, row
        cut = np.tensordot(down, cutting, axes=(1, 2))  # image, place, row, place across, column
        made.append(cut.transpose(0, 1, 3, 2, 4).reshape(len(values), -1, FINE * FINE))
    windows = np.concatenate(made, axis=1)
    squares = np.einsum("nwd,nwd->nw", windows, windows) / FINE**2 - windows.mean(axis=-1) ** 2
    return windows, np.sqrt(np.maximum(squares, 0) + FLAT**2)


def _wholes(pictures: np.ndarray) -> np.ndarray:
    """The directions of whole pictures, (N, 32, 32, 3) uint8 -> (N, D) float32."""
    block = SIDE // FINE
    values = grey(pictures).astype(np.float32).reshape(-1, FINE, block, FINE, block).mean(axis=(2, 4))
    return _directions(values.reshape(len(pictures), FINE * FINE))


def _directions(values: np.ndarray) -> np.ndarray:
    """Grey values as in `structure_features`: without their mean, one more number for flat ones, of length 1."""
    vectors = np.empty((*values.shape[:-1], values.shape[-1] + 1), np.float32)
    vectors[..., :-1] = (values - values.mean(axis=-1, keepdims=True)) / FINE
    vectors[..., -1] = FLAT
    return np.asarray(vectors / np.linalg.norm(vectors, axis=-1, keepdims=True))


@cache
def _cuttings() -> tuple[np.ndarray, ...]:
    """For each size of windows what cuts them out along a side, (places, 16, 32): one of them down, one across."""
    return tuple(
        np.stack([_cutting(share, place) for place in np.linspace(0, 1 - share, n)]).astype(np.float32)
        for share, n in WINDOWS
    )


def _cutting(share: float, start: float) -> np.ndarray:
    """Means of the pixels under each of 16 equal steps of a window, weighted by how much of each is covered."""
    ends = SIDE * (start + share * np.arange(FINE + 1) / FINE)
    pixels = np.arange(SIDE)
    covered = np.minimum(ends[1:, None], pixels + 1) - np.maximum(ends[:-1, None], pixels)
    return np.asarray(np.clip(covered, 0, None) * FINE / (SIDE * share))
