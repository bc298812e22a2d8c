"""A sheet of augmented images: each original beside several draws."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np

from oodometer.core.dataset import Dataset
from oodometer.core.errors import DataError
from oodometer.core.random import rng_for
from oodometer.sheets.page import Heading, Row, Tile, drawn
from oodometer.sheets.shown import in_square
from oodometer.train.augment.copying import Copying
from oodometer.train.writing import write_whole

TILE = 128
"""Pixels of an image on the sheet; smaller ones are enlarged by a whole number."""


def check_picture(path: Path, *, force: bool) -> None:
    """Errors before anything is computed."""
    from PIL import Image

    if path.exists() and not force:
        raise DataError(f"{path}: is there already; choose another name, or --force")
    if path.suffix.lower() not in Image.registered_extensions():
        raise DataError(f"{path}: no kind of picture that is known by its name; use for example .png or .jpg")


def write_preview(path: Path, dataset: Dataset, copying: Copying, seed: int, *, n_rows: int, n_draws: int) -> None:
    """Draw some images, chosen by chance, and what becomes of each in several draws."""
    from PIL import Image

    chosen = np.sort(rng_for("preview", seed=seed).permutation(len(dataset))[:n_rows])
    rows = [_row(dataset, int(row), copying, seed, n_draws) for row in chosen]
    plain = [rows[0], *(Row(row.name, row.tiles) for row in rows[1:])]
    content = io.BytesIO()
    Image.fromarray(drawn(plain)).save(content, Image.registered_extensions()[path.suffix.lower()])
    write_whole(path, content.getvalue())


def _row(dataset: Dataset, row: int, copying: Copying, seed: int, n_draws: int) -> Row:
    image, name = dataset.image(row), dataset.ids[row]
    tiles, headings = [Tile(in_square(image, TILE))], [Heading("original", 0)]
    for number in range(n_draws):
        # Weights are drawn once for a call: a call of its own for each tile shows as many draws of them.
        made = copying.draw(image, name, seed + 7919 * row + number)
        for part, copy in made.items():
            headings.append(Heading(part, len(tiles)))
            tiles.append(Tile(in_square(copy, TILE)))
    return Row(name, tuple(tiles), tuple(headings))
