"""A table as Markdown, for READMEs."""

from __future__ import annotations

import re
from collections.abc import Sequence

from oodometer.document.layout import Cell, layout_of
from oodometer.document.numbers import IntervalStyle
from oodometer.document.table import Column, Table

SPECIAL = re.compile(r"([\\`*_\[\]|~$])")
"""What Markdown, or one of its dialects, would take for more than a letter."""

LINK = re.compile(r"(https?|ftp|www)([:.])", re.IGNORECASE)


def markdown_of(table: Table, interval: IntervalStyle | None = None) -> str:
    """The table with pipes, as GitHub and most others read it."""
    layout = layout_of(table, interval)
    titles = [" ".join(part for part in (escaped(one.over), escaped(one.title)) if part) for one in layout.columns]
    lines = [_line(titles), _line(["---" if column.unit == "text" else "---:" for column in layout.columns])]
    for group, rows in layout.groups:
        if group:
            lines.append(_line([f"*{escaped(group)}*", *("" for _ in titles[1:])]))
        lines += [_line([_cell(*pair) for pair in zip(row, layout.columns, strict=True)]) for row in rows]
    return "\n".join([escaped(table.caption), "", *lines, "", *(f"- {escaped(note)}" for note in layout.notes)])


def _cell(cell: Cell, column: Column) -> str:
    text = escaped(cell.text) if column.unit == "text" else cell.text
    return f"{f'**{text}**' if cell.bold else text} {cell.interval}".rstrip()


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def escaped(text: str) -> str:
    r"""A text that Markdown shows as it is, on one line.

    >>> print(escaped("a|b_c <b>"))
    a\|b\_c &lt;b&gt;
    """
    flat = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
    html = flat.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    plain = SPECIAL.sub(r"\\\1", html)
    # Addresses become links by themselves, unless their signs are written otherwise.
    return LINK.sub(lambda found: f"{found[1]}&#{ord(found[2])};", plain)
