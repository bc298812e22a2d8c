"""A table that fits a page in LaTeX: how wide its columns are, in which letters, on how many lines, in which blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from oodometer.document.layout import Cell, Layout
from oodometer.document.table import Column

PAGE = 345.0
r"""Points of ``\textwidth`` in ``article``; hardly a class has less."""

HALF_PAGE = 229.0
"""Points of a column in ``article`` with two of them."""

BOLD = 1.15
INDENT = 10.0
LEAST = 22.0
"""Points to which a title may be broken, however narrow its numbers are."""

# Computer Modern at 10 pt, from its font metrics; other fonts of papers are narrower.
LETTERS = {
    letter: points
    for letters, points in (
        (".,:;!'`[]Iijl|", 2.9),
        (" -", 3.4),
        ("_ft(){}rs", 3.9),
        ("0123456789", 5.0),
        ('abcdeghknopquvxyzJ/"?', 5.4),
        ("ABCDEFGHKLNOPQRSTUVXYZ+−±=<>$ρτ", 7.7),
        ("mwMW%@&#", 9.0),
    )
    for letter in letters
}
BY_NUMBER = 45.0
"""What fonts lack is written by its number."""


@dataclass(frozen=True)
class Form:
    """How a table is set.

    Args:
        letters, small: Those of numbers and of intervals.
        scale, small_scale: How wide these are against 10 pt.
        gap: Points on either side of a column.
        below: Whether intervals stand below their numbers.
        most: Points to which texts and titles are broken into lines; None: they are not.
    """

    letters: str = r"\footnotesize"
    small: str = r"\tiny"
    scale: float = 0.85
    small_scale: float = 0.68
    gap: int = 4
    below: bool = False
    most: float | None = None


LARGE, USUAL = Form(r"\small", r"\scriptsize", 0.926, 0.797), Form()
MOST = 120.0
FORMS = (
    LARGE,
    USUAL,
    replace(LARGE, most=MOST),
    replace(USUAL, most=MOST),
    replace(USUAL, most=MOST, below=True, gap=3),
)
"""From the one that is read best to the one that needs least room."""


@dataclass(frozen=True)
class Line:
    """One line of a cell: a text, or a number with its interval, and how wide it is in points.

    Args:
        is_more: Whether it goes on with the text above.
    """

    text: str
    interval: str = ""
    bold: bool = False
    is_more: bool = False
    width: float = 0.0


@dataclass(frozen=True)
class SetColumn:
    """A column as it is set: the lines of its title and of each row's cell."""

    column: Column
    title: tuple[str, ...]
    rows: tuple[tuple[Line, ...], ...]
    width: float


@dataclass(frozen=True)
class Fitted:
    """A table as it is set: its blocks stand one below the other, and each begins with the names."""

    form: Form
    blocks: tuple[tuple[SetColumn, ...], ...]

    @property
    def width(self) -> float:
        """Of the widest block, in points."""
        return max(_total(block, self.form) for block in self.blocks)


def fitted(layout: Layout) -> Fitted:
    """The table in the first form that fits a page, or else in blocks of the smallest one."""
    for form in FORMS:
        columns = tuple(_set(layout, place, form) for place in range(len(layout.columns)))
        if _total(columns, form) <= PAGE:
            return Fitted(form, (columns,))
    return Fitted(form, tuple(_blocks(columns, form)))


def _total(columns: Sequence[SetColumn], form: Form) -> float:
    """What stands over columns makes them wider where it is wider than they are."""
    overs = groups_of(columns, form)
    return sum(max(form.scale * max(map(width_of, over)), room) + 2 * form.gap for over, _, room in overs)


def groups_of(columns: Sequence[SetColumn], form: Form) -> list[tuple[tuple[str, ...], tuple[SetColumn, ...], float]]:
    """What stands over neighbouring columns, in lines; these columns; and the points that they have."""
    found = []
    for over, some in groupby(columns, key=lambda one: one.column.over):
        group = tuple(some)
        room = sum(one.width + 2 * form.gap for one in group) - 2 * form.gap
        found.append((broken(over, None if form.most is None else room / form.scale), group, room))
    return found


def _blocks(columns: Sequence[SetColumn], form: Form) -> Iterator[tuple[SetColumn, ...]]:
    """Neighbours that are about the same thing stay together."""
    first, rest = columns[0], columns[1:]
    block = [first]
    for _, some in groupby(enumerate(rest), key=lambda one: one[1].column.over or one[0]):
        group = [column for _, column in some]
        if len(block) > 1 and _total([*block, *group], form) > PAGE:
            yield tuple(block)
            block = [first]
        for column in group:  # one after the other, where all of them are too wide
            if len(block) > 1 and _total([*block, column], form) > PAGE:
                yield tuple(block)
                block = [first]
            block.append(column)
    yield tuple(block)


def _set(layout: Layout, place: int, form: Form) -> SetColumn:
    column = layout.columns[place]
    rows = tuple(tuple(_lines(row[place], column, form)) for row in layout.rows)
    cells = max((line.width for lines in rows for line in lines), default=0.0)
    most = None if form.most is None else max(cells, LEAST) / form.scale
    title = broken(column.title, most)
    return SetColumn(column, title, rows, max(cells, *(form.scale * width_of(line) for line in title)))


def _lines(cell: Cell, column: Column, form: Form) -> Iterator[Line]:
    if column.unit == "text":
        most = None if form.most is None else form.most / form.scale
        for at, line in enumerate(broken(cell.text, most)):
            width = form.scale * ((BOLD if cell.bold else 1) * width_of(line) + (INDENT if at else 0))
            yield Line(line, bold=cell.bold, is_more=at > 0, width=width)
        return
    number = form.scale * (BOLD if cell.bold else 1) * width_of(cell.text)
    interval = form.small_scale * width_of(cell.interval)
    if form.below:
        yield Line(cell.text, bold=cell.bold, width=number)
        if cell.interval:
            yield Line("", cell.interval, width=interval)
    else:
        space = form.scale * LETTERS[" "] if interval else 0.0
        yield Line(cell.text, cell.interval, cell.bold, width=number + space + interval)


def width_of(text: str) -> float:
    """The width of a text in Computer Modern at 10 pt, in points, rather too large than too small.

    >>> round(width_of("56.0"), 1)
    17.9
    """
    plain = text.replace("$-$", "−")
    return sum(LETTERS.get(letter, 5.4 if letter.isascii() or letter.isalpha() else BY_NUMBER) for letter in plain)


def broken(text: str, most: float | None) -> tuple[str, ...]:
    """The text in lines of at most so many points, as far as words, hyphens and the like allow.

    >>> broken("imagenetv2-matched-frequency", 100)
    ('imagenetv2-matched-', 'frequency')
    """
    flat = " ".join(text.split())
    if most is None or width_of(flat) <= most:
        return (flat,)
    lines = [""]
    for piece in re.findall(r"[^\s_/-]*[\s_/-]+|[^\s_/-]+$", flat):
        if lines[-1] and width_of((lines[-1] + piece).rstrip()) > most:
            lines.append("")
        lines[-1] += piece
    return tuple(line.strip() for line in lines)
