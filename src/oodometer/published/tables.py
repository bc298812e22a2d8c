"""The papers' tables as they were printed, bundled as CSV files."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import files

import numpy as np

from oodometer.core.errors import DataError, UsageError, did_you_mean

FOLDER = files("oodometer.published") / "data"


@dataclass(frozen=True)
class Table:
    """One printed table, in its own units (percent).

    Args:
        name: The file's name, without ``.csv``.
        models: The first column: one name per row, each once.
        columns: The others by name, each (rows,): float64 with NaN where a cell is empty, or text where a cell is no
            number.
    """

    name: str
    models: tuple[str, ...]
    columns: dict[str, np.ndarray]

    def column(self, name: str) -> np.ndarray:
        """One column, (rows,)."""
        if name not in self.columns:
            raise DataError(f"{self.name}: no column named {name!r}{did_you_mean(name, self.columns)}")
        return self.columns[name]

    def row(self, model: str) -> int:
        """The place of one model."""
        if model not in self.models:
            raise DataError(f"{self.name}: no row named {model!r}{did_you_mean(model, self.models)}")
        return self.models.index(model)

    def value(self, model: str, column: str) -> float:
        """One cell that is a number."""
        value = self.column(column)[self.row(model)]
        if isinstance(value, str) or np.isnan(value):
            raise DataError(f"{self.name}: {column!r} of {model!r} is no number")
        return float(value)


def table_names() -> list[str]:
    """The names of the bundled tables, in order."""
    return sorted(entry.name[:-4] for entry in FOLDER.iterdir() if entry.name.endswith(".csv"))


def read_table(name: str) -> Table:
    """One bundled table.

    >>> table = read_table("recht2019_cifar10")
    >>> table.models[0], table.value("autoaug_pyramid_net_tf", "cifar10.1")
    ('autoaug_pyramid_net_tf', 95.5)
    """
    if name not in table_names():
        raise UsageError(f"no published table named {name!r}{did_you_mean(name, table_names())}")
    return parse_table(name, (FOLDER / f"{name}.csv").read_text(encoding="utf-8").splitlines())


def parse_table(name: str, lines: Iterable[str]) -> Table:
    """A table from the lines of a CSV file whose first row is the header and whose first column names the rows.

    >>> table = parse_table("made-up", ["model,val,a", "m1,76.1,", "m2,80,2.2"])
    >>> table.models, table.columns["a"].tolist()
    (('m1', 'm2'), [nan, 2.2])
    """
    rows = [row for row in csv.reader(lines) if row]
    if len(rows) < 2:
        raise DataError(f"{name}: expected a header and at least one row of a CSV file")
    header, body = rows[0], rows[1:]
    for number, row in enumerate(body, start=2):
        if len(row) != len(header):
            raise DataError(f"{name}: row {number} has {len(row)} cells, the header {len(header)}")
    models = tuple(row[0] for row in body)
    _check_unique(name, "row", models)
    _check_unique(name, "column", header)
    columns = {title: _column([row[place] for row in body]) for place, title in enumerate(header) if place > 0}
    return Table(name, models, columns)


def _column(cells: list[str]) -> np.ndarray:
    """The cells as numbers, with NaN where one is empty; as text where one is neither."""
    try:
        return np.array([float(cell) if cell else np.nan for cell in cells])
    except ValueError:
        return np.array(cells)


def _check_unique(name: str, kind: str, names: Iterable[str]) -> None:
    seen: set[str] = set()
    for each in names:
        if each in seen:
            raise DataError(f"{name}: the {kind} {each!r} is there twice")
        seen.add(each)
