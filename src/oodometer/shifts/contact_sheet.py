"""A sheet of one image under every corruption at every severity, with names."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from oodometer.corruptions.corrupt import corrupt

MARGIN, CAPTION = 6, 18


def contact_sheet(image: np.ndarray, names: Sequence[str], *, key: str, seed: int = 0, thumb: int = 112) -> np.ndarray:
    """Rows of corruptions, columns of severities 1 to 5, a caption above each row, (H, W, 3) uint8."""
    from PIL import Image, ImageDraw, ImageFont

    height, width = image.shape[:2]
    scale = thumb / min(height, width)
    cell = (max(1, round(width * scale)), max(1, round(height * scale)))
    columns = 2 if len(names) > 6 else 1
    n_rows = -(-len(names) // columns)
    block = (5 * (cell[0] + MARGIN) + 2 * MARGIN, cell[1] + CAPTION + MARGIN)
    sheet = Image.new("RGB", (columns * block[0] + MARGIN, n_rows * block[1] + MARGIN), "white")
    pen, font = ImageDraw.Draw(sheet), ImageFont.load_default(size=13)
    for place, name in enumerate(names):
        left, top = (place // n_rows) * block[0] + MARGIN, (place % n_rows) * block[1] + MARGIN
        pen.text((left, top), name.replace("_", " "), fill="black", font=font)
        for severity in range(1, 6):
            made = Image.fromarray(corrupt(image, name, severity, key=key, seed=seed))
            at = (left + (severity - 1) * (cell[0] + MARGIN), top + CAPTION)
            sheet.paste(made.resize(cell, Image.Resampling.LANCZOS), at)
    return np.asarray(sheet)
