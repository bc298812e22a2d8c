"""Which cells a name of the user's stands for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from oodometer.core.errors import UsageError, did_you_mean
from oodometer.store.cells import Cell
from oodometer.store.index import Index


def cells_on(name: str, cells: Sequence[Cell]) -> list[Cell]:
    """The cells on a condition: ``NAME``, ``NAME@DATA``, or ``NAME@DATA@DIGEST`` where data share a name."""
    named = [cell for cell in cells if cell.condition_name == name]
    return named or [cell for cell in cells if name in (_on_data(cell), _on_content(cell))]


def with_labels(index: Index, cells: Sequence[Cell]) -> list[Cell]:
    """Of these cells those whose images have labels, where some do: ``clean`` may be of images without any too."""
    return [cell for cell in cells if index.entry(cell).n] or list(cells)


def hint_for(on: str, names: Iterable[str]) -> str:
    """What somebody may have meant who named no condition: one spelled alike, or one of a family."""
    known = sorted(set(names))
    member = next((name for name in known if name.startswith(f"{on}/")), None)
    return f"; it is a family: name one condition, such as {member}" if member else did_you_mean(on, known)


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
    return f"{_on_data(cell)}@{cell.data.digest[:8]}"


def model_of(cell: Cell) -> tuple[str, str]:
    """What makes a model: its name, weights and preprocessing, and the precision."""
    return cell.model.key, cell.precision


def models_of(cells: Sequence[Cell]) -> list[list[Cell]]:
    """The cells of each model."""
    groups: dict[tuple[str, str], list[Cell]] = {}
    for cell in cells:
        groups.setdefault(model_of(cell), []).append(cell)
    return list(groups.values())
