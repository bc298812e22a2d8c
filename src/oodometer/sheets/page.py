"""Rows of images with their names on white: how a sheet is laid out and drawn."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from PIL import Image, ImageDraw, ImageFont

MARGIN, LINE = 6, 18
"""Between images, and the height of a line of text, in pixels."""
GAP = 14
"""Between columns that are of different things."""
TEXT_SIZE = 13
LEAST_WIDTH = 320
"""Of a sheet, so that the names of its rows can be read."""


@dataclass(frozen=True)
class Tile:
    """An image and what stands beneath it.

    Args:
        pixels: (H, W, 3) uint8; None: the place stays empty.
        caption: Each line is cut to the width of the image.
    """

    pixels: np.ndarray | None = None
    caption: str = ""
    colour: str = "black"


@dataclass(frozen=True)
class Heading:
    """What stands above some images of a row.

    Args:
        start: The first of them.
        span: How many.
    """

    text: str
    start: int
    span: int = 1


@dataclass(frozen=True)
class Row:
    """Images beside each other, their name, and what stands above the columns that begin here."""

    name: str
    tiles: tuple[Tile, ...]
    headings: tuple[Heading, ...] = ()


@dataclass(frozen=True)
class Layout:
    """Where things are.

    Args:
        cell: Width and height of the largest image.
        gaps: The columns before which there is more room.
    """

    cell: tuple[int, int]
    n_across: int
    gaps: Collection[int]

    def left(self, across: int) -> int:
        """Where a column begins."""
        return MARGIN + across * (self.cell[0] + MARGIN) + GAP * sum(1 for gap in self.gaps if 0 < gap <= across)

    @property
    def width(self) -> int:
        """Of the sheet."""
        return max(LEAST_WIDTH, self.left(self.n_across - 1) + self.cell[0] + MARGIN)

    def height(self, row: Row) -> int:
        """Of a row with all that is written about it."""
        n_lines = self.lines_above(row) + bool(row.name) + _lines_beneath(row)
        return self.cell[1] + n_lines * LINE + 2 * MARGIN

    def room(self, heading: Heading) -> int:
        """How wide a heading may be."""
        return self.left(heading.start + heading.span - 1) + self.cell[0] - self.left(heading.start)

    def lines_above(self, row: Row) -> int:
        """Of its longest heading."""
        return max((len(broken(one.text, self.room(one))) for one in row.headings), default=0)


def drawn(rows: Sequence[Row], *, gaps: Collection[int] = ()) -> np.ndarray:
    """The sheet, (H, W, 3) uint8; every image is on it pixel by pixel as it is.

    Args:
        gaps: The columns before which there is more room.
    """
    from PIL import Image, ImageDraw

    layout = Layout(_cell(rows), max(len(row.tiles) for row in rows), gaps)
    sheet = Image.new("RGB", (layout.width, MARGIN + sum(layout.height(row) for row in rows)), "white")
    pen, top = ImageDraw.Draw(sheet), MARGIN
    for row in rows:
        _draw_row(sheet, pen, row, layout, top)
        top += layout.height(row)
    return np.asarray(sheet)


def _cell(rows: Sequence[Row]) -> tuple[int, int]:
    shapes = [tile.pixels.shape for row in rows for tile in row.tiles if tile.pixels is not None]
    return max(shape[1] for shape in shapes), max(shape[0] for shape in shapes)


def _lines_beneath(row: Row) -> int:
    return max(len(tile.caption.splitlines()) for tile in row.tiles)


def _draw_row(sheet: Image.Image, pen: ImageDraw.ImageDraw, row: Row, layout: Layout, top: int) -> None:
    from PIL import Image

    n_lines = layout.lines_above(row)
    for heading in row.headings:
        room = layout.room(heading)
        lines = broken(heading.text, room)
        for number, line in enumerate(lines, start=n_lines - len(lines)):
            _write(pen, line, (layout.left(heading.start), top + number * LINE), room, "gray")
    top += n_lines * LINE
    _write(pen, row.name, (MARGIN, top), layout.width - 2 * MARGIN, "black")
    top += LINE if row.name else 0
    for across, tile in enumerate(row.tiles):
        left = layout.left(across)
        if tile.pixels is not None:
            sheet.paste(Image.fromarray(tile.pixels), (left, top))
        for number, line in enumerate(tile.caption.splitlines()):
            _write(pen, line, (left, top + 1 + layout.cell[1] + number * LINE), layout.cell[0], tile.colour)


def _write(pen: ImageDraw.ImageDraw, text: str, corner: tuple[int, int], width: int, colour: str) -> None:
    pen.text(corner, cut_to(text, width), fill=colour, font=_font())


def cut_to(text: str, width: int) -> str:
    """As much of a text as fits into so many pixels; dots where something is missing.

    >>> cut_to("golden retriever", 200), cut_to("golden retriever", 60)
    ('golden retriever', 'golden ...')
    """
    if _font().getlength(text) <= width:
        return text
    while text and _font().getlength(f"{text}...") > width:
        text = text[:-1]
    return f"{text}..."


def broken(text: str, width: int) -> list[str]:
    """A text in lines of so many pixels, broken behind a hyphen, slash or blank.

    >>> broken("imagenetv2-matched-frequency", 120)
    ['imagenetv2-', 'matched-frequency']
    """
    lines = [""]
    for piece in re.findall(r"[^-/ ]*[-/ ]?", text):
        if lines[-1] and _font().getlength(lines[-1] + piece) > width:
            lines.append("")
        lines[-1] += piece
    return lines


@cache
def _font() -> ImageFont.FreeTypeFont:
    from PIL import ImageFont

    font = ImageFont.load_default(size=TEXT_SIZE)
    assert isinstance(font, ImageFont.FreeTypeFont)  # a size asks for it
    return font


def wrapped(row: Row, most: int) -> Iterator[Row]:
    """A long row as several; each image keeps what stands above it.

    Args:
        most: Images beside each other.
    """
    n_rows = -(-len(row.tiles) // most)
    across = -(-len(row.tiles) // n_rows)
    for start in range(0, len(row.tiles), across):
        here = range(start, start + across)
        headings = tuple(Heading(one.text, one.start - start, one.span) for one in row.headings if one.start in here)
        yield Row(row.name if start == 0 else "", row.tiles[start : start + across], headings)


def beside(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Two sheets as one, (H, W, 3)."""
    height = max(len(left), len(right))
    return np.concatenate([_as_high(left, height), _as_high(right, height)], axis=1)


def _as_high(sheet: np.ndarray, height: int) -> np.ndarray:
    return np.pad(sheet, ((0, height - len(sheet)), (0, 0), (0, 0)), constant_values=255)
