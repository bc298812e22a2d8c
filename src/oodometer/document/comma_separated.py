"""A table as CSV: every number in full precision, with its interval and n."""

from __future__ import annotations

import csv
import io

from oodometer.core.estimate import Estimate
from oodometer.document.numbers import Value
from oodometer.document.table import Table

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""How texts begin that a spreadsheet would compute."""

ENDS = ("", " low", " high", " n")


def csv_of(table: Table) -> str:
    """A line for each row: of a text one field, of a column of estimates value, low, high and n; hidden ones too.

    Shares are shares, not per cent. An empty field is what is not known.
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    wide = [any(isinstance(value, Estimate) for value in table.values(place)) for place in range(len(table.columns))]
    heads: list[list[Value]] = [[f"{safe(column.key)}{end}" for end in ENDS] for column in table.columns]
    for fields in [heads, *([_fields(value) for value in row] for row in table.rows)]:
        cells = zip(fields, wide, strict=True)
        writer.writerow([field for of_cell, several in cells for field in (of_cell if several else of_cell[:1])])
    return buffer.getvalue()


def _fields(value: Value) -> list[Value]:
    if isinstance(value, Estimate):
        return [value.value, value.low, value.high, value.n]
    return [safe(value) if isinstance(value, str) else value, None, None, None]


def safe(text: str) -> str:
    """A text that a spreadsheet takes for one; `original` gives it back.

    >>> safe("=1+1"), safe("resnet"), safe("'=1")
    ("'=1+1", 'resnet', "''=1")
    """
    return f"'{text}" if _would_be_computed(text) else text


def original(text: str) -> str:
    """The text that `safe` was given.

    >>> original("'=1+1"), original("resnet"), original("'tis")
    ('=1+1', 'resnet', "'tis")
    """
    return text[1:] if text.startswith("'") and _would_be_computed(text) else text


def _would_be_computed(text: str) -> bool:
    # One that has a ' before it gets a second one: so no two texts are written alike.
    return text.lstrip("'").startswith(FORMULA)
