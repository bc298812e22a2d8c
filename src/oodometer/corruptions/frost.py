"""Frost: the image and a random crop of a frost texture, in fixed shares.

The textures are our own, made by code, unless another source is named: ``published`` for the photographs of the
published generator, found where the pip package ``imagecorruptions`` is installed, or a folder of images.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

from oodometer.core.errors import DataError, UsageError
from oodometer.corruptions.frost_textures import VERSION, procedural_textures
from oodometer.corruptions.kernels.frost import frost_kernel
from oodometer.corruptions.registry import Corruption
from oodometer.corruptions.severities import Strength, side_for

VARIABLE = "OODOMETER_FROST_TEXTURES"
"""The environment variable that names the source for a process and its children."""

PUBLISHED = ("frost1.png", "frost2.png", "frost3.png", "frost4.jpg", "frost5.jpg")
"""The photographs that the published generator uses: it never draws the sixth of its six."""

SCALES = {32: 0.2, 64: 0.3, 224: 1.0}
"""Size of the textures for images of this side, as published; other sides follow the nearest, as the constants do."""

SUFFIXES = (".bmp", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp")


@dataclass(frozen=True, eq=False)
class FrostSource:
    """Where the textures come from.

    Args:
        name: What goes into a condition's key: the source and a digest of its pixels, or the version of our own.
        load: The textures, (H, W, 3) uint8 each, read-only. Called when an image is frosted: the name alone is cheap.
    """

    name: str
    load: Callable[[], tuple[np.ndarray, ...]]


_lock = Lock()
_making = Lock()  # Threads that begin together wait for one of them to make the textures.
_chosen: list[FrostSource] = []


def set_frost_textures(source: str | os.PathLike[str]) -> str:
    """Take frost from a source from now on, in this process; its name comes back.

    Args:
        source: ``procedural``, ``published``, or a folder of images.
    """
    made = source_of(source)
    with _lock:
        _chosen[:] = [made]
    return made.name


def frost_source() -> str:
    """The name of the source in use, which differs wherever a texture differs.

    >>> frost_source()
    'procedural-2'
    """
    return _current().name


def _current() -> FrostSource:
    with _lock:
        if not _chosen:
            _chosen.append(source_of(os.environ.get(VARIABLE) or "procedural"))
        return _chosen[0]


def source_of(source: str | os.PathLike[str]) -> FrostSource:
    """A source by its name or folder; files are read at once, our own textures are made when they are needed."""
    if source == "procedural":
        return FrostSource(f"procedural-{VERSION}", procedural_textures)
    if source == "published":
        textures = published_textures()
        return FrostSource(f"published-{_digest(textures)}", lambda: textures)
    textures = textures_from(source)
    return FrostSource(f"folder-{_digest(textures)}", lambda: textures)


def _digest(textures: Sequence[np.ndarray]) -> str:
    state = hashlib.blake2b(digest_size=6)
    for texture in textures:
        state.update(repr(texture.shape).encode() + texture.tobytes())
    return state.hexdigest()


def published_textures() -> tuple[np.ndarray, ...]:
    """The five photographs, from the pip package ``imagecorruptions``, which is located and never imported."""
    spec = importlib.util.find_spec("imagecorruptions")
    for place in (spec.submodule_search_locations or []) if spec else []:
        paths = [Path(place) / "frost" / name for name in PUBLISHED]
        if all(path.is_file() for path in paths):
            return tuple(_read(path) for path in paths)
    raise UsageError(
        "frost textures: the published ones are not installed: pip install --no-deps imagecorruptions==1.1.2"
    )


def textures_from(folder: str | os.PathLike[str]) -> tuple[np.ndarray, ...]:
    """The images of a folder in the order of their names, (H, W, 3) uint8 each."""
    place = Path(folder)
    if not place.is_dir():
        raise UsageError(f"frost textures: {str(folder)!r} is no folder; give procedural, published, or a folder")
    paths = sorted(path for path in place.iterdir() if path.suffix.lower() in SUFFIXES)
    if not paths:
        raise DataError(f"frost textures: no images in {place} ({', '.join(SUFFIXES)})")
    return tuple(_read(path) for path in paths)


def _read(path: Path) -> np.ndarray:
    try:
        with Image.open(path) as opened:
            texture = np.array(ImageOps.exif_transpose(opened).convert("RGB"))
    except (OSError, UnidentifiedImageError) as error:
        raise DataError(f"frost textures: {path} cannot be read as an image") from error
    texture.flags.writeable = False
    return texture


class FrostDraws(NamedTuple):
    """The random numbers of one image's frost, uniform in [0, 1): which texture, and where its crop begins."""

    texture: float
    top: float
    left: float


