"""Which cells a name of the user's stands for, and which belong together."""

from __future__ import annotations

from collections.abc import Sequence

from oodometer.core.errors import UsageError, did_you_mean
from oodometer.store.cells import Cell
from oodometer.store.store import Store


def cells_of(name: str, cells: list[Cell], store: Store) -> list[Cell]:
    """The cells of one model, finished or begun, all of the same weights."""
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
    weights = sorted({cell.weights[:8] for cell in found})
    if len(weights) > 1:
        several = ", ".join(f"{plain}@{one}" for one in weights)
        raise UsageError(f"{store}: {name} stands for several weights; say which: {several}")
    for cell in found:
        twins = [other for other in found if other.condition == cell.condition]
        if len(twins) > 1:
            several = ", ".join(f"{plain}@{other.key[:8]}" for other in twins)
            raise UsageError(
                f"{store}: {name} was run on {cell.condition_name} with several preprocessings or precisions, or from "
                f"several files; say which: {several}"
            )
    return found


def cells_on(name: str, cells: Sequence[Cell]) -> list[Cell]:
    """The cells on a condition: ``NAME``, ``NAME@DATA``, or ``NAME@DATA@DIGEST`` where data share a name."""
    found = [cell for cell in cells if cell.condition_name == name]
    return found or [cell for cell in cells if name in (_on_data(cell), _on_content(cell))]


def check_condition(name: str, cells: Sequence[Cell], what: str) -> None:
    """An error if no model was run on the condition that the user named."""
    if not cells_on(name, cells):
        known = {cell.condition_name for cell in cells}
        raise UsageError(f"{what} {name}: nothing was run on it{did_you_mean(name, known)}")


def names_of_conditions(cells: Sequence[Cell]) -> list[str]:
    """Names that tell these cells apart: by their data, and by its digest where the data share a name."""
    by_data = sorted({_on_data(cell) for cell in cells})
    return by_data if len(by_data) == len(cells) else sorted({_on_content(cell) for cell in cells})


def _on_data(cell: Cell) -> str:
    return f"{cell.condition_name}@{cell.data}"


def _on_content(cell: Cell) -> str:
    return f"{_on_data(cell)}@{str(cell.condition['data'])[:8]}"


def model_of(cell: Cell) -> tuple[str, ...]:
    """What makes a model: its name, weights, preprocessing and precision."""
    return cell.model_name, cell.weights, str(cell.model.get("input")), cell.precision


def models_of(cells: Sequence[Cell]) -> list[list[Cell]]:
    """The cells of each model."""
    groups: dict[tuple[str, ...], list[Cell]] = {}
    for cell in cells:
        groups.setdefault(model_of(cell), []).append(cell)
    return list(groups.values())


def same_classes(a: Cell, b: Cell) -> bool:
    """Whether both are answered over the same classes: a softmax over others can't be compared."""
    return (a.n_classes, a.condition["label_map"]) == (b.n_classes, b.condition["label_map"])
