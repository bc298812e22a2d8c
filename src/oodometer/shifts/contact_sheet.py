"""A sheet of one image under every corruption at every severity, with names, beside the image as it is."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from oodometer.core.errors import DataError
from oodometer.core.talk import Tell, unheard
from oodometer.corruptions.corrupt import corrupt
from oodometer.corruptions.jit import tell_if_compiling
from oodometer.corruptions.registry import COMMON, EXTRA
from oodometer.data.decode import decode
from oodometer.data.resize import as_view
from oodometer.shifts.corrupted_files import parse_names, parse_severities
from oodometer.shifts.unfinished_files import nothing_unfinished, write_whole
from oodometer.shifts.write_corrupted import DEFAULT, CorruptOptions

if TYPE_CHECKING:
    from PIL import Image

MARGIN, CAPTION = 6, 18
SEVERITIES = (1, 2, 3, 4, 5)
LEAST = 96
"""Smaller images are enlarged by a whole number, so that each is at least so many pixels wide and high."""


@dataclass(frozen=True)
class Plan:
    """Where things are on a sheet: blocks of a row for each corruption, the image as it is first in each.

    Args:
        cell: Width and height of an image, in pixels.
        n_rows: Corruptions below each other.
        n_across: Images beside each other in a block.
    """

    cell: tuple[int, int]
    n_rows: int
    n_across: int
    n_blocks: int

    @property
    def size(self) -> tuple[int, int]:
        """Of the sheet."""
        width, height = self._block
        return self.n_blocks * width + MARGIN, CAPTION + self.n_rows * height + 2 * MARGIN

    @property
    def _block(self) -> tuple[int, int]:
        return self.n_across * (self.cell[0] + MARGIN) + 2 * MARGIN, self.cell[1] + CAPTION + MARGIN

    def corner(self, row: int, across: int) -> tuple[int, int]:
        """Of an image: of the so-manieth corruption, so far to the right."""
        block, down = divmod(row, self.n_rows)
        width, height = self._block
        left = block * width + MARGIN + across * (self.cell[0] + MARGIN)
        return left, 2 * CAPTION + MARGIN + down * height


def contact_sheet(
    image: np.ndarray, names: Sequence[str], *, key: str, seed: int = 0, severities: Sequence[int] = SEVERITIES
) -> np.ndarray:
    """Rows of corruptions, columns of severities, the image as it is before each row, (H, W, 3) uint8.

    Every pixel of the images is there as it is: small images are enlarged by a whole number, and none is made smaller,
    since that would blur away what noise and pixels look like.
    """
    from PIL import Image, ImageDraw, ImageFont

    times = -(-LEAST // min(image.shape[:2]))
    n_blocks = 2 if len(names) > 6 else 1
    cell = times * image.shape[1], times * image.shape[0]
    plan = Plan(cell, -(-len(names) // n_blocks), 1 + len(severities), n_blocks)
    sheet = Image.new("RGB", plan.size, "white")
    pen, font = ImageDraw.Draw(sheet), ImageFont.load_default(size=13)
    for block in range(n_blocks):
        for across, text in enumerate(["clean", *(f"severity {one}" for one in severities)]):
            left, top = plan.corner(block * plan.n_rows, across)
            pen.text((left, top - 2 * CAPTION), text, fill="gray", font=font)
    for row, name in enumerate(names):
        left, top = plan.corner(row, 0)
        pen.text((left, top - CAPTION), name.replace("_", " "), fill="black", font=font)
        made = (corrupt(image, name, severity, key=key, seed=seed) for severity in severities)
        for across, pixels in enumerate([image, *made]):
            sheet.paste(_enlarged(pixels, times), plan.corner(row, across))
    return np.asarray(sheet)


def _enlarged(pixels: np.ndarray, times: int) -> Image.Image:
    """Each pixel as a square of so many."""
    from PIL import Image

    return Image.fromarray(pixels.repeat(times, axis=0).repeat(times, axis=1))


def write_sheet(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    corruptions: str = "common",
    severities: str = "1-5",
    options: CorruptOptions = DEFAULT,
    tell: Tell = unheard,
) -> list[str]:
    """Draw one image file under every corruption at every severity; the names of those that were drawn.

    Args:
        target: The picture; its ending says of which kind.
        corruptions: common (and extra), bar, all, or names with commas.
        severities: For example ``1-5`` or ``1,3``.
        tell: Told what is waited for.
    """
    from PIL import Image

    place = Path(target)
    _check_picture(place, force=options.force)
    levels = parse_severities(severities)
    image = _read(Path(source), options)
    tell_if_compiling(tell)
    names = [*COMMON, *EXTRA] if corruptions == "common" else parse_names(corruptions)
    drawn = contact_sheet(image, names, key=Path(source).stem, seed=options.seed, severities=levels)
    sheet = Image.fromarray(drawn)
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
