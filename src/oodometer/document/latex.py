"""A table as LaTeX, for papers: booktabs, and longtable where it is longer than a page."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from itertools import groupby

from oodometer.document.layout import Cell, Layout, Row, layout_of
from oodometer.document.numbers import NOTHING, IntervalStyle
from oodometer.document.table import Column, Table

LONGEST = 45
"""More rows than these do not fit a page."""

NARROW = 4
"""More columns of numbers than these stand over both columns of a page."""

WIDEST = 8
"""More columns of numbers than these have no room for intervals."""

SIZES = ((5, r"\small", r"\scriptsize"), (WIDEST, r"\footnotesize", r"\tiny"))
"""Up to how many columns of numbers which letters fit: those of the numbers, and those of the intervals."""

MINUS = "$-$"

SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "{\\char34}",
    "`": "{\\char96}",
    "'": "{\\char39}",
    # At the beginning of a row the end of the one before would take these for its own.
    "[": "{[}",
    "]": "{]}",
    "*": "{*}",
    "ρ": r"$\rho$",
    "τ": r"$\tau$",
    "±": r"$\pm$",
    "²": r"$^2$",
    "−": MINUS,
    "–": r"\textendash{}",
}
"""What LaTeX would take for more than a letter, and the signs of the tables."""


def latex_of(table: Table, interval: IntervalStyle | None = None) -> str:
    r"""The table, to be used with ``\usepackage{booktabs}``, and longtable where it is longer than a page."""
    layout = layout_of(table, interval, widest=WIDEST, minus=MINUS)
    small, places = _sizes(layout)[0], "".join("l" if column.unit == "text" else "r" for column in layout.columns)
    title = [rf"\caption{{{escaped(table.caption)}}}", rf"\label{{tab:{table.id}}}"]
    head = [r"\toprule", *_head(layout.columns), r"\midrule"]
    notes = rf"\parbox{{\linewidth}}{{\footnotesize {' '.join(escaped(note) for note in layout.notes)}}}"
    if len(table.rows) > LONGEST:
        lines = [
            r"% \usepackage{booktabs,longtable}, on pages of one column",
            *(rf"{{{small}", r"\setlength{\tabcolsep}{4pt}", rf"\begin{{longtable}}{{{places}}}"),
            *(title[0], rf"{title[1]}\\", *head, r"\endhead", r"\bottomrule", r"\endfoot"),
            *(*_body(layout), r"\end{longtable}", r"}", rf"\noindent{notes}"),
        ]
    else:
        kind = "table*" if _n_numbers(layout) > NARROW else "table"
        lines = [
            *(r"% \usepackage{booktabs}", rf"\begin{{{kind}}}[t]", r"\centering", *title, small),
            *(r"\setlength{\tabcolsep}{4pt}", rf"\begin{{tabular}}{{{places}}}", *head, *_body(layout)),
            *(r"\bottomrule", r"\end{tabular}", "", r"\vspace{1ex}", notes, rf"\end{{{kind}}}"),
        ]
    return "\n".join(lines)


def _n_numbers(layout: Layout) -> int:
    return sum(column.unit != "text" for column in layout.columns)


def _sizes(layout: Layout) -> tuple[str, str]:
    """The letters of the numbers and of the intervals."""
    fits = (sizes for most, *sizes in SIZES if _n_numbers(layout) <= most)
    numbers, intervals = next(fits, (r"\scriptsize", r"\tiny"))
    return numbers, intervals


def _head(columns: Sequence[Column]) -> list[str]:
    """The titles; above them what neighbouring columns are about, and a rule under each."""
    titles = _line([escaped(column.title) for column in columns])
    if not any(column.over for column in columns):
        return [titles]
    cells, rules, place = [], [], 1
    for over, group in groupby(columns, key=lambda column: column.over):
        width = len(list(group))
        cells.append(rf"\multicolumn{{{width}}}{{c}}{{{escaped(over)}}}" if over else " & ".join([""] * width))
        if over:
            rules.append(rf"\cmidrule(lr){{{place}-{place + width - 1}}}")
        place += width
    return [_line(cells), " ".join(rules), titles]


def _body(layout: Layout) -> list[str]:
    found = []
    for place, (group, rows) in enumerate(layout.groups):
        if group:
            found += [r"\addlinespace"] * bool(place)
            found.append(rf"\multicolumn{{{len(layout.columns)}}}{{l}}{{\emph{{{escaped(group)}}}}} \\")
        found += [_row(row, layout) for row in rows]
    return found


def _row(row: Row, layout: Layout) -> str:
    small = _sizes(layout)[1]
    return _line([_cell(cell, column, small) for cell, column in zip(row, layout.columns, strict=True)])


def _cell(cell: Cell, column: Column, small: str) -> str:
    # The minus of a number is as LaTeX wants it already.
    is_text = column.unit == "text" or cell.text == NOTHING
    text = escaped(cell.text) if is_text else cell.text.replace("<", SPECIAL["<"])
    shown = rf"\textbf{{{text}}}" if cell.bold else text
    interval = cell.interval.replace("±", r"$\pm$")
    return rf"{shown} {{{small} {interval}}}" if interval else shown


def _line(cells: Sequence[str]) -> str:
    return " & ".join(cells).strip() + r" \\"


def escaped(text: str) -> str:
    r"""A text that LaTeX prints as it is, whatever it holds; what its fonts lack by its number in Unicode.

    >>> print(escaped("resnet_50 & 100%"))
    resnet\_50 \& 100\%
    >>> print(escaped("naïve--1 \u4e2d"))
    naïve-{}-1 {[}U+4E2D{]}
    """
    flat = re.sub(r"\s+", " ", text).strip()
    # Two of these together would become another sign.
    return re.sub(r"([-,])(?=\1)", r"\1{}", "".join(_letter(letter) for letter in flat))


def _letter(letter: str) -> str:
    if letter in SPECIAL:
        return SPECIAL[letter]
    # ASCII, and the letters of Latin-1, which every LaTeX knows.
    if (letter.isascii() and letter.isprintable()) or ("À" <= letter <= "ÿ" and unicodedata.category(letter)[0] == "L"):
        return letter
    return f"{{[}}U+{ord(letter):04X}{{]}}"
