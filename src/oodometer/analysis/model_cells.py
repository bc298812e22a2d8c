"""The cells of one model on a condition or under a shift that the user names."""

from __future__ import annotations

from oodometer.analysis.asked_shifts import asked_shift
from oodometer.analysis.named import cells_on, names_of_conditions, with_labels
from oodometer.core.errors import StoreError, UsageError
from oodometer.core.records import ConditionRecord
from oodometer.store.cells import Cell
from oodometer.store.index import Index


def cells_of_model_on(index: Index, model: str, on: str) -> list[Cell]:
    """One cell, or those of all conditions of a family.

    Args:
        on: A condition by its name in the store or ``NAME@DATA``, or a shift.
    """
    known = [cell for cell in index.of_model(model) if index.has_rows(cell)]
    own = [cell for cell in known if index.condition_name_of[cell.condition.key] == on]
    found = own or with_labels(index, cells_on(on, known))
    if len(found) > 1:
        raise UsageError(f"{index}: {on} of several data sets; say which: {', '.join(names_of_conditions(found))}")
    if found:
        return found
    return cells_under(index, model, [side.condition for side in asked_shift(index, on).members], on)


def cells_under(index: Index, model: str, conditions: list[ConditionRecord | None], on: str) -> list[Cell]:
    """The cells of a model on all of these conditions; an error where one is missing."""
    keys = [condition.key for condition in conditions if condition is not None]
    by_key = {cell.condition.key: cell for cell in index.of_model(model) if index.has_rows(cell)}
    if not keys:
        raise StoreError(f"{index}: of {on} only accuracies are known; which classes are confused, predictions tell")
    if missing := [key for key in keys if key not in by_key]:
        of = "" if len(keys) == 1 else f" {len(missing)} of the {len(keys)} conditions of"
        raise StoreError(f"{index}: {model} was not run on{of} {on}")
    return [by_key[key] for key in keys]
