"""Where something is fitted that is used elsewhere: a temperature, a conformal threshold."""

from __future__ import annotations

from collections.abc import Sequence

from oodometer.analysis.named import cells_on, model_of, names_of_conditions, with_labels
from oodometer.core.errors import StoreError
from oodometer.store.cells import Cell
from oodometer.store.index import Index


def cell_to_fit_on(index: Index, cells: Sequence[Cell], cell: Cell, condition: str, what: str) -> Cell:
    """The cell of the same model on a condition that the user named: over the same classes, where there is such a cell.

    Args:
        what: Should be done there, as words for an error: ``its temperature should be fitted``.
    """
    own = [one for one in cells if model_of(one) == model_of(cell)]
    found = cells_on(condition, own)
    if not found:
        raise StoreError(f"{index}: {cell.model_name} was not run on {condition}, where {what}")
    found = with_labels(index, [one for one in found if one.classes == cell.classes] or found)
    if len(found) > 1:
        several = ", ".join(names_of_conditions(found))
        raise StoreError(
            f"{index}: {cell.model_name} was run on {condition} of several data sets; say on which {what}: {several}"
        )
    return found[0]
