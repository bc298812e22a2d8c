"""A sheet of one image under every corruption at every severity, with names."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from oodometer.core.errors import DataError
from oodometer.core.talk import Tell, unheard
from oodometer.corruptions.corrupt import corrupt
from oodometer.corruptions.jit import tell_if_compiling
from oodometer.corruptions.registry import COMMON, EXTRA
from oodometer.data.decode import decode
from oodometer.data.resize import as_view
from oodometer.shifts.corrupted_files import parse_names
from oodometer.shifts.unfinished_files import nothing_unfinished, write_whole
from oodometer.shifts.write_corrupted import DEFAULT, CorruptOptions

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


def write_sheet(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    corruptions: str = "common",
    options: CorruptOptions = DEFAULT,
    tell: Tell = unheard,
) -> list[str]:
    """Draw one image file under every corruption at every severity; the names of those that were drawn.

    Args:
        target: The picture; its ending says of which kind.
        corruptions: common (and extra), bar, all, or names with commas.
        tell: Told what is waited for.
    """
    from PIL import Image

    place = Path(target)
    _check_picture(place, force=options.force)
    image = _read(Path(source), options)
    tell_if_compiling(tell)
    names = [*COMMON, *EXTRA] if corruptions == "common" else parse_names(corruptions)
    sheet = Image.fromarray(contact_sheet(image, names, key=Path(source).stem, seed=options.seed))
    picture = io.BytesIO()
    try:
        sheet.save(picture, format=Image.registered_extensions()[place.suffix.lower()])
    except (OSError, ValueError, KeyError) as error:
        raise DataError(f"{place}: no such picture can be made ({error}); use for example .png or .jpg") from error
    with nothing_unfinished(place.parent):
        write_whole(place.parent, place, lambda file: file.write(picture.getvalue()))
    return names


def _check_picture(place: Path, *, force: bool) -> None:
    """Errors before anything is computed."""
    from PIL import Image

    if place.exists() and not force:
        raise DataError(f"{place}: is there already; choose another name, or --force")
    if place.suffix.lower() not in Image.registered_extensions():
        raise DataError(f"{place}: no kind of picture that is known by its name; use for example .png or .jpg")
    if not place.parent.is_dir():
        raise DataError(f"{place}: there is no folder {place.parent}; make it first")


def _read(source: Path, options: CorruptOptions) -> np.ndarray:
    try:
        return as_view(decode(source.read_bytes()), options.view)
    except OSError as error:
        raise DataError(f"{source}: can't be read as an image ({error.strerror})") from error
    except DataError as error:
        raise DataError(f"{source}: {error}") from error
