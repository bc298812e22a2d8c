"""What printed numbers allow: means of rounded cells, and statements in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from oodometer.published.checks import Check
from oodometer.published.tables import Table


@dataclass(frozen=True)
class PrintedMean:
    """A printed column that is said to be the mean of other columns.

    Args:
        what: The quantity, in words.
        where: In the paper.
        column: The name of the mean's column.
        cells: The names of the columns that it is the mean of.
        cell_unit: To what the cells were rounded.
        unit: To what the mean was rounded.

    >>> mce = PrintedMean("mCE", "Table 1", "mean", ("fog", "snow", "frost"), cell_unit=1, unit=0.1)
    >>> mce.reason
    'the cells are rounded to 1, the mean to 0.1: 0.55 at worst (0.17 is one standard deviation)'
    """

    what: str
    where: str
    column: str
    cells: tuple[str, ...]
    cell_unit: float
    unit: float

    @property
    def allowed(self) -> float:
        """The worst case: every cell half a unit off in the same direction, and the mean in the other."""
        return (self.cell_unit + self.unit) / 2

    @property
    def reason(self) -> str:
        """The worst case in words, with what is to be expected of independent roundings."""
        # A uniform error on a unit has a variance of a twelfth.
        expected = np.sqrt((self.cell_unit**2 / len(self.cells) + self.unit**2) / 12)
        rounded = f"the cells are rounded to {self.cell_unit:g}, the mean to {self.unit:g}"
        return f"{rounded}: {self.allowed:.2f} at worst ({expected:.2f} is one standard deviation)"


def cells_of(mean: PrintedMean, table: Table) -> np.ndarray:
    """The cells, (rows, cells)."""
    return np.stack([table.column(cell) for cell in mean.cells], axis=1)


def mean_check(paper: str, mean: PrintedMean, table: Table, model: str) -> Check:
    """One row's printed mean beside the mean of its cells."""
    ours = float(cells_of(mean, table)[table.row(model)].mean())
    published = table.value(model, mean.column)
    return Check(paper, f"{mean.what} of {model}", mean.where, published, ours, mean.allowed, mean.reason)


def rows_off_their_mean(mean: PrintedMean, table: Table) -> tuple[str, ...]:
    """The rows whose printed mean can't be the mean of their cells, however they were rounded."""
    return tuple(model for model in table.models if not mean_check("", mean, table, model).holds)


def clean_error_checks(paper: str, where: str, table: Table, recht: Table, names: Mapping[str, str]) -> list[Check]:
    """Clean errors beside those of the same public networks in the table of Recht 2019, by their names there."""
    reason = "both papers round to 0.1"
    return [
        Check(
            paper,
            f"clean error of {model} (Recht 2019: {name})",
            where,
            table.value(model, "clean_error"),
            100 - recht.value(name, "val_top1"),
            0.1,
            reason,
        )
        for model, name in names.items()
    ]


def statement(paper: str, what: str, where: str, words: str, *, otherwise: str) -> Check:
    """A statement of the paper in words, that holds if there is nothing otherwise.

    >>> statement("a paper", "networks below AlexNet", "Figure 2", "none", otherwise="").holds
    True
    >>> statement("a paper", "networks below AlexNet", "Figure 2", "none", otherwise="VGG-19 is").holds
    False
    """
    return Check(paper, what, where, words, otherwise or words)
