"""Images that show what a shift does: of some classes one clean image and one shifted, the same where it can be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from oodometer.analysis.class_names import answer_names, name_in
from oodometer.core.random import key_words
from oodometer.core.records import ConditionRecord
from oodometer.store.cells import Cell
from oodometer.study.study import Study, StudyShift


@dataclass(frozen=True)
class ShiftPair:
    """Two images of one class.

    Args:
        name: The class, as people call it.
        clean, shifted: The cell and the id of each.
        condition: In which the second is.
    """

    name: str
    clean: tuple[Cell, str]
    shifted: tuple[Cell, str]
    condition: str


def shift_pairs(study: Study, shift: StudyShift, n: int) -> list[ShiftPair]:
    """So many pairs, each of another class, drawn by their names; of a family each under another of its conditions."""
    sides = _cells(study, shift)
    if sides is None:
        return []
    clean, members = sides
    chosen = [members[place] for place in _spread(len(members), n)]
    names = answer_names(study.index, clean)
    of_clean, of_shifted = _images(study, clean), _images(study, chosen[0])
    both = sorted(set(of_clean) & set(of_shifted), key=lambda label: _draw("class", name_in(names, label)))
    pairs = []
    for at, label in enumerate(both[:n]):
        cell = chosen[at % len(chosen)]
        if shift.points.same_images:
            first = second = _first(set(of_clean[label]) & set(of_shifted[label]))
        else:
            first, second = _first(of_clean[label]), _first(of_shifted[label])
        condition = study.index.condition_name_of[cell.condition.key]
        pairs.append(ShiftPair(name_in(names, label), (clean, first), (cell, second), condition))
    return pairs


def _cells(study: Study, shift: StudyShift) -> tuple[Cell, list[Cell]] | None:
    """The cells of the first model that was run on both sides; none that was attacked, for no picture shows that."""
    keys = [record.key for name in (shift.standard, *shift.shifted) if (record := _record(study, name)) is not None]
    if len(keys) < 1 + len(shift.shifted) or len(keys) < 2:
        return None
    for model in study.models:
        by_key = {cell.condition.key: cell for cell in model.cells if study.index.has_rows(cell)}
        if all(key in by_key for key in keys):
            clean, *members = (by_key[key] for key in keys)
            return None if any(cell.condition.attack for cell in members) else (clean, members)
    return None


def _record(study: Study, name: str) -> ConditionRecord | None:
    return next((condition.record for condition in study.conditions if condition.name == name), None)


def _images(study: Study, cell: Cell) -> dict[int, list[str]]:
    """The ids of the images of each class."""
    rows = study.index.read(cell)
    labelled = rows.label >= 0
    ids = study.index.images(cell).ids[rows.image[labelled]]
    order = np.argsort(rows.label[labelled], kind="stable")
    labels, starts = np.unique(rows.label[labelled][order], return_index=True)
    return {int(label): some.tolist() for label, some in zip(labels, np.split(ids[order], starts[1:]), strict=True)}


def _first(ids: Sequence[str] | set[str]) -> str:
    return min(ids, key=lambda image_id: _draw("image", image_id))


def _draw(what: str, name: str) -> int:
    """A number that a name alone decides: so the same store shows the same images."""
    return int(key_words("shift pair", what, name, seed=0)[0])


def _spread(n: int, wanted: int) -> Iterator[int]:
    """Places from the first to the last, far from each other.

    >>> list(_spread(75, 4)), list(_spread(1, 4)), list(_spread(3, 4))
    ([17, 36, 55, 74], [0], [0, 1, 2])
    """
    several = min(n, wanted)
    return ((place + 1) * n // several - 1 for place in range(several))
