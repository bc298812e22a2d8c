"""Which cells a name of the user's stands for."""

from __future__ import annotations

from oodometer.core.errors import UsageError, did_you_mean
from oodometer.store.cells import Cell
from oodometer.store.store import Store


def cells_of(name: str, cells: list[Cell], store: Store) -> list[Cell]:
    """The finished or begun cells of one model, all of the same weights."""
    plain, _, digest = name.rpartition("@") if "@" in name else (name, "", "")
    exact = [cell for cell in cells if cell.model_name == name]
    found = exact or [
        cell
        for cell in cells
        if cell.model_name == plain and any(key.startswith(digest) for key in (str(cell.model["digest"]), cell.key))
    ]
    if not found:
        hint = did_you_mean(name, {cell.model_name for cell in cells})
        raise UsageError(f"{store}: no predictions of a model named {name!r}{hint}")
    weights = sorted({str(cell.model["digest"])[:8] for cell in found})
    if len(weights) > 1:
        several = ", ".join(f"{plain}@{one}" for one in weights)
        raise UsageError(f"{store}: {name} stands for several weights; say which: {several}")
    for cell in found:
        twins = [other for other in found if other.condition == cell.condition]
        if len(twins) > 1:
            several = ", ".join(f"{plain}@{other.key[:8]}" for other in twins)
            raise UsageError(
                f"{store}: {name} was run on {cell.condition_name} with several preprocessings or precisions; "
                f"say which: {several}"
            )
    return found
