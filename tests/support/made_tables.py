"""Looking into tables of models, by names instead of places."""

from __future__ import annotations

from oodometer.document.numbers import Value
from oodometer.document.table import Table


def column_of(table: Table, key: str) -> dict[str, Value]:
    """The values of a column, by its id or by what it is called alone, of each model that has one."""
    place = next(at for at, column in enumerate(table.columns) if key in (column.key, column.name))
    return {str(row[0]): row[place] for row in table.rows if row[place] is not None}


def keys_of(table: Table) -> list[str]:
    """The ids of the columns of numbers."""
    return [column.key for column in table.columns if column.unit != "text"]


def models_of(table: Table) -> list[str]:
    """In the order of the rows."""
    return [str(row[0]) for row in table.rows]


def bold_in(table: Table, model: str) -> set[str]:
    """The ids of the columns that the model is the best of."""
    row = models_of(table).index(model)
    return {table.columns[place].key for at, place in table.bold if at == row}
