"""A table as Markdown, for READMEs."""

from __future__ import annotations

import re
from collections.abc import Sequence

from oodometer.document.numbers import IntervalStyle, with_interval
from oodometer.report.tables.interval_style import notes_of, style_for
from oodometer.report.tables.table import ModelTable, Row

SPECIAL = re.compile(r"([\\`*_\[\]|~$])")
"""What Markdown, or one of its dialects, would take for more than a letter."""

LINK = re.compile(r"(https?|ftp|www)([:.])", re.IGNORECASE)


def markdown_of(table: ModelTable, interval: IntervalStyle | None = None) -> str:
    """The table with pipes, as GitHub and most others read it."""
    style = style_for(table, interval)
    titles = [" ".join(part for part in (escaped(one.over), escaped(one.title)) if part) for one in table.columns]
    lines = [_line(["model", *titles]), _line(["---", *("---:" for _ in titles)])]
    for group, rows in table.groups:
        if group:
            lines.append(_line([f"*{escaped(group)}*", *("" for _ in titles)]))
        lines += [_line([escaped(row.model), *_cells(row, table, style)]) for row in rows]
    notes = [f"- {escaped(note)}" for note in notes_of(table, style)]
    return "\n".join([escaped(table.caption), "", *lines, "", *notes])


def _cells(row: Row, table: ModelTable, style: IntervalStyle) -> list[str]:
    found = []
    for cell, column, bold in zip(row.cells, table.columns, row.bold, strict=True):
        value, space, ends = with_interval(cell, column.unit, style=style).partition(" ")
        found.append(f"{f'**{value}**' if bold else value}{space}{ends}")
    return found


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def escaped(text: str) -> str:
    r"""A text that Markdown shows as it is, on one line.

    >>> print(escaped("a|b_c <b>"))
    a\|b\_c &lt;b&gt;
    """
    flat = " ".join("".join(one if one.isprintable() else " " for one in text).split())
    html = flat.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    plain = SPECIAL.sub(r"\\\1", html)
    # Addresses become links by themselves, unless their signs are written otherwise.
    return LINK.sub(lambda found: f"{found[1]}&#{ord(found[2])};", plain)
