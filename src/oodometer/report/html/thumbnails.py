"""Small pictures inside a page, as ``data:`` addresses."""

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
        return _address(image.resize((image.width * steps, image.height * steps), Image.Resampling.NEAREST), "PNG")
    image.thumbnail((SIDE, SIDE), Image.Resampling.LANCZOS)
    return _address(image, "WEBP" if features.check("webp") else "JPEG")


def _address(image: Picture, kind: str) -> str:
    buffer = io.BytesIO()
    image.save(buffer, kind, **({"optimize": True} if kind == "PNG" else {"quality": 80}))
    return f"data:image/{kind.lower()};base64,{base64.b64encode(buffer.getvalue()).decode()}"
