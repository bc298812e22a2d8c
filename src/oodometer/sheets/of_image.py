"""A sheet of one image: as it is, and under every shift that can be made of it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from oodometer.core.condition import Condition, Shift
from oodometer.core.dataset import Dataset
from oodometer.core.errors import DataError, UsageError
from oodometer.core.labels import numbered
from oodometer.core.model import Model
from oodometer.data.source import EncodedSource, ImageFiles
from oodometer.sheets.answers import Answer, answers
from oodometer.sheets.page import Heading, Row, Tile, beside, drawn, wrapped
from oodometer.sheets.shown import LEAST, enlarged, in_square, pixels_of

ROWS_OF_A_BLOCK = 6
"""With more rows than that, half of them stand beside the others."""
MOST_ACROSS = 7


def image_alone(path: str | os.PathLike[str]) -> Dataset:
    """The image of a file as a data set of one, of no class."""
    place = Path(path)
    if not place.is_file():
        raise DataError(f"{place}: no such image")
    return Dataset(
        name=place.stem,
        ids=(place.stem,),
        labels=np.array([-1]),
        space=numbered(1),
        source=EncodedSource(ImageFiles((str(place),))),
        rows=np.array([0]),
    )


def sheet_of_image(shifts: Sequence[Condition | Shift], *, model: Model | None, side: int | None) -> np.ndarray:
    """Rows of corruptions, columns of severities, the image as it is before each row, (H, W, 3) uint8.

    Every pixel is there as it is, unless a side is given: making images smaller would blur away what noise looks like.
    """
    rows = [_row(name, members, model, side) for name, members in _grouped(shifts).items()]
    if len(rows) == 1:
        return drawn(list(wrapped(rows[0], MOST_ACROSS)))
    plain = [row if _begins(rows, at) else Row(row.name, row.tiles) for at, row in enumerate(rows)]
    if len(rows) <= ROWS_OF_A_BLOCK:
        return drawn(plain)
    half = -(-len(rows) // 2)
    return beside(drawn(plain[:half]), drawn([rows[half], *plain[half + 1 :]]))


def _begins(rows: Sequence[Row], at: int) -> bool:
    """Whether the columns of a row are others than those of the row above it."""
    return at == 0 or rows[at].headings != rows[at - 1].headings


def _grouped(shifts: Sequence[Condition | Shift]) -> dict[str, list[Shift]]:
    """What stands in one row: the severities of a corruption, the parts of a shift."""
    of_image: list[Shift] = []
    for shift in shifts:
        if not isinstance(shift, Shift) or shift.shifted.transform is None:
            raise UsageError(f"{shift.name}: can't be made of one image alone; leave it out, or give a data set")
        of_image.append(shift)
    members = {(one.family.name, one.family.corruption) for one in of_image if one.family is not None}
    is_twice = len({corruption for _, corruption in members}) < len(members)
    rows: dict[str, list[Shift]] = {}
    for shift in of_image:
        rows.setdefault(_name_of_row(shift, with_family=is_twice), []).append(shift)
    return rows


def _name_of_row(shift: Shift, *, with_family: bool) -> str:
    if shift.family is None:
        return shift.name.rpartition("/")[0] or shift.name
    called = shift.family.corruption.replace("_", " ")
    return f"{called} ({shift.family.name})" if with_family else called


def _row(name: str, members: Sequence[Shift], model: Model | None, side: int | None) -> Row:
    first = members[0].shifted.transform
    assert first is not None  # those without were refused
    canonical = members[0].standard.dataset.views(0, [first.view])[0]
    shown = [canonical, *(pixels_of(shift.shifted, 0) for shift in members)]
    said = _answers(model, [members[0].standard, *(shift.shifted for shift in members)])
    tiles = tuple(
        Tile(_sized(pixels, side), "" if answer is None else str(answer))
        for pixels, answer in zip(shown, said, strict=True)
    )
    headings = ["clean", *(_heading(shift) for shift in members)]
    return Row(name, tiles, tuple(Heading(text, place) for place, text in enumerate(headings)))


def _answers(model: Model | None, conditions: Sequence[Condition]) -> list[Answer | None]:
    return [None if model is None else answers(model, condition, [0])[0] for condition in conditions]


def _sized(pixels: np.ndarray, side: int | None) -> np.ndarray:
    if side is not None:
        return in_square(pixels, side)
    return enlarged(pixels, -(-LEAST // min(pixels.shape[:2])))


def _heading(shift: Shift) -> str:
    parameters = {} if shift.shifted.transform is None else shift.shifted.transform.parameters
    if "degrees" in parameters:
        return f"{parameters['degrees']}°"
    if shift.family is not None:
        return f"{'frame' if 'frame' in parameters else 'severity'} {shift.family.severity}"
    return shift.name.rpartition("/")[2]
