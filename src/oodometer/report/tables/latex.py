"""A table as LaTeX, for papers: booktabs, and longtable where it is longer than a page."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from itertools import groupby

from oodometer.core.estimate import Estimate
from oodometer.document.numbers import NOTHING, IntervalStyle, bounds, number
from oodometer.report.tables.interval_style import notes_of, style_for
from oodometer.report.tables.table import Column, ModelTable, Row

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


def latex_of(table: ModelTable, interval: IntervalStyle | None = None) -> str:
    r"""The table, to be used with ``\usepackage{booktabs}``, and longtable where it is longer than a page."""
    style = style_for(table, interval, widest=WIDEST)
    long = len(table.rows) > LONGEST
    head = [*_over(table.columns), _line(["Model", *(escaped(one.title) for one in table.columns)])]
    body = _body(table, style)
    notes = " ".join(escaped(note) for note in notes_of(table, style))
    return "\n".join((_longtable if long else _float)(table, head, body, notes))


def _float(table: ModelTable, head: Sequence[str], body: Sequence[str], notes: str) -> list[str]:
    kind = "table*" if len(table.columns) > NARROW else "table"
    return [
        r"% \usepackage{booktabs}",
        rf"\begin{{{kind}}}[t]",
        r"\centering",
        rf"\caption{{{escaped(table.caption)}}}",
        rf"\label{{tab:{table.name}}}",
        _sizes(table)[0],
        r"\setlength{\tabcolsep}{4pt}",
        rf"\begin{{tabular}}{{{_places(table)}}}",
        r"\toprule",
        *head,
        r"\midrule",
        *body,
        r"\bottomrule",
        r"\end{tabular}",
        "",
        r"\vspace{1ex}",
        rf"\parbox{{\linewidth}}{{\footnotesize {notes}}}",
        rf"\end{{{kind}}}",
    ]


def _longtable(table: ModelTable, head: Sequence[str], body: Sequence[str], notes: str) -> list[str]:
    return [
        r"% \usepackage{booktabs,longtable}, on pages of one column",
        rf"{{{_sizes(table)[0]}",
        r"\setlength{\tabcolsep}{4pt}",
        rf"\begin{{longtable}}{{{_places(table)}}}",
        rf"\caption{{{escaped(table.caption)}}}",
        rf"\label{{tab:{table.name}}}\\",
        r"\toprule",
        *head,
        r"\midrule",
        r"\endhead",
        r"\bottomrule",
        r"\endfoot",
        *body,
        r"\end{longtable}",
        r"}",
        rf"\noindent\parbox{{\linewidth}}{{\footnotesize {notes}}}",
    ]


def _sizes(table: ModelTable) -> tuple[str, str]:
    """The letters of the numbers and of the intervals."""
    fits = (sizes for most, *sizes in SIZES if len(table.columns) <= most)
    numbers, intervals = next(fits, (r"\scriptsize", r"\tiny"))
    return numbers, intervals


def _places(table: ModelTable) -> str:
    return "l" + "r" * len(table.columns)


def _over(columns: Sequence[Column]) -> list[str]:
    """The line above the titles: what neighbouring columns are about, and a rule under each."""
    if not any(one.over for one in columns):
        return []
    cells, rules, place = [""], [], 2
    for over, group in groupby(columns, key=lambda one: one.over):
        width = len(list(group))
        cells.append(rf"\multicolumn{{{width}}}{{c}}{{{escaped(over)}}}" if over else " & ".join([""] * width))
        if over:
            rules.append(rf"\cmidrule(lr){{{place}-{place + width - 1}}}")
        place += width
    return [_line(cells), " ".join(rules)]


def _body(table: ModelTable, style: IntervalStyle) -> list[str]:
    found = []
    for place, (group, rows) in enumerate(table.groups):
        if group:
            found += [r"\addlinespace"] * bool(place)
            found.append(rf"\multicolumn{{{len(table.columns) + 1}}}{{l}}{{\emph{{{escaped(group)}}}}} \\")
        found += [_row(row, table, style) for row in rows]
    return found


def _row(row: Row, table: ModelTable, style: IntervalStyle) -> str:
    cells = zip(row.cells, table.columns, row.bold, strict=True)
    small = _sizes(table)[1]
    return _line([escaped(row.model), *(_cell(*cell, style, small) for cell in cells)])


def _cell(cell: Estimate | None, column: Column, bold: bool, style: IntervalStyle, small: str) -> str:
    if cell is None:
        return escaped(NOTHING)
    text = number(cell.value, column.unit, minus=MINUS)
    shown = rf"\textbf{{{text}}}" if bold else text
    interval = bounds(cell, column.unit, style=style, minus=MINUS).replace("±", r"$\pm$")
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
    return re.sub(r"([-,])(?=\1)", r"\1{}", "".join(_letter(one) for one in flat))


def _letter(one: str) -> str:
    if one in SPECIAL:
        return SPECIAL[one]
    # ASCII, and the letters of Latin-1, which every LaTeX knows.
    if (one.isascii() and one.isprintable()) or ("À" <= one <= "ÿ" and unicodedata.category(one)[0] == "L"):
        return one
    return f"{{[}}U+{ord(one):04X}{{]}}"
