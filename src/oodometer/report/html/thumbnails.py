"""Pictures inside a page, as ``data:`` addresses: small ones, and ones whose every pixel is kept."""

from __future__ import annotations

import base64
import io
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

SIDE = 128
"""The longest side, in pixels."""

SHARPEST = 48
"""Images with no longer side than this are enlarged in whole steps, so that each of their pixels is seen."""


def thumbnail(pixels: np.ndarray) -> str:
    """An image as a ``data:`` address, its longest side at most 128 pixels; (H, W, 3) uint8.

    Icons of few pixels are kept as they are, without loss; photographs as WebP.
    """
    from PIL import Image, features

    image = Image.fromarray(pixels)
    longest = max(image.size)
    if longest <= SHARPEST:
        steps = SIDE // longest
        enlarged = image.resize((image.width * steps, image.height * steps), Image.Resampling.NEAREST)
        return _address(enlarged, "PNG", optimize=True)
    image.thumbnail((SIDE, SIDE), Image.Resampling.LANCZOS)
    return _address(image, "WEBP" if features.check("webp") else "JPEG", quality=80)


def every_pixel(pixels: np.ndarray) -> str:
    """An image as a ``data:`` address at its own size, without any loss; (H, W, 3) uint8."""
    from PIL import Image, features

    image = Image.fromarray(pixels)
    if max(image.size) > SHARPEST and features.check("webp"):
        return _address(image, "WEBP", lossless=True, quality=60, method=4)
    return _address(image, "PNG", optimize=True)


def _address(image: Picture, kind: str, **options: int | bool) -> str:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return f"data:image/{kind.lower()};base64,{base64.b64encode(buffer.getvalue()).decode()}"
