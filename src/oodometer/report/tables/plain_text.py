"""A table as plain text."""

from __future__ import annotations

from itertools import groupby

from oodometer.document.numbers import IntervalStyle, with_interval
from oodometer.report.tables.interval_style import notes_of, style_for
from oodometer.report.tables.table import ModelTable

BOLD = "*"


def text_of(table: ModelTable, interval: IntervalStyle | None = None) -> str:
    """The table in columns of one width, the best of a column with a star behind it."""
    style = style_for(table, interval)
    # Room for a star only where there is one.
    ends = [" " if any(row.bold[place] for row in table.rows) else "" for place in range(len(table.columns))]
    lines = [["", *(f"{one.title}{end}" for one, end in zip(table.columns, ends, strict=True))]]
    headings = {}
    for group, rows in table.groups:
        if group:
            headings[len(lines)] = group
        for row in rows:
            cells = [
                with_interval(cell, column.unit, style=style)
                for cell, column in zip(row.cells, table.columns, strict=True)
            ]
            marks = [BOLD if bold else end for bold, end in zip(row.bold, ends, strict=True)]
            marked = [f"{text}{mark}" for text, mark in zip(cells, marks, strict=True)]
            lines.append([_one_line(row.model), *marked])
    return "\n".join([table.caption, "", *_aligned(table, lines, headings), "", *_notes(table, style)])


def _aligned(table: ModelTable, lines: list[list[str]], headings: dict[int, str]) -> list[str]:
    """Names to the left, numbers to the right; the heading of a group before its first line."""
    widths = [max(len(line[place]) for line in lines) for place in range(len(lines[0]))]
    over, widths = _over(table, widths)
    found = [over] if over.strip() else []
    for at, (name, *rest) in enumerate(lines):
        if at in headings:
            found.append(f"{headings[at]}:")
        cells = (cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True))
        found.append("  ".join([name.ljust(widths[0]), *cells]).rstrip())
    return found


def _over(table: ModelTable, widths: list[int]) -> tuple[str, list[int]]:
    """The line above the titles, each text over all its columns; and the widths, wide enough for it."""
    widths = list(widths)
    line, place = " " * widths[0], 1
    for text, group in groupby(table.columns, key=lambda one: one.over):
        n = len(list(group))
        room = sum(widths[place : place + n]) + 2 * (n - 1)
        if len(text) > room:
            widths[place] += len(text) - room
            room = len(text)
        line += f"  {text:>{room}}"
        place += n
    return line.rstrip(), widths


def _notes(table: ModelTable, style: IntervalStyle) -> list[str]:
    stars = any(bold for row in table.rows for bold in row.bold)
    return [note.replace("Bold:", f"{BOLD}:", 1) if stars else note for note in notes_of(table, style)]


def _one_line(text: str) -> str:
    return "".join(one if one.isprintable() else "�" for one in text)
