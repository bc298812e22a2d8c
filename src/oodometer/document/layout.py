"""What text, Markdown and LaTeX have in common: columns that are shown, rows in groups, how intervals are told."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from oodometer.core.estimate import Estimate
from oodometer.document.numbers import MINUS, IntervalStyle, Value, bounds, number, value_text
from oodometer.document.table import Column, Table, digits_of

WIDEST = 10
"""More columns of numbers than these have no room for intervals, unless they are asked for."""


@dataclass(frozen=True)
class Cell:
    """A cell as it is printed: the number or text, its interval, whether it is the best of its column."""

    text: str
    interval: str
    bold: bool


Row = tuple[Cell, ...]


@dataclass(frozen=True)
class Layout:
    """A table as it is printed.

    Args:
        columns: Those that are shown.
        groups: The rows of each group; one without a name where they are not grouped.
        notes: The footnotes, and what is to be said about the intervals as they are shown.
    """

    columns: tuple[Column, ...]
    groups: tuple[tuple[str, tuple[Row, ...]], ...]
    notes: tuple[str, ...]

    @property
    def rows(self) -> tuple[Row, ...]:
        """Of all groups, in order."""
        return tuple(row for _, rows in self.groups for row in rows)


def layout_of(table: Table, asked: IntervalStyle | None, *, widest: int = WIDEST, minus: str = MINUS) -> Layout:
    """The table with intervals as asked, or in brackets where there is room.

    Args:
        widest: More columns of numbers than these have no room for intervals.
        minus: The sign of numbers below zero.
    """
    places = [place for place, column in enumerate(table.columns) if not column.hidden]
    columns = tuple(table.columns[place] for place in places)
    n_numbers = sum(column.unit != "text" for column in columns)
    style = asked or ("brackets" if n_numbers <= widest else "none")
    by_column = [list(_cells(table, place, style, minus)) for place in places]
    rows = tuple(zip(*by_column, strict=True))
    shown = [value for place in places for value in table.values(place)]
    return Layout(columns, tuple(_grouped(table, rows)), (*table.footnotes, *_about_intervals(shown, style)))


def _cells(table: Table, place: int, style: IntervalStyle, minus: str) -> Iterator[Cell]:
    column, values = table.columns[place], table.values(place)
    digits = digits_of(column, values)
    for at, value in enumerate(values):
        text = value_text(value, column.unit, digits, least=column.least, minus=minus)
        interval = bounds(value, column.unit, digits, style=style, minus=minus)
        yield Cell(text, interval, (at, place) in table.bold)


def _grouped(table: Table, rows: tuple[Row, ...]) -> Iterator[tuple[str, tuple[Row, ...]]]:
    start = 0
    for name, n in table.groups or (("", len(rows)),):
        yield name, rows[start : start + n]
        start += n


def _about_intervals(values: list[Value], style: IntervalStyle) -> list[str]:
    if style == "pm":
        return ["±: half the width of the interval."]
    widths = [
        (value.high - value.low) / 2
        for value in values
        if isinstance(value, Estimate) and value.low is not None and value.high is not None
    ]
    if style == "none" and widths:
        return [f"Intervals are not shown; half their width is at most {number(max(widths), 'percent')}."]
    return []
