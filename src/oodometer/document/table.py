"""A table of a document: columns with a unit each, and rows of values; how it is written is said elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from oodometer.core.errors import UsageError, did_you_mean
from oodometer.document.numbers import IntervalStyle, Unit, Value, usual_digits

WRITERS = {
    "latex": "oodometer.document.latex:latex_of",
    "markdown": "oodometer.document.markdown:markdown_of",
    "csv": "oodometer.document.comma_separated:csv_of",
    "text": "oodometer.document.text:text_of",
}
"""Who writes a table in each form."""

ENDINGS = {".tex": "latex", ".md": "markdown", ".csv": "csv"}
"""What a file's ending says about the form; of all others text."""


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Args:
        title: Above it, short.
        about: What that is, with its convention, in a sentence.
        better: Which end of the numbers is the good one; None where neither is.
        digits: Behind the point; None: what is usual (1 for shares, 3 for numbers below 10).
        bar: Whether the interval is also drawn, below the number; of differences with 0 in the middle.
        hidden: Whether it is shown only when it is chosen; files for programs have it.
        least: Below which a number is written as less than this, as p-values are.
        id: By which it is asked for: ``clean``, a shift, ``rho:SHIFT``; none: its title.
        over: Above the titles of neighbouring columns, what these are about.
        label: What it is called where it stands without its neighbours; none: its title.
    """

    title: str
    unit: Unit = "text"
    about: str = ""
    better: Literal["high", "low"] | None = None
    digits: int | None = None
    bar: bool = False
    hidden: bool = False
    least: float | None = None
    id: str = ""
    over: str = ""
    label: str = ""

    @property
    def key(self) -> str:
        """By which it is asked for."""
        return self.id or self.title

    @property
    def name(self) -> str:
        """What it is called where it stands alone."""
        return self.label or self.title


@dataclass(frozen=True)
class Table:
    """A table that can be sorted, and saved as CSV; prints as text, and is `written` in other forms.

    Args:
        id: Its own on the page: ``leaderboard`` and so on.
        caption: What it shows, in a sentence.
        rows: A value for each column.
        filters: Whether there is a field to search in it, and a choice for the values of this column; None: neither.
        order: How the rows stand, in words that stop being true when a reader sorts them; they are apart for that.
        folded: Whether only its caption is shown until it is opened, as for the numbers behind a plot.
        groups: Names of rows that stand together, and how many there are of each; none: they are not grouped.
        bold: Row and column of the numbers that are the best of their column, where that can be told.
        footnotes: How many images, which intervals, what is bold, what signs mean.
        notes: What a reader should know about the whole: what was left out.
        links: Row and column of the cells that lead somewhere on pages, and where.
    """

    id: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Value, ...], ...]
    filters: str | None = None
    folded: bool = False
    order: str = ""
    groups: tuple[tuple[str, int], ...] = ()
    bold: frozenset[tuple[int, int]] = frozenset()
    footnotes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    links: Mapping[tuple[int, int], str] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.written("text")

    def values(self, place: int) -> list[Value]:
        """Of one column, from the first row to the last."""
        return [row[place] for row in self.rows]

    def written(self, form: str, interval: IntervalStyle | None = None) -> str:
        """The table as ``latex`` (it wants the package booktabs), ``markdown``, ``csv`` (full precision) or ``text``.

        Args:
            interval: How intervals are shown; None: in brackets, or not at all beside more than 10 numbers.
        """
        if form not in WRITERS:
            raise UsageError(
                f"no form {form!r} of a table{did_you_mean(form, WRITERS)}; there are {', '.join(WRITERS)}"
            )
        module, _, name = WRITERS[form].partition(":")
        write = getattr(import_module(module), name)
        text: str = write(self) if form == "csv" else write(self, interval)
        return text

    def write(self, path: str | Path, form: str = "", interval: IntervalStyle | None = None) -> None:
        """Write the table into a file, whose ending says the form where nobody does."""
        text = self.written(form or form_of(path), interval)
        try:
            # As it is: CSV brings its own ends of lines.
            Path(path).write_bytes((text if text.endswith("\n") else f"{text}\n").encode())
        except OSError as error:
            raise UsageError(f"{path}: can't be written ({error.strerror})") from error

    def as_json(self) -> dict[str, Any]:
        """The table as plain values."""
        from oodometer.document.json_values import json_of

        return json_of(self)


def form_of(path: str | Path) -> str:
    """The form of a file, by its ending.

    >>> form_of("paper/robustness.tex"), form_of("robustness.txt")
    ('latex', 'text')
    """
    return ENDINGS.get(Path(path).suffix, "text")


def digits_of(column: Column, values: Sequence[Value]) -> int:
    """The digits behind the point, the same in a whole column."""
    return usual_digits(column.unit, values) if column.digits is None else column.digits
