"""Tables as pages show them: texts, the room that columns want, and plain values for scripts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from oodometer.core.estimate import Estimate
from oodometer.document.numbers import Unit, Value, bounds, usual_digits, value_text
from oodometer.document.table import Column, Table

LONGEST = 36
"""Letters of a text on one line."""
LONGEST_TITLE = 14
"""Letters of a title above numbers on one line."""


@dataclass(frozen=True)
class CellText:
    """A cell as it is shown: the number, its interval, and where that lies between the ends of its column (0 to 1)."""

    unit: Unit
    text: str
    interval: str = ""
    bar: tuple[float, float] | None = None


def cell_texts(table: Table) -> list[list[CellText]]:
    """Every row of a table, without the columns that are hidden at first."""
    shown = [
        [_cell_text(value, column, digits_of(column, values), ends) for value in values]
        for column, values in _columns(table)
        if not column.hidden
        for ends in [_ends(values) if column.bar else None]
    ]
    return [list(row) for row in zip(*shown, strict=True)]


def shown_columns(table: Table) -> list[tuple[Column, int]]:
    """The columns that are not hidden at first, each with the room in letters that it wants."""
    return [(column, _room(column, values)) for column, values in _columns(table) if not column.hidden]


def digits_of(column: Column, values: Sequence[Value]) -> int:
    """The digits behind the point, the same in a whole column."""
    return usual_digits(column.unit, values) if column.digits is None else column.digits


def table_data(table: Table) -> dict[str, Any]:
    """The table for the scripts, in full precision; an estimate is ``[value, low, high, n]``."""
    return {
        "columns": [
            {
                "title": column.title,
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
    }


def cell_data(value: Value) -> Any:
    """A cell for the scripts.

    >>> cell_data(Estimate(0.5, 0.4, 0.6, 100, "wilson 95%")), cell_data("fog"), cell_data(float("nan"))
    ([0.5, 0.4, 0.6, 100], 'fog', None)
    """
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
    return [(column, [row[place] for row in table.rows]) for place, column in enumerate(table.columns)]


def _room(column: Column, values: Sequence[Value]) -> int:
    """Room for the longest text and for the title, within reason: names on one line, tables not too broad."""
    if column.unit != "text":
        return min(len(column.title), LONGEST_TITLE)
    return min(max(len(text) for text in (column.title, *values) if isinstance(text, str)), LONGEST)


def _ends(values: Sequence[Value]) -> tuple[float, float] | None:
    """The least and the greatest end of the intervals of a column."""
    known = [value for value in values if isinstance(value, Estimate)]
    low = min((value.low for value in known if value.low is not None), default=0.0)
    high = max((value.high for value in known if value.high is not None), default=0.0)
    return (low, high) if high > low else None


def _cell_text(value: Value, column: Column, digits: int, ends: tuple[float, float] | None) -> CellText:
    text = value_text(value, column.unit, digits, least=column.least)
    interval = bounds(value, column.unit, digits)
    if not interval or ends is None or not isinstance(value, Estimate) or value.low is None or value.high is None:
        return CellText(column.unit, text, interval)
    start, width = ends[0], ends[1] - ends[0]
    return CellText(column.unit, text, interval, ((value.low - start) / width, (value.high - start) / width))
