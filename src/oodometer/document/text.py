"""A table as plain text."""

from __future__ import annotations

from itertools import groupby

from oodometer.document.layout import Cell, Layout, layout_of
from oodometer.document.numbers import IntervalStyle
from oodometer.document.table import Table

BOLD = "*"


def text_of(table: Table, interval: IntervalStyle | None = None) -> str:
    """The table in columns of one width, the best of a column with a star behind it; names need no title."""
    layout = layout_of(table, interval)
    # Room for a star only where there is one.
    ends = [" " if any(row[place].bold for row in layout.rows) else "" for place in range(len(layout.columns))]
    titles = ["", *(f"{column.title}{end}" for column, end in list(zip(layout.columns, ends, strict=True))[1:])]
    lines, headings = [titles], {}
    for group, rows in layout.groups:
        if group:
            headings[len(lines)] = group
        lines += [[_marked(cell, end) for cell, end in zip(row, ends, strict=True)] for row in rows]
    return "\n".join([table.caption, "", *_aligned(layout, lines, headings), "", *_notes(layout)])


def _marked(cell: Cell, end: str) -> str:
    return f"{_one_line(cell.text)} {cell.interval}".rstrip() + (BOLD if cell.bold else end)


def _aligned(layout: Layout, lines: list[list[str]], headings: dict[int, str]) -> list[str]:
    """Texts to the left, numbers to the right; the heading of a group before its first line."""
    widths = [max(len(line[place]) for line in lines) for place in range(len(lines[0]))]
    over, widths = _over(layout, widths)
    found = [over] if over.strip() else []
    to_left = [column.unit == "text" for column in layout.columns]
    for at, line in enumerate(lines):
        if at in headings:
            found.append(f"{headings[at]}:")
        cells = zip(line, widths, to_left, strict=True)
        found.append(
            "  ".join(cell.ljust(width) if left else cell.rjust(width) for cell, width, left in cells).rstrip()
        )
    return found


def _over(layout: Layout, widths: list[int]) -> tuple[str, list[int]]:
    """The line above the titles, each text over all its columns; and the widths, wide enough for it."""
    widths = list(widths)
    line, place = " " * widths[0], 1
    for text, group in groupby(layout.columns[1:], key=lambda column: column.over):
        n = len(list(group))
        room = sum(widths[place : place + n]) + 2 * (n - 1)
        if len(text) > room:
            widths[place] += len(text) - room
            room = len(text)
        line += f"  {text:>{room}}"
        place += n
    return line.rstrip(), widths


def _notes(layout: Layout) -> list[str]:
    stars = any(cell.bold for row in layout.rows for cell in row)
    return [note.replace("Bold:", f"{BOLD}:", 1) if stars else note for note in layout.notes]


def _one_line(text: str) -> str:
    return "".join(letter if letter.isprintable() else "�" for letter in text)
