"""Resize and centre crop, bit for bit as Pillow does it on the whole image, but only where the crop will look."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from PIL import Image

from oodometer.core.preprocessing import Geometry
from oodometer.data.decode import check_size, pixels_of

_FILTERS = {
    "nearest": Image.Resampling.NEAREST,
    "box": Image.Resampling.BOX,
    "bilinear": Image.Resampling.BILINEAR,
    "hamming": Image.Resampling.HAMMING,
    "bicubic": Image.Resampling.BICUBIC,
    "lanczos": Image.Resampling.LANCZOS,
}
# How far each filter reaches, in source pixels at scale 1 (Pillow, src/libImaging/Resample.c).
_SUPPORTS = {"box": 0.5, "bilinear": 1.0, "hamming": 1.0, "bicubic": 2.0, "lanczos": 3.0}


def as_view(image: Image.Image, view: Geometry) -> np.ndarray:
    """The pixels of an image of mode L or RGB that the view shows, (view.height, view.width, 3) uint8."""
    size = resized_size(image.size, view)
    check_size(*size)
    left, top = _offset(size[0], view.width), _offset(size[1], view.height)
    if _cropping_pays(image.size, size, view):
        return pixels_of(_resample_part(image, size, (left, top), view))
    whole = image if size == image.size else image.resize(size, _FILTERS[view.interpolation])
    return pixels_of(whole.crop((left, top, left + view.width, top + view.height)))


def plain_resize(pixels: np.ndarray, view: Geometry) -> np.ndarray:
    """Pixels that are already a crop, brought to the view's size whole: never resized-and-cropped a second time."""
    return as_view(Image.fromarray(pixels), replace(view, resize=None))


def resized_size(size: tuple[int, int], view: Geometry) -> tuple[int, int]:
    """The (width, height) between resize and crop, by torchvision's rule: the longer side is rounded down.

    >>> resized_size((500, 375), Geometry(224, 224, resize=256)), resized_size((500, 375), Geometry(224, 224))
    ((341, 256), (224, 224))
    """
    if view.resize is None:
        return view.width, view.height
    width, height = size
    if width <= height:
        return view.resize, int(view.resize * height / width)
    return int(view.resize * width / height), view.resize


def _offset(size: int, crop: int) -> int:
    return round((size - crop) / 2)  # torchvision's rule: halves go to the even number


def _cropping_pays(old: tuple[int, int], new: tuple[int, int], view: Geometry) -> bool:
    """Whether to work on a part: not if that is nearly all, and only where Pillow's horizontal pass comes first.

    Pillow 13 begins with the vertical pass if the height shrinks by more than twice as many pixels as the width
    (src/libImaging/Resample.c), some versions before it if the image is a hundred times as high as wide; nearest is
    not computed in passes at all.
    """
    (width, height), (new_width, new_height) = old, new
    vertical_first = height - new_height > max(0, 2 * (width - new_width)) or height > 100 * width
    if old == new or view.interpolation == "nearest" or vertical_first:
        return False
    return view.width * view.height < 0.85 * new_width * new_height


def _resample_part(image: Image.Image, size: tuple[int, int], corner: tuple[int, int], view: Geometry) -> Image.Image:
    """What cropping the whole resized image would give, from the rows and columns that it depends on."""
    (new_width, new_height), (left, top) = size, corner
    band, first_row = _needed_rows(image, new_height, top, view)
    band = _resample_columns(band, new_width, left, view)
    return _resample_rows(band, first_row, (image.size[1], new_height), top, view)


def _needed_rows(image: Image.Image, new_height: int, top: int, view: Geometry) -> tuple[Image.Image, int]:
    """The rows of the image that the crop depends on, with a row or two to spare, and the number of the first."""
    width, height = image.size
    scale = height / new_height
    reach = _SUPPORTS[view.interpolation] * max(1.0, scale)
    first = max(0, int((top + 0.5) * scale - reach) - 1)
    end = min(height, int((top + view.height - 0.5) * scale + reach) + 2)
    if end - first > 0.9 * height:
        return image, 0
    return image.crop((0, first, width, end)), first


def _resample_columns(band: Image.Image, new_width: int, left: int, view: Geometry) -> Image.Image:
    """The horizontal pass, which Pillow does first; the result has the columns of the crop alone."""
    width, rows = band.size
    method = _FILTERS[view.interpolation]
    if width != new_width and _box_is_exact(width, new_width):
        scale = width / new_width
        return band.resize((view.width, rows), method, box=(left * scale, 0, (left + view.width) * scale, rows))
    if width != new_width:
        band = band.resize((new_width, rows), method)
    return band.crop((left, 0, left + view.width, rows))


def _resample_rows(
    band: Image.Image, first_row: int, heights: tuple[int, int], top: int, view: Geometry
) -> Image.Image:
    """The vertical pass over the crop's columns, from the old height to the new one."""
    height, new_height = heights
    method = _FILTERS[view.interpolation]
    if height == new_height:
        return band.crop((0, top - first_row, view.width, top - first_row + view.height))
    if _box_is_exact(height, new_height):
        scale = height / new_height
        box = (0, top * scale - first_row, view.width, (top + view.height) * scale - first_row)
        return band.resize((view.width, view.height), method, box=box)
    # The weights of a row depend on where it lies in the whole image, so the band is put back in its place; what
    # comes out of the empty rows is cut off.
    if band.size[1] != height:
        canvas = Image.new(band.mode, (view.width, height))
        canvas.paste(band, (0, first_row))
        band = canvas
    return band.resize((view.width, new_height), method).crop((0, top, view.width, top + view.height))


def _box_is_exact(old: int, new: int) -> bool:
    """Whether the edges of any box of output pixels are exact in float32, in which Pillow keeps boxes.

    They are when old / new is a fraction over a power of two; otherwise a box gives slightly other weights.

    >>> _box_is_exact(375, 256), _box_is_exact(500, 341)
    (True, False)
    """
    denominator = new // math.gcd(old, new)
    return denominator & (denominator - 1) == 0 and old * denominator <= 1 << 24
