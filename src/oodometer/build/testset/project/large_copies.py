"""Whole images of a project, encoded anew for people who compare them: a stranger's bytes are never shown."""

from __future__ import annotations

import io
from pathlib import Path

from PIL import Image

from oodometer.build.testset.project.image_files import read_kept
from oodometer.data.decode import decode

LARGE_SIDE = 1600
"""Pixels of the longer side at most: more than a screen shows of one of two images."""

FEW_PIXELS = 256
"""Up to this side an image stays lossless: each of its pixels is seen."""

QUALITY = 92


def large_copy(folder: Path, file: str, side: int = LARGE_SIDE) -> tuple[str, bytes]:
    """The type and content of a copy of the whole image, upright, of at most so many pixels a side; never enlarged."""
    image = decode(read_kept(folder, file)).convert("RGB")
    image.thumbnail((side, side), Image.Resampling.LANCZOS)
    out = io.BytesIO()
    if max(image.size) <= FEW_PIXELS:
        image.save(out, "PNG")
        return "image/png", out.getvalue()
    image.save(out, "JPEG", quality=QUALITY)
    return "image/jpeg", out.getvalue()
