"""Predictions after temperature scaling, the temperature fitted on one condition alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from oodometer.analysis.fitted_on import cell_to_fit_on
from oodometer.core.errors import StoreError
from oodometer.core.predictions import Predictions
from oodometer.metrics.metric import Metric
from oodometer.metrics.temperature import TemperatureFit, fit_temperature_to, rescaled
from oodometer.store.cells import Cell
from oodometer.store.index import Index

SCALED = {"confidence", "margin", "energy", "max_logit", "entropy", "label_log_probability", "sum_squares"}
"""The columns that depend on the temperature; the order of the classes does not."""


class Scaled:
    """Reads the rows of cells, scaled by the temperature of their model where one is asked for.

    Args:
        cells: Among which those lie that the temperatures are fitted on.
        condition: Where to fit them; None: nothing is scaled.
    """

    def __init__(self, index: Index, cells: Sequence[Cell], condition: str | None) -> None:
        self._index = index
        self._cells = cells
        self._condition = condition
        self._fitted: dict[str, TemperatureFit] = {}
        self._where: dict[str, Cell] = {}

    def changes(self, metric: Metric) -> bool:
        """Whether the metric depends on the temperature, and there is one."""
        return self._condition is not None and bool(SCALED & set(metric.columns))

    def read(self, cell: Cell) -> Predictions:
        """The rows of a cell."""
        if self._condition is None:
            return self._index.read(cell)
        rows = with_kept_logits(self._index, cell)
        found = rescaled(rows, self._fit(cell).temperature)
        # The kept logits are rounded: the answers are those that the model gave, not those of rounded logits.
        return replace(found, prediction=rows.prediction, rank=rows.rank, top5=rows.top5)

    def with_logits(self, cell: Cell, what: str) -> tuple[Predictions, np.ndarray]:
        """The rows of a cell as they are kept, and their logits, scaled; an error where there are none.

        Args:
            what: Needs them, as words for that error.
        """
        rows = with_kept_logits(self._index, cell, what)
        logits = np.asarray(rows.logits)
        if self._condition is not None:
            logits = logits.astype(np.float32) / np.float32(self._fit(cell).temperature)
        return rows, logits

    def note(self, cell: Cell) -> str:
        """What was done to the confidences of this cell, as the end of a convention."""
        if self._condition is None:
            return ""
        return f"; temperature {self._fit(cell).temperature:.4g} of {cell.model_name} fitted on {self._condition}"

    def _fit(self, cell: Cell) -> TemperatureFit:
        if cell.key not in self._where:
            self._where[cell.key] = cell_to_fit_on(
                self._index, self._cells, cell, str(self._condition), "its temperature should be fitted"
            )
        clean = self._where[cell.key]
        if clean.key not in self._fitted:
            self._fitted[clean.key] = fit_temperature_to(with_kept_logits(self._index, clean))
        return self._fitted[clean.key]


def with_kept_logits(index: Index, cell: Cell, what: str = "a temperature") -> Predictions:
    """The rows of a cell with all logits; an error where they were not kept, which says what needs them."""
    # Of an unfinished run too: the logits of what is there.
    if not index.entry(cell).logits_of_all_rows:
        raise StoreError(
            f"{index}: the logits of {cell.model_name} on {cell.condition_name} were not kept, and {what} needs "
            "them; run it again with --keep logits"
        )
    return index.read(cell, logits=True)
