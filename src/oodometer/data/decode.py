"""Encoded bytes to 8-bit grey or RGB pixels; every kind of image that Pillow reads is brought there on purpose."""

from __future__ import annotations

import io
import warnings
from functools import cache
from typing import IO

import numpy as np
from PIL import Image, UnidentifiedImageError

from oodometer.core.errors import DataError
from oodometer.core.limits import MAX_PIXELS, MAX_SIDE

# EPS is left out on purpose: Pillow would hand it to Ghostscript, and a picture must not run a program.
_FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF", "PPM", "MPO", "JPEG2000", "AVIF", "TGA", "ICO", "DDS", "QOI")

_ORIENTATION = 0x0112
_TRANSPOSES = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}


def decode(content: bytes) -> Image.Image:
    """The image in mode L or RGB, upright, transparent parts on white; of several frames the first.

    Raises:
        DataError: It is not an image, cut short, damaged or a decompression bomb; the message does not name it.
    """
    if not content:
        raise DataError("the file is empty")
    _silence_pillow()
    try:
        image: Image.Image = Image.open(io.BytesIO(content), formats=_formats())
        check_size(*image.size)
        image.load()
        orientation = image.getexif().get(_ORIENTATION, 1)  # after load: for TIFF, Pillow has turned it already
        pixels = _grey_or_rgb(image)
    except (DataError, MemoryError):
        raise
    except Image.DecompressionBombError as error:
        raise DataError("too many pixels; it may be a decompression bomb") from error
    except UnidentifiedImageError as error:
        raise DataError("not an image that can be read") from error
    except Exception as error:  # the readers of damaged files raise almost anything
        raise DataError(f"damaged image ({' '.join(str(error).split()) or type(error).__name__})") from error
    return pixels.transpose(_TRANSPOSES[orientation]) if orientation in _TRANSPOSES else pixels


def header_of(file: IO[bytes]) -> tuple[str, int, int]:
    """The kind of an encoded image as Pillow calls it, its width and its height, from the first bytes alone.

    Raises:
        DataError: It does not begin as an image does; the message does not name it.
    """
    _silence_pillow()
    try:
        with Image.open(file, formats=_formats()) as image:
            return image.format or "", image.width, image.height
    except Image.DecompressionBombError as error:
        raise DataError("too many pixels; it may be a decompression bomb") from error
    except Exception as error:  # the readers of damaged files raise almost anything
        raise DataError("not an image that can be read") from error


def pixels_of(image: Image.Image) -> np.ndarray:
    """The pixels of an image of mode L or RGB, (H, W, 3) uint8."""
    return np.array(image if image.mode == "RGB" else image.convert("RGB"))


def check_size(width: int, height: int) -> None:
    """Refuse what would fill the memory."""
    if width * height > MAX_PIXELS:
        raise DataError(f"{width}x{height} pixels are too many (at most {MAX_PIXELS}); it may be a decompression bomb")
    if max(width, height) > MAX_SIDE:
        raise DataError(f"{width}x{height} pixels: no side may be longer than {MAX_SIDE}; crop it")


@cache
def _formats() -> tuple[str, ...]:
    Image.init()
    return tuple(name for name in _FORMATS if name in Image.OPEN)


def _silence_pillow() -> None:
    # `warnings.catch_warnings` is not safe with threads, so the rule stays: Pillow's warnings (corrupt EXIF data,
    # many pixels) are either errors here or of no interest.
    if not warnings.filters or "PIL" not in str(warnings.filters[0][3]):
        warnings.filterwarnings("ignore", module=r"PIL\.")


def _grey_or_rgb(image: Image.Image) -> Image.Image:
    if image.mode.startswith("I"):
        return _from_16_bit(image)
    if image.mode == "F":
        raise DataError("its pixels are floating-point numbers; save it with 8 or 16 bits")
    if image.has_transparency_data and _key_fits(image):
        layer = image.convert("RGBA")
        return Image.alpha_composite(Image.new("RGBA", layer.size, "white"), layer).convert("RGB")
    if image.mode == "1":
        return image.convert("L")
    return image if image.mode in ("L", "RGB") else image.convert("RGB")


def _key_fits(image: Image.Image) -> bool:
    """Whether a transparent colour, if there is one, is of the 8 bits that the pixels have."""
    key = image.info.get("transparency")
    return not isinstance(key, tuple) or max(key) <= 255


def _from_16_bit(image: Image.Image) -> Image.Image:
    """Grey of 16 bits scaled to 8 (Pillow's own conversion would clip it)."""
    values = np.asarray(image).astype(np.int64)
    if values.min() < 0 or values.max() > 65535:
        raise DataError("its pixels have 32 bits; save it with 8 or 16")
    grey = (values + 128) // 257
    key = image.info.get("transparency")
    if isinstance(key, int):
        grey[values == key] = 255
    return Image.fromarray(grey.astype(np.uint8))
