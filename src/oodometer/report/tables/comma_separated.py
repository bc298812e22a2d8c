"""A table as CSV: every number in full precision, with its interval and n."""

from __future__ import annotations

import csv
import io

from oodometer.core.estimate import Estimate
from oodometer.report.tables.table import ModelTable

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""How texts begin that a spreadsheet would compute."""


def csv_of(table: ModelTable) -> str:
    """A line for each model: ``model,category,parent``, and of each column its value, low, high and n.

    Shares are shares, not per cent. An empty field is what is not known.
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    ids = [safe(column.id) for column in table.columns]
    writer.writerow(
        ["model", "category", "parent", *(f"{one}{end}" for one in ids for end in ("", " low", " high", " n"))]
    )
    for row in table.rows:
        numbers = [value for cell in row.cells for value in _fields(cell)]
        writer.writerow([safe(row.model), safe(row.category), safe(row.parent or ""), *numbers])
    return buffer.getvalue()


def _fields(cell: Estimate | None) -> tuple[float | int | None, ...]:
    return (None,) * 4 if cell is None else (cell.value, cell.low, cell.high, cell.n)


def safe(text: str) -> str:
    """A text that a spreadsheet takes for one.

    >>> safe("=1+1"), safe("resnet")
    ("'=1+1", 'resnet')
    """
    return f"'{text}" if text.startswith(FORMULA) else text