def draw_frost(rng: np.random.Generator, height: int, width: int, strength: Strength) -> FrostDraws:  # noqa: ARG001
    """Which texture, and where."""
    return FrostDraws(*rng.random(3).tolist())


def shrunk(texture: np.ndarray, scale: float) -> np.ndarray:
    """The texture at a smaller size, each pixel interpolated between the nearest of the texture's, not averaged.

    As OpenCV's linear interpolation does, which the published generators use.
    """
    if scale == 1:
        return texture
    height, width = (round(side * scale) for side in texture.shape[:2])
    rows, down = _between(height, texture.shape[0], scale)
    columns, right = _between(width, texture.shape[1], scale)
    right, down = right[:, np.newaxis], down[:, np.newaxis, np.newaxis]
    wide = texture[:, columns] * (1 - right) + texture[:, columns + 1] * right
    small: np.ndarray = np.floor(wide[rows] * (1 - down) + wide[rows + 1] * down + 0.5).astype(np.uint8)
    small.flags.writeable = False
    return small


def _between(n_small: int, n_large: int, scale: float) -> tuple[np.ndarray, np.ndarray]:
    """For each new pixel: the old one before it, and the share of the next; pixel centres correspond."""
    place = np.clip((np.arange(n_small) + 0.5) / scale - 0.5, 0, n_large - 1)
    before = np.minimum(place.astype(np.int64), max(n_large - 2, 0))
    return before, place - before


class Place(NamedTuple):
    """A texture and where in it a crop begins."""

    texture: np.ndarray
    top: int
    left: int


def place_of(textures: Sequence[np.ndarray], draws: FrostDraws, height: int, width: int) -> Place:
    """The crop of (H, W) pixels that these draws take; a texture smaller than the image goes on mirrored."""
    texture = textures[int(draws.texture * len(textures))]
    rows, columns = texture.shape[:2]
    if height > rows or width > columns:
        more = (height if height > rows else 0), (width if width > columns else 0)
        texture = np.pad(texture, ((0, more[0]), (0, more[1]), (0, 0)), mode="symmetric")
    # The published code never takes the last position.
    n_tops, n_lefts = (rows if height > rows else rows - height), (columns if width > columns else columns - width)
    return Place(texture, int(draws.top * n_tops), int(draws.left * n_lefts))


@lru_cache(maxsize=16)
def _scaled(source: FrostSource, scale: float) -> tuple[np.ndarray, ...]:
    return tuple(shrunk(texture, scale) for texture in source.load())


def _place(draws: FrostDraws, height: int, width: int) -> Place:
    scale = SCALES[side_for("frost", height, width)]
    source = _current()
    with _making:
        textures = _scaled(source, scale)
    return place_of(textures, draws, height, width)


def apply_frost(image: np.ndarray, draws: FrostDraws, strength: Strength) -> np.ndarray:
    """The image behind frost."""
    keep, weight = strength
    height, width = image.shape[:2]
    texture, top, left = _place(draws, height, width)
    iced = keep * image + weight * texture[top : top + height, left : left + width]
    result: np.ndarray = np.clip(iced, 0, 255).astype(np.uint8)
    return result


def fast_frost(image: np.ndarray, rng: np.random.Generator, strength: Strength) -> np.ndarray:
    """The same in one compiled pass; the textures are prepared once."""
    keep, weight = strength
    height, width = image.shape[:2]
    texture, top, left = _place(draw_frost(rng, height, width, strength), height, width)
    return frost_kernel(image, texture, (top, left), (keep, weight))


frost = Corruption("frost", "common", draw=draw_frost, apply=apply_frost, fast=fast_frost)
