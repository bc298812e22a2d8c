"""How the intervals of a table are shown, and what is said about them."""

from __future__ import annotations

from oodometer.document.numbers import IntervalStyle, number
from oodometer.report.tables.table import ModelTable

WIDEST = 10
"""More columns of numbers than these have no room for intervals, unless they are asked for."""


def style_for(table: ModelTable, asked: IntervalStyle | None, *, widest: int = WIDEST) -> IntervalStyle:
    """How intervals are shown: as asked, or in brackets where there is room."""
    return asked or ("brackets" if len(table.columns) <= widest else "none")


def notes_of(table: ModelTable, style: IntervalStyle) -> list[str]:
    """The footnotes, and what is to be said about the intervals as they are shown."""
    if style == "pm":
        return [*table.footnotes, "±: half the width of the interval."]
    widths = [
        (cell.high - cell.low) / 2
        for row in table.rows
        for cell in row.cells
        if cell is not None and cell.low is not None and cell.high is not None
    ]
    if style == "none" and widths:
        return [
            *table.footnotes,
            f"Intervals are not shown; half their width is at most {number(max(widths), 'percent')}.",
        ]
    return list(table.footnotes)
