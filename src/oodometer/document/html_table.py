"""Tables as pages show them: texts, the room that columns want, and plain values for scripts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

from oodometer.core.estimate import Estimate
from oodometer.document.numbers import Unit, Value, bounds, value_text
from oodometer.document.table import Column, Table, digits_of

LONGEST = 36
"""Letters of a text on one line."""
LONGEST_TITLE = 14
"""Letters of a title above numbers on one line."""


class CellText(NamedTuple):
    """A cell as it is shown.

    Args:
        text, interval: The number, and its interval.
        bar: Where the interval lies between the ends of its column (0 to 1).
        bold: Whether it is the best of its column.
        link: Where it leads, if anywhere.
    """

    unit: Unit
    text: str
    interval: str = ""
    bar: tuple[float, float] | None = None
    bold: bool = False
    link: str = ""


def cell_texts(table: Table) -> list[list[CellText]]:
    """Every row of a table, without the columns that are hidden at first."""
    shown = [_column_texts(table, place) for place, column in enumerate(table.columns) if not column.hidden]
    return [list(row) for row in zip(*shown, strict=True)]


def body_html(table: Table, *, styled: bool = True) -> str:
    """The rows of a table as HTML; by hand, since a template takes five times as long for each of many cells.

    Args:
        styled: Whether elements may have styles; otherwise the script sets them.

    >>> print(body_html(Table("t", "", (Column("Model"), Column("Top-1", "percent")), (("<a>", 0.5),))))
    <tbody>
    <tr><th scope="row" class="text">&lt;a&gt;</th><td class="percent">50.0</td></tr>
    </tbody>
    """
    rows = ["".join(_cell_html(cell, at == 0, styled) for at, cell in enumerate(row)) for row in cell_texts(table)]
    return "\n".join(["<tbody>", *(f"<tr>{row}</tr>" for row in rows), "</tbody>"])


def _cell_html(cell: CellText, first: bool, styled: bool) -> str:
    tag, scope = ("th", ' scope="row"') if first else ("td", "")
    style = f' style="--low:{cell.bar[0]:.4f};--high:{cell.bar[1]:.4f}"' if cell.bar and styled else ""
    text = escape(cell.text)
    if cell.link:
        text = f'<a href="{escape(cell.link)}">{text}</a>'
    elif cell.bold:
        text = f"<b>{text}</b>"
    interval = f"<small>{cell.interval}</small>" if cell.interval else ""
    return f'<{tag}{scope} class="{cell.unit}"{style}>{text}{interval}</{tag}>'


def shown_columns(table: Table) -> list[tuple[Column, int]]:
    """The columns that are not hidden at first, each with the room in letters that it wants."""
    return [(column, _room(column, values)) for column, values in _columns(table) if not column.hidden]


def table_data(table: Table) -> dict[str, Any]:
    """The table for the scripts, in full precision; an estimate is ``[value, low, high, n]``."""
    return {
        "columns": [
            {
                "title": column.name,
                "unit": column.unit,
                "about": column.about,
                "better": column.better,
                "digits": digits_of(column, values),
                "bar": column.bar,
                "hidden": column.hidden,
                "least": column.least,
            }
            for column, values in _columns(table)
        ],
        "rows": [[cell_data(value) for value in row] for row in table.rows],
        "filters": table.filters,
        "caption": table.caption,
        "order": table.order,
        "bold": sorted(table.bold),
    }


def cell_data(value: Value) -> Any:
    """A cell for the scripts.

    >>> cell_data(Estimate(0.5, 0.4, 0.6, 100, "wilson 95%")), cell_data("fog"), cell_data(float("nan"))
    ([0.5, 0.4, 0.6, 100], 'fog', None)
    """
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, Estimate):
        return [plain(value.value), plain(value.low), plain(value.high), value.n]
    return plain(value)


def plain(value: Any) -> Any:
    """The same for JSON: numbers that are not known are null, numpy's become Python's.

    >>> plain({"a": (1.0, float("inf"))})
    {'a': [1.0, None]}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _columns(table: Table) -> list[tuple[Column, list[Value]]]:
    return [(column, table.values(place)) for place, column in enumerate(table.columns)]


def _room(column: Column, values: Sequence[Value]) -> int:
    """Room for the longest text and for the title, within reason: names on one line, tables not too broad."""
    if column.unit != "text":
        return min(len(column.name), LONGEST_TITLE)
    return min(max(len(text) for text in (column.name, *values) if isinstance(text, str)), LONGEST)


def _ends(unit: Unit, values: Sequence[Value]) -> tuple[float, float] | None:
    """The least and the greatest end of the intervals of a column; of differences as far below 0 as above it."""
    known = [value for value in values if isinstance(value, Estimate)]
    low = min((value.low for value in known if value.low is not None), default=0.0)
    high = max((value.high for value in known if value.high is not None), default=0.0)
    if unit == "points":
        low, high = -max(-low, high), max(-low, high)
    return (low, high) if high > low else None


def _column_texts(table: Table, place: int) -> list[CellText]:
    column, values = table.columns[place], table.values(place)
    digits, ends = digits_of(column, values), _ends(column.unit, values) if column.bar else None
    return [
        CellText(
            column.unit,
            value_text(value, column.unit, digits, least=column.least),
            bounds(value, column.unit, digits),
            _bar(value, ends),
            (at, place) in table.bold,
            table.links.get((at, place), ""),
        )
        for at, value in enumerate(values)
    ]


def _bar(value: Value, ends: tuple[float, float] | None) -> tuple[float, float] | None:
    if ends is None or not isinstance(value, Estimate) or value.low is None or value.high is None:
        return None
    start, width = ends[0], ends[1] - ends[0]
    return (value.low - start) / width, (value.high - start) / width
