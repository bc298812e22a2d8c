"""Predictions after temperature scaling, the temperature fitted on one condition alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from oodometer.analysis.named import cells_on, model_of, names_of_conditions, with_labels
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

    def note(self, cell: Cell) -> str:
        """What was done to the confidences of this cell, as the end of a convention."""
        if self._condition is None:
            return ""
        return f"; temperature {self._fit(cell).temperature:.4g} of {cell.model_name} fitted on {self._condition}"

    def _fit(self, cell: Cell) -> TemperatureFit:
        if cell.key not in self._where:
            self._where[cell.key] = self._fitting_cell(cell)
        clean = self._where[cell.key]
        if clean.key not in self._fitted:
            self._fitted[clean.key] = fit_temperature_to(with_kept_logits(self._index, clean))
        return self._fitted[clean.key]

    def _fitting_cell(self, cell: Cell) -> Cell:
        """Where the temperature of the cell's model is fitted: over the same classes, where there is such a cell."""
        own = [one for one in self._cells if model_of(one) == model_of(cell)]
        found = cells_on(str(self._condition), own)
        if not found:
            raise StoreError(
                f"{self._index}: {cell.model_name} was not run on {self._condition}, where its temperature "
                "should be fitted"
            )
        found = with_labels(self._index, [one for one in found if one.classes == cell.classes] or found)
        if len(found) > 1:
            several = ", ".join(names_of_conditions(found))
            raise StoreError(
                f"{self._index}: {cell.model_name} was run on {self._condition} of several data sets; say on which its "
                f"temperature should be fitted: {several}"
            )
        return found[0]


def with_kept_logits(index: Index, cell: Cell) -> Predictions:
    """The rows of a cell with all logits; an error where they were not kept."""
    # Of an unfinished run too: the logits of what is there.
    if not index.entry(cell).logits_of_all_rows:
        raise StoreError(
            f"{index}: the logits of {cell.model_name} on {cell.condition_name} were not kept, and a temperature needs "
            "them; run it again with --keep logits"
        )
    return index.read(cell, logits=True)
