"""Numbers as tables write them."""

from __future__ import annotations

from typing import Literal

from oodometer.core.estimate import Estimate
from oodometer.report.tables.table import Column, ModelTable

IntervalStyle = Literal["none", "brackets", "pm"]
STYLES: tuple[IntervalStyle, ...] = ("none", "brackets", "pm")

WIDEST = 10
"""More columns of numbers than these have no room for intervals, unless they are asked for."""

NOTHING = "–"


def style_for(table: ModelTable, asked: IntervalStyle | None, *, widest: int = WIDEST) -> IntervalStyle:
    """How intervals are shown: as asked, or in brackets where there is room."""
    return asked or ("brackets" if len(table.columns) <= widest else "none")


def number(value: float, column: Column, minus: str = "−") -> str:
    """A share in per cent, or a difference in signed points; one digit behind the point.

    >>> column = Column("rho:x", "ρ", "points", "high", {})
    >>> number(-0.0213, column), number(0.5, column), number(-0.00001, column)
    ('−2.1', '+50.0', '+0.0')
    """
    text = f"{100 * value:{'+' if column.how == 'points' else ''}.1f}"
    if float(text) == 0:  # no minus before nothing
        text = text.replace("-", "+" if column.how == "points" else "")
    return text.replace("-", minus)


def bounds(cell: Estimate, column: Column, style: IntervalStyle, minus: str = "−") -> tuple[str, ...]:
    """The two ends, or the half width, or nothing.

    >>> column = Column("clean", "clean", "percent", "high", {})
    >>> bounds(Estimate(0.5, 0.4, 0.61, 100, "any"), column, "brackets")
    ('40.0', '61.0')
    >>> bounds(Estimate(0.5, 0.4, 0.61, 100, "any"), column, "pm")
    ('10.5',)
    """
    if cell.low is None or cell.high is None or style == "none":
        return ()
    if style == "pm":
        return (f"{50 * (cell.high - cell.low):.1f}",)
    return number(cell.low, column, minus), number(cell.high, column, minus)


def written(cell: Estimate | None, column: Column, style: IntervalStyle, minus: str = "−") -> str:
    """A number with its interval as plain text.

    >>> column = Column("clean", "clean", "percent", "high", {})
    >>> written(Estimate(0.5, 0.4, 0.61, 100, "any"), column, "brackets"), written(None, column, "pm")
    ('50.0 [40.0, 61.0]', '–')
    """
    if cell is None:
        return NOTHING
    ends = bounds(cell, column, style, minus)
    text = number(cell.value, column, minus)
    if not ends:
        return text
    return f"{text} ± {ends[0]}" if len(ends) == 1 else f"{text} [{ends[0]}, {ends[1]}]"


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
        return [*table.footnotes, f"Intervals are not shown; half their width is at most {100 * max(widths):.1f}."]
    return list(table.footnotes)
