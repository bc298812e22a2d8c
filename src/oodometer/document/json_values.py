"""A table as plain values, for JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from oodometer.core.estimate import Estimate
from oodometer.document.numbers import Value
from oodometer.document.table import Table

DESCRIBED = ("title", "over", "unit", "better", "about")


def json_of(table: Table) -> dict[str, Any]:
    """Columns and rows by their ids: texts of a row as they are, numbers below ``values``, each with its interval.

    The rows stand below what they are: ``models``, where the first column is ``model``.
    """
    columns = list(enumerate(table.columns))
    texts = [(place, column) for place, column in columns if column.unit == "text"]
    numbers = [(place, column) for place, column in columns if column.unit != "text"]
    return {
        "name": table.id,
        "caption": table.caption,
        "columns": [{"id": one.key, **{name: getattr(one, name) for name in DESCRIBED}} for _, one in numbers],
        f"{table.columns[0].key}s": [
            {
                **{column.key: row[place] for place, column in texts},
                "values": {
                    column.key: _number(row[place], best=(at, place) in table.bold) for place, column in numbers
                },
            }
            for at, row in enumerate(table.rows)
        ],
        "footnotes": list(table.footnotes),
        "notes": list(table.notes),
    }


def _number(value: Value, *, best: bool) -> Any:
    return {**asdict(value), "best": best} if isinstance(value, Estimate) else value
