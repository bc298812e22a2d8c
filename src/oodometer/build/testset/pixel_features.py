"""Features of the pixels of a small picture: as they are, and without what brightness and contrast do to them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from oodometer.build.testset.features import Features
from oodometer.build.testset.ssim import C2, grey
from oodometer.core.errors import DataError, UsageError
from oodometer.core.preprocessing import Geometry

SIDE = 32
SMALL = Geometry(SIDE, SIDE)
"""How every image is made small: the whole of it, whatever its shape, so that a stretched copy is a copy."""


def small_pictures(images: Iterable[np.ndarray]) -> np.ndarray:
    """The small picture of each image, (H, W, 3) uint8 of any size -> (N, 32, 32, 3) uint8.

    From a data set, ``dataset.views(index, [SMALL])`` gives the same.
    """
    pictures = [_small(image, place) for place, image in enumerate(images)]
    return np.stack(pictures) if pictures else np.empty((0, SIDE, SIDE, 3), np.uint8)


def mirrored_pictures(pictures: np.ndarray) -> np.ndarray:
    """The pictures with left and right exchanged, (N, H, W, 3).

    >>> mirrored_pictures(np.array([[[[1, 1, 1], [2, 2, 2]]]])).tolist()
    [[[[2, 2, 2], [1, 1, 1]]]]
    """
    return pictures[:, :, ::-1]


def pixel_features(pictures: np.ndarray, *, side: int = SIDE) -> Features:
    """Vectors whose distance is the root mean square difference of the pixels, from 0 to 1; (N, 32, 32, 3) uint8.

    Args:
        side: Of fewer and larger pixels, means over blocks. By 4 or 8 a copy that was cropped or moved a little stays a
            near neighbour, and more that is no copy becomes one; no distance is larger than by 32.

    >>> black, white = np.zeros((32, 32, 3), np.uint8), np.full((32, 32, 3), 255, np.uint8)
    >>> vectors = pixel_features(np.stack([black, white]), side=8).vectors
    >>> vectors.shape, round(float(np.linalg.norm(vectors[0] - vectors[1])), 6)
    ((2, 192), 1.0)
    """
    _check(pictures)
    if side < 1 or SIDE % side:
        raise UsageError(f"pixels of {side} blocks a side: must divide {SIDE}, for example 8")
    block = SIDE // side
    vectors = np.empty((len(pictures), side * side * 3), np.float32)
    for rows in _slices(len(pictures)):
        parts = pictures[rows].reshape(-1, side, block, side, block, 3)
        vectors[rows] = parts.mean(axis=(2, 4), dtype=np.float64).reshape(-1, side * side * 3)
    vectors /= np.float32(255 * np.sqrt(side * side * 3))
    return Features(vectors, mirror_order=_mirror_order(side, 3))


def structure_features(pictures: np.ndarray) -> Features:
    """Vectors of length 1 whose neighbours are alike in SSIM, whatever their brightness; (N, 32, 32, 3) uint8.

    The grey values without their mean, one more number √(C2 / 2), all divided by their length. With σ for deviations
    over the whole picture, the cosine of two such vectors is (σxy + C2 / 2) / √((σx² + C2 / 2) (σy² + C2 / 2)), and
    the part of SSIM for contrast and structure is (2 σxy + C2) / (σx² + σy² + C2): the same above the line, below it
    the arithmetic mean in place of the geometric one. So where SSIM over the whole picture as one window is at least s,
    and s is not negative, the cosine is at least s, and the distance at most √(2 (1 - s)): `structure_radius`.

    The usual SSIM, the mean over small windows, is the distance of no vectors, and no such bound is known for it: take
    the pairs within a wide radius, and compute it for them (`ssim_of_pairs`).

    >>> dim = (np.arange(3072) % 200).astype(np.uint8).reshape(1, 32, 32, 3)
    >>> one, other = structure_features(np.concatenate([dim, dim + 50])).vectors
    >>> one.shape, round(float(np.linalg.norm(one - other)), 6)
    ((1025,), 0.0)
    """
    _check(pictures)
    vectors = np.empty((len(pictures), SIDE * SIDE + 1), np.float32)
    for rows in _slices(len(pictures)):
        values = grey(pictures[rows]).reshape(-1, SIDE * SIDE)
        vectors[rows, :-1] = (values - values.mean(axis=1, keepdims=True)) / SIDE
        vectors[rows, -1] = np.sqrt(C2 / 2)
        vectors[rows] /= np.linalg.norm(vectors[rows], axis=1, keepdims=True)
    return Features(vectors, mirror_order=np.append(_mirror_order(SIDE, 1), SIDE * SIDE))


def structure_radius(least_ssim: float) -> float:
    """How far apart structure vectors can be whose pictures, as one window, have at least this SSIM.

    >>> structure_radius(1.0), round(structure_radius(0.875), 6)
    (0.0, 0.5)
    """
    if not 0 <= least_ssim <= 1:
        raise UsageError(f"an SSIM of {least_ssim}: must lie in [0, 1], for example 0.8")
    return float(np.sqrt(2 * (1 - least_ssim)))


_AT_ONCE = 4096


def _small(image: np.ndarray, place: int) -> np.ndarray:
    from oodometer.data.resize import plain_resize

    if image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8 or 0 in image.shape:
        raise DataError(f"image {place} is of shape {image.shape} and type {image.dtype}: expected (H, W, 3) uint8")
    return plain_resize(np.ascontiguousarray(image), SMALL)


def _check(pictures: np.ndarray) -> None:
    if pictures.shape[1:] != (SIDE, SIDE, 3) or pictures.dtype != np.uint8:
        raise DataError(
            f"pictures of shape {pictures.shape} and type {pictures.dtype}: expected (N, {SIDE}, {SIDE}, 3) uint8, as "
            "small_pictures makes them"
        )


def _slices(n: int) -> list[slice]:
    return [slice(start, start + _AT_ONCE) for start in range(0, n, _AT_ONCE)]


def _mirror_order(side: int, channels: int) -> np.ndarray:
    """Which number of a picture stands at each place of its mirrored copy, both in a row."""
    places = np.arange(side * side * channels).reshape(side, side, channels)
    return np.ascontiguousarray(places[:, ::-1]).reshape(-1)
