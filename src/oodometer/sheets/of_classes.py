"""A sheet of data: rows of classes, and columns of the sides of a shift or of the values of a column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from oodometer.core.condition import Condition, Shift
from oodometer.core.errors import UsageError, did_you_mean
from oodometer.core.labels import NUMBERS, LabelSpace
from oodometer.core.model import Model
from oodometer.core.preprocessing import Geometry
from oodometer.core.random import key_words
from oodometer.sheets.answers import answers
from oodometer.sheets.class_names import NO_CLASS, class_of_images
from oodometer.sheets.options import SheetOptions
from oodometer.sheets.page import Heading, Row, Tile, drawn, wrapped
from oodometer.sheets.shown import in_square, pixels_of

MOST_COLUMNS = 16
SIDE = 112
ROWS = 8
IMAGES_ACROSS = 6
"""About as many images beside each other are shown where nobody says how many of each."""


@dataclass(frozen=True)
class Column:
    """Images that stand below each other: of a condition those at the positions, each in the row of its name.

    Args:
        positions: (M,) into the data of the condition.
        rows: The row of each, (M,).
        view: How an image as it is is shown; None: whole. Beside the same one transformed, cut in the same way.
    """

    title: str
    condition: Condition
    positions: np.ndarray
    rows: np.ndarray
    view: Geometry | None = None

    def chosen(self, row: str, n: int, seed: int) -> list[int]:
        """So many images of a row; by their ids alone, so that two conditions of the same images show the same."""
        ids = self.condition.dataset.ids
        of_row = self.positions[self.rows == row].tolist()
        return sorted(of_row, key=lambda at: int(key_words("sheet", ids[at], seed=seed)[0]))[:n]


def sheet_of_classes(
    asked: Sequence[Condition | Shift], options: SheetOptions
) -> tuple[np.ndarray, list[str], list[str]]:
    """The sheet, (H, W, 3) uint8, and the names of its rows and columns."""
    conditions = _sides(asked, with_standard=not options.by)
    named = _named_classes(conditions, options.model)
    columns = _by_value(conditions, options.by, named) if options.by else _by_condition(conditions, named)
    if len(columns) == 1 and not options.by:  # which is clean or not; nothing stands beside it to tell it from
        columns = [replace(columns[0], title=conditions[0].dataset.name)]
    if len(columns) > MOST_COLUMNS:
        fewer = "choose another column for --by" if options.by else "name fewer with --on, or give one image"
        raise UsageError(f"{len(columns)} columns of images, more than {MOST_COLUMNS}; {fewer}")
    names = _rows(columns, options)
    per = options.per or max(1, IMAGES_ACROSS // len(columns))
    cells = [[_tiles(column, column.chosen(name, per, options.seed), options) for column in columns] for name in names]
    return _laid_out(names, columns, cells), names, [column.title for column in columns]


def _laid_out(names: Sequence[str], columns: Sequence[Column], cells: Sequence[Sequence[list[Tile]]]) -> np.ndarray:
    """The images of each row and column, (rows, columns), on a sheet; a column is as wide as its longest row."""
    widths = [max(len(row[place]) for row in cells) for place in range(len(columns))]
    if sum(widths) == 1:
        named = [
            replace(tiles[0], caption=f"{name}\n{tiles[0].caption}")
            for name, (tiles,) in zip(names, cells, strict=True)
        ]
        return drawn(list(wrapped(Row(columns[0].title, tuple(named)), IMAGES_ACROSS)))
    starts = np.cumsum([0, *widths[:-1]]).tolist()
    headings = [Heading(*one) for one in zip((column.title for column in columns), starts, widths, strict=True)]
    rows = [Row(name, tuple(_padded(row, widths))) for name, row in zip(names, cells, strict=True)]
    rows[0] = replace(rows[0], headings=tuple(headings))
    return drawn(rows, gaps=starts if max(widths) > 1 else ())


def _padded(row: Sequence[list[Tile]], widths: Sequence[int]) -> list[Tile]:
    """The images of a row, with empty places where a column has fewer of them."""
    return [tile for tiles, n in zip(row, widths, strict=True) for tile in [*tiles, *[Tile()] * (n - len(tiles))]]


def _sides(asked: Sequence[Condition | Shift], *, with_standard: bool) -> list[Condition]:
    """The conditions, each once; of a shift the standard side before the shifted one."""
    sides: dict[str, Condition] = {}
    for one in asked:
        pair = [one.standard, one.shifted] if isinstance(one, Shift) else [one]
        for side in pair if with_standard else pair[-1:]:
            sides.setdefault(side.name, side)
    return list(sides.values())


def _named_classes(conditions: Sequence[Condition], model: Model | None) -> LabelSpace | None:
    """What numbers stand for: the classes of the model, or of other data of the sheet."""
    spaces = [*([] if model is None else [model.space]), *(condition.dataset.space for condition in conditions)]
    return next((space for space in spaces if space.name != NUMBERS), None)


def _by_condition(conditions: Sequence[Condition], named: LabelSpace | None) -> list[Column]:
    columns = []
    for condition in conditions:
        rows, view = class_of_images(condition, named), _view_beside(condition, conditions)
        columns.append(Column(condition.name, condition, np.arange(len(rows)), rows, view))
    return columns


def _view_beside(condition: Condition, conditions: Sequence[Condition]) -> Geometry | None:
    """The view of a transform of the same images that is on the sheet too."""
    same = (one.transform for one in conditions if one.dataset is condition.dataset)
    return next((transform.view for transform in same if transform is not None), None)


def _by_value(conditions: Sequence[Condition], by: str, named: LabelSpace | None) -> list[Column]:
    """A column for each value; the rows are classes, or the values of another column."""
    rows_by, _, columns_by = by.rpartition("+")
    columns = []
    for condition in conditions:
        rows = np.char.replace(_texts(condition, rows_by), "_", " ") if rows_by else class_of_images(condition, named)
        values = _texts(condition, columns_by)
        for value in sorted(set(values.tolist())):
            positions = np.flatnonzero(values == value)
            title = value if len(conditions) == 1 else f"{condition.name}: {value}"
            columns.append(Column(title, condition, positions, rows[positions]))
    return columns


def _texts(condition: Condition, column: str) -> np.ndarray:
    columns = condition.dataset.columns
    if column not in columns:
        raise UsageError(f"{condition.dataset.name}: no column {column!r}{_known(column, columns)}")
    return np.array([str(value) for value in columns[column].tolist()])


def _known(column: str, columns: Mapping[str, np.ndarray]) -> str:
    return did_you_mean(column, columns) if columns else "; it has none"


def _rows(columns: Sequence[Column], options: SheetOptions) -> list[str]:
    """The names of the rows, in alphabetical order: those that most columns have, and among these drawn by the seed."""
    filled: dict[str, int] = {}
    for column in columns:
        for name in set(column.rows.tolist()):
            filled[name] = filled.get(name, 0) + 1
    if options.classes:
        return [_named(name, filled) for name in options.classes]

    def rank(name: str) -> tuple[bool, int, int]:
        return name != NO_CLASS, -filled[name], int(key_words("sheet row", name, seed=options.seed)[0])

    return sorted(sorted(filled, key=rank)[: options.rows or ROWS])


def _named(name: str, known: Mapping[str, int]) -> str:
    for one in known:
        if one.lower() == name.strip().lower().replace("_", " "):
            return one
    raise UsageError(f"no images of {name.strip()!r}{did_you_mean(name.strip(), known)}")


def _tiles(column: Column, positions: Sequence[int], options: SheetOptions) -> list[Tile]:
    side = options.side or SIDE
    shown = [in_square(pixels_of(column.condition, position, column.view), side) for position in positions]
    if options.model is None or not positions:
        return [Tile(pixels) for pixels in shown]
    said = answers(options.model, column.condition, positions)
    return [Tile(pixels, str(answer), answer.colour) for pixels, answer in zip(shown, said, strict=True)]
