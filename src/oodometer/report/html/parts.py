"""What a section of the report is made of: plain data, that the templates turn into HTML and the scripts into plots."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from oodometer.core.estimate import Estimate

How = Literal["text", "percent", "points", "number", "count"]
"""How a column is written: shares as per cent, differences of shares as signed points, numbers, whole numbers."""

Value = str | float | int | Estimate | None
"""What stands in a cell of a table; an estimate with its interval, None as a dash."""


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
    how: How = "text"
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
        folded: Whether only its caption is shown until it is index, as for the numbers behind a plot.
    """

    id: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Value, ...], ...]
    filters: str | None = None
    folded: bool = False


@dataclass(frozen=True)
class Plot:
    """A plot, and the same numbers as a table.

    Args:
        id: Its own on the page.
        caption: What it shows, for those who see it and for those who don't.
        draw: The function of the scripts that draws it: ``oodometer.draw[NAME](element, data)``.
        data: What that function gets, plain values.
        height: In pixels.
        table: The numbers behind it; None where the script makes one of what is chosen, or another plot has it.
    """

    id: str
    caption: str
    draw: str
    data: Mapping[str, Any]
    height: int = 460
    table: Table | None = None


@dataclass(frozen=True)
class Pictures:
    """Small images, embedded: each with its source (a ``data:`` address), what it shows, and lines below it."""

    id: str
    caption: str
    images: tuple[tuple[str, str, tuple[str, ...]], ...]


@dataclass(frozen=True)
class Words:
    """Paragraphs, or lines of a list, or commands; below a heading, if it has one."""

    lines: tuple[str, ...]
    kind: Literal["paragraphs", "list", "commands", "note"] = "paragraphs"
    title: str = ""


Part = Table | Plot | Pictures | Words


@dataclass(frozen=True)
class Section:
    """A section of the report.

    Args:
        id: Of its heading, for links.
        lead: What it says, in plain sentences.
        short: What the navigation calls it; nothing: its title.
    """

    id: str
    title: str
    lead: tuple[str, ...]
    parts: tuple[Part, ...]
    short: str = ""
