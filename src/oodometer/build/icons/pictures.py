"""From art to pixels on white, and from pixels to a PNG file whose bytes are the same everywhere."""

from __future__ import annotations

import struct
import zlib
from typing import Any

import numpy as np

from oodometer.core.errors import DataError, MissingExtraError
from oodometer.data.decode import decode

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_STORED_BYTES = 65535


def check_renderer() -> str:
    """The version of the renderer; an error that names the extra where it is not installed."""
    return str(_resvg().__version__)


def _resvg() -> Any:
    try:
        import resvg_py
    except ImportError as error:
        raise MissingExtraError("icons", "icons") from error
    return resvg_py


def draw(svg: str, size: int) -> np.ndarray:
    """The pixels of an SVG file on white, (size, size, 3) uint8; no fonts of this machine are used."""
    try:
        png = _resvg().svg_to_bytes(svg_string=svg, width=size, height=size, background="white", skip_system_fonts=True)
    except ValueError as error:
        raise DataError(f"can't be drawn ({error})") from error
    return pixels_of_png(bytes(png), size)


def pixels_of_png(content: bytes, size: int) -> np.ndarray:
    """The pixels of an encoded picture on white, (size, size, 3) uint8: averaged where it is larger, else bicubic."""
    from PIL import Image

    image = decode(content).convert("RGB")
    if image.size != (size, size):
        larger = min(image.size) > size
        image = image.resize((size, size), Image.Resampling.BOX if larger else Image.Resampling.BICUBIC)
    return np.asarray(image)


def png_of(pixels: np.ndarray) -> bytes:
    """The PNG file of (H, W, 3) uint8 pixels, stored without compression.

    Compressed bytes depend on the version of the compressor; these are the same wherever they are made.

    >>> decode(png_of(np.full((2, 2, 3), 7, np.uint8))).getpixel((1, 1))
    (7, 7, 7)
    """
    height, width, _ = pixels.shape
    rows = np.zeros((height, 1 + 3 * width), dtype=np.uint8)  # each begins with its filter: none
    rows[:, 1:] = pixels.reshape(height, -1)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"".join(
        [_SIGNATURE, _chunk(b"IHDR", header), _chunk(b"IDAT", _stored(rows.tobytes())), _chunk(b"IEND", b"")]
    )


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _stored(data: bytes) -> bytes:
    """A zlib stream of stored blocks (RFC 1950 and 1951)."""
    parts = [b"\x78\x01"]
    for start in range(0, len(data), _STORED_BYTES):
        block = data[start : start + _STORED_BYTES]
        is_last = start + _STORED_BYTES >= len(data)
        parts += [struct.pack("<BHH", is_last, len(block), len(block) ^ 0xFFFF), block]
    return b"".join([*parts, struct.pack(">I", zlib.adler32(data))])
