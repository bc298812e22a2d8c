"""How numbers are written in tables, and what the scripts get of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from oodometer.core.estimate import Estimate
from oodometer.report.html.parts import Column, How, Table, Value

MINUS = "−"  # as wide as a plus, so that signed numbers stand in line
LONGEST = 36
"""Signs of a text on one line."""
LONGEST_TITLE = 14
"""Signs of a title above numbers on one line."""
UNITS = {"percent": "%", "points": "points"}


@dataclass(frozen=True)
class Written:
    """A cell as it is shown: the number, its interval, and where that lies between the ends of its column (0 to 1)."""

    how: How
    text: str
    interval: str = ""
    bar: tuple[float, float] | None = None


def written_rows(table: Table) -> list[list[Written]]:
    """Every cell of a table as text, without the columns that are hidden at first."""
    shown = [
        [_written(value, column, digits_of(column, values), _ends(values) if column.bar else None) for value in values]
        for column, values in _columns(table)
        if not column.hidden
    ]
    return [list(row) for row in zip(*shown, strict=True)]


def shown_columns(table: Table) -> list[tuple[Column, int]]:
    """The columns that are not hidden at first, each with the room in signs that it wants."""
    return [(column, _room(column, values)) for column, values in _columns(table) if not column.hidden]


def number(value: float, column: Column, digits: int) -> str:
    """A number as its column writes it.

    >>> number(0.7412, Column("top-1", "percent"), 1), number(-0.0213, Column("ρ", "points"), 1)
    ('74.1', '−2.1')
    >>> number(50000, Column("images", "count"), 0), number(1e-9, Column("p", "number", least=0.0001), 4)
    ('50,000', '< 0.0001')
    """
    if column.least is not None and value < column.least:
        return f"< {number(column.least, column, digits)}"
    if column.how == "count":
        return f"{value:,.0f}".replace("-", MINUS)
    scaled = value * 100 if column.how in UNITS else value
    sign = "+" if column.how == "points" else ""
    text = f"{scaled:{sign}.{digits}f}"
    return text.replace("-", MINUS)


def digits_of(column: Column, values: Sequence[Value]) -> int:
    """The digits behind the point, the same in a whole column.

    >>> digits_of(Column("n", "number"), [0.5, None, 2.25]), digits_of(Column("n", "number"), [0.5, 225.0])
    (3, 1)
    """
    if column.digits is not None:
        return column.digits
    if column.how == "count":
        return 0
    if column.how in UNITS:
        return 1
    found = [abs(plain) for value in values if (plain := value_of(value)) is not None]
    return 3 if not found or max(found) < 10 else 1


def value_of(value: Value) -> float | None:
    """The number in a cell; None where there is none.

    >>> value_of(Estimate(0.5, 0.4, 0.6, 100, "wilson 95%")), value_of("fog"), value_of(float("nan"))
    (0.5, None, None)
    """
    plain = value.value if isinstance(value, Estimate) else value
    if plain is None or isinstance(plain, str) or not math.isfinite(plain):
        return None
    return float(plain)


def table_data(table: Table) -> dict[str, Any]:
    """The table for the scripts, in full precision; an estimate is ``[value, low, high, n]``."""
    return {
        "columns": [
            {
                "title": column.title,
                "how": column.how,
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
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _columns(table: Table) -> list[tuple[Column, list[Value]]]:
    return [(column, [row[place] for row in table.rows]) for place, column in enumerate(table.columns)]


def _room(column: Column, values: Sequence[Value]) -> int:
    """Room for the longest text and for the title, within reason: names on one line, tables not too broad."""
    if column.how != "text":
        return min(len(column.title), LONGEST_TITLE)
    return min(max(len(text) for text in (column.title, *values) if isinstance(text, str)), LONGEST)


def _ends(values: Sequence[Value]) -> tuple[float, float] | None:
    """The least and the greatest end of the intervals of a column."""
    found = [value for value in values if isinstance(value, Estimate) and value.low is not None]
    low = min((one.low for one in found if one.low is not None), default=0.0)
    high = max((one.high for one in found if one.high is not None), default=0.0)
    return (low, high) if high > low else None


def _written(value: Value, column: Column, digits: int, ends: tuple[float, float] | None) -> Written:
    if isinstance(value, str):
        return Written(column.how, value)
    known = value_of(value)
    if known is None:
        return Written(column.how, "–")
    text = number(known, column, digits)
    if not isinstance(value, Estimate) or value.low is None or value.high is None:
        return Written(column.how, text)
    low, high = (number(end, column, digits) for end in (value.low, value.high))
    if ends is None:
        return Written(column.how, text, f"[{low}, {high}]")
    start, width = ends[0], ends[1] - ends[0]
    return Written(column.how, text, f"[{low}, {high}]", ((value.low - start) / width, (value.high - start) / width))
