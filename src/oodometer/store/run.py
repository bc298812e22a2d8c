"""What a run was about and gave."""

from __future__ import annotations

from dataclasses import dataclass

from oodometer.core.records import ShiftRecord
from oodometer.store.cells import Cell
from oodometer.store.store import Store


@dataclass(frozen=True)
class Run:
    """A finished run: everything that reads a store takes it too, and then looks at what the run was about alone.

    Args:
        cells: Every model on every condition.
        shifts: The pairs among these conditions.
        warnings: What the user should know, a line each.
    """

    store: Store
    cells: tuple[Cell, ...]
    shifts: tuple[ShiftRecord, ...]
    warnings: tuple[str, ...] = ()

    def __str__(self) -> str:
        return str(self.store)
