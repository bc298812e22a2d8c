"""Printed tables with one number changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import ModuleType

import pytest

from oodometer.published.tables import Table, read_table

Change = Callable[[ModuleType, str, str, str, float | str], None]


@pytest.fixture
def change(monkeypatch: pytest.MonkeyPatch) -> Change:
    """Let a module read one cell of one table as another value; may be called again for more cells."""
    cells: dict[tuple[str, str, str], float | str] = {}

    def read_changed(name: str) -> Table:
        table = read_table(name)
        columns = {title: column.copy() for title, column in table.columns.items()}
        for (of, model, column), value in cells.items():
            if of == name:
                columns[column][table.row(model)] = value
        return replace(table, columns=columns)

    def change_one(module: ModuleType, table: str, model: str, column: str, value: float | str) -> None:
        cells[table, model, column] = value
        monkeypatch.setattr(module, "read_table", read_changed)

    return change_one
