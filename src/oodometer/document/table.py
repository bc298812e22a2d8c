"""A table of a document: columns with a unit each, and rows of values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from oodometer.document.numbers import Unit, Value


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Args:
        title: Above it, short.
        about: What that is, with its convention, in a sentence.
        better: Which end of the numbers is the good one; None where neither is.
        digits: Behind the point; None: what is usual (1 for shares, 3 for numbers below 10).
        bar: Whether the interval is also drawn, below the number.
        hidden: Whether it is shown only when it is chosen.
        least: Below which a number is written as less than this, as p-values are.
    """

    title: str
    unit: Unit = "text"
    about: str = ""
    better: Literal["high", "low"] | None = None
    digits: int | None = None
    bar: bool = False
    hidden: bool = False
    least: float | None = None


@dataclass(frozen=True)
class Table:
    """A table that can be sorted, and saved as CSV.

    Args:
        id: Its own on the page.
        caption: What it shows, in a sentence.
        rows: A value for each column.
        filters: Whether there is a field to search in it, and a choice for the values of this column; None: neither.
        order: How the rows stand, in words that stop being true when a reader sorts them; they are apart for that.
        folded: Whether only its caption is shown until it is opened, as for the numbers behind a plot.
    """

    id: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Value, ...], ...]
    filters: str | None = None
    folded: bool = False
    order: str = ""
