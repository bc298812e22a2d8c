"""Predictions after temperature scaling, the temperature fitted on one condition alone."""

from __future__ import annotations

from collections.abc import Sequence

from oodometer.core.errors import StoreError
from oodometer.core.predictions import Predictions
from oodometer.metrics.temperature import TemperatureFit, fit_temperature_to, rescaled
from oodometer.store.cells import Cell
from oodometer.store.store import Store


class Scaled:
    """Reads the rows of cells, scaled by the temperature of their model where one is asked for."""

    def __init__(self, store: Store, cells: Sequence[Cell], condition: str | None) -> None:
        self._store = store
        self._cells = cells
        self._condition = condition
        self._fitted: dict[tuple[str, str], TemperatureFit] = {}

    def read(self, cell: Cell) -> Predictions:
        """The rows of a cell."""
        if self._condition is None:
            return self._store.read(cell)
        return rescaled(_with_logits(self._store, cell), self._temperature(cell).temperature)

    def note(self, cell: Cell) -> str:
        """What was done to the confidences of this cell, as the end of a convention."""
        if self._condition is None:
            return ""
        return f"; temperature {self._temperature(cell).temperature:.4g} fitted on {self._condition}"

    def _temperature(self, cell: Cell) -> TemperatureFit:
        key = (cell.model_name, str(cell.model["digest"]))
        if key not in self._fitted:
            fitting = [one for one in self._cells if _same_model(one, cell) and one.condition_name == self._condition]
            if not fitting:
                raise StoreError(
                    f"{self._store}: {cell.model_name} was not run on {self._condition}, where its temperature "
                    "should be fitted"
                )
            self._fitted[key] = fit_temperature_to(_with_logits(self._store, fitting[0]))
        return self._fitted[key]


def _same_model(a: Cell, b: Cell) -> bool:
    return (a.model_name, a.model["digest"], a.precision) == (b.model_name, b.model["digest"], b.precision)


def _with_logits(store: Store, cell: Cell) -> Predictions:
    if not store.has_logits(cell):
        raise StoreError(
            f"{store}: the logits of {cell.model_name} on {cell.condition_name} were not kept, and a temperature needs "
            "them; run it again with --keep logits"
        )
    return store.read(cell, logits=True)
