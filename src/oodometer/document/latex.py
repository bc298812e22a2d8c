"""A table as LaTeX, for papers: booktabs, and longtable where it is longer than a page."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from oodometer.document.latex_fit import (
    HALF_PAGE,
    PAGE,
    Fitted,
    Form,
    Line,
    SetColumn,
    fitted,
    groups_of,
)
from oodometer.document.layout import Layout, layout_of
from oodometer.document.numbers import NOTHING, IntervalStyle
from oodometer.document.table import Column, Table

LONGEST = 45
"""More lines than these do not fit a page."""

WIDEST = 8
"""More columns of numbers than these have no room for intervals."""

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
    r"""The table, to be used with ``\usepackage{booktabs}``, and longtable where it is longer than a page.

    It fits the page of an article: in smaller letters, with intervals below the numbers, and what is still too wide in
    blocks of columns, one below the other.
    """
    layout = layout_of(table, interval, widest=WIDEST, minus=MINUS)
    found = fitted(layout)
    title = [rf"\caption{{{escaped(table.caption)}}}", rf"\label{{tab:{table.id}}}"]
    notes = rf"\parbox{{\linewidth}}{{\footnotesize {' '.join(escaped(note) for note in layout.notes)}}}"
    blocks = [(_places(one), _head(one, found.form), _body(one, layout, found.form)) for one in found.blocks]
    n_lines = sum(line.endswith((r"\\", r"\\*")) for _, _, body in blocks for line in body)
    n_lines += sum(len(head) for _, head, _ in blocks[1:])
    gap = rf"\setlength{{\tabcolsep}}{{{found.form.gap}pt}}"
    if n_lines > LONGEST:
        lines = [r"% \usepackage{booktabs,longtable}, on pages of one column", _about_width(found)]
        lines += ["{" + found.form.letters, gap, *_long(blocks, title), "}", rf"\noindent{notes}"]
        return "\n".join(lines)
    kind = "table" if found.width <= HALF_PAGE else "table*"
    lines = [r"% \usepackage{booktabs}", _about_width(found), rf"\begin{{{kind}}}[t]", r"\centering", *title]
    lines += [found.form.letters, gap]
    for places, head, body in blocks:
        lines += [
            rf"\begin{{tabular}}{{{places}}}",
            *head,
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            "",
            r"\vspace{1ex}",
        ]
    return "\n".join([*lines, notes, rf"\end{{{kind}}}"])


def _long(blocks: Sequence[tuple[str, list[str], list[str]]], title: Sequence[str]) -> list[str]:
    lines = []
    for place, (places, head, body) in enumerate(blocks):
        # A table without a caption is counted too.
        lines += [r"\addtocounter{table}{-1}"] if place else []
        lines += [rf"\begin{{longtable}}{{{places}}}", *([] if place else [title[0], rf"{title[1]}\\"])]
        lines += [*head, r"\endhead", r"\bottomrule", r"\endfoot", *body, r"\end{longtable}"]
    return lines


def _about_width(found: Fitted) -> str:
    """What to know before it is put into a paper."""
    wide = f"% about {found.width:.0f} pt wide in Computer Modern at 10 pt"
    if found.width > PAGE:
        return f"{wide}, more than the {PAGE:.0f} of an article: shorten names, or ask for fewer columns"
    if len(found.blocks) > 1:
        return f"{wide}, in {len(found.blocks)} blocks; fewer columns (--shift, --columns) need fewer"
    return f"{wide}; a page of an article has {PAGE:.0f}"


def _places(block: Sequence[SetColumn]) -> str:
    return "".join("l" if one.column.unit == "text" else "r" for one in block)


def _head(block: Sequence[SetColumn], form: Form) -> list[str]:
    """The titles; above them what neighbouring columns are about, and a rule under each."""
    lines = [r"\toprule"]
    if any(one.column.over for one in block):
        lines += _overs(block, form)
    height = max(len(one.title) for one in block)
    titles = [_bottom(one.title, height) for one in block]
    lines += [_line([title[at] for title in titles]) for at in range(height)]
    return [*lines, r"\midrule"]


def _overs(block: Sequence[SetColumn], form: Form) -> list[str]:
    rules, place = [], 1
    groups = [(over, len(group)) for over, group, _ in groups_of(block, form)]
    for over, width in groups:
        if any(over):
            rules.append(rf"\cmidrule(lr){{{place}-{place + width - 1}}}")
        place += width
    height = max(len(over) for over, _ in groups)
    lines = []
    for at in range(height):
        cells = []
        for over, width in groups:
            text = _bottom(over, height)[at]
            cells.append(rf"\multicolumn{{{width}}}{{c}}{{{text}}}" if text else " & ".join([""] * width))
        lines.append(_line(cells))
    return [*lines, " ".join(rules)]


def _bottom(lines: Sequence[str], height: int) -> list[str]:
    """Titles end on the last line, however many they have."""
    return [""] * (height - len(lines)) + [escaped(line) for line in lines]


def _body(block: Sequence[SetColumn], layout: Layout, form: Form) -> list[str]:
    found, start = [], 0
    apart = any(len(lines) > 1 for one in block for lines in one.rows)
    for place, (group, rows) in enumerate(layout.groups):
        if group:
            found += [r"\addlinespace"] * bool(place)
            found.append(rf"\multicolumn{{{len(block)}}}{{l}}{{\emph{{{escaped(group)}}}}} \\*")
        for row in range(start, start + len(rows)):
            found += [r"\addlinespace[2pt]"] * (apart and row > start)
            found += _row(row, block, form)
        start += len(rows)
    return found


def _row(row: int, block: Sequence[SetColumn], form: Form) -> list[str]:
    """The lines of a row, which no page ends between."""
    height = max(len(one.rows[row]) for one in block)
    cells = [[_cell(line, one.column, form) for line in one.rows[row]] for one in block]
    found = [_line([lines[at] if at < len(lines) else "" for lines in cells]) for at in range(height)]
    return [*(f"{line}*" for line in found[:-1]), found[-1]]


def _cell(line: Line, column: Column, form: Form) -> str:
    # The minus of a number is as LaTeX wants it already.
    is_text = column.unit == "text" or line.text == NOTHING
    text = escaped(line.text) if is_text else line.text.replace("<", SPECIAL["<"])
    shown = rf"\textbf{{{text}}}" if line.bold else text
    interval = line.interval.replace("±", r"$\pm$")
    if interval:
        return rf"{shown} {{{form.small} {interval}}}".strip()
    return rf"\quad {shown}" if line.is_more else shown


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
