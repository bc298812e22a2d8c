"""What people call the classes that the answers of a cell name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache

import numpy as np

from oodometer.analysis.text import listed
from oodometer.catalogue.class_names import human_names
from oodometer.core.labels import LabelSpace
from oodometer.store.cells import Cell
from oodometer.store.index import Index

MOST_NAMES = 2
"""Of a class that stands for several of the data's."""


def answer_names(index: Index, cell: Cell) -> dict[int, str]:
    """What people call each class of a cell's answers, each by a name of its own; those nobody knows are not there.

    The data name the classes; models may number them in another order, or answer some of them alone. What is not seen
    in this cell may be seen in others that number their classes alike.
    """
    return dict(_answer_names(index, cell.key))


@lru_cache(256)
def _answer_names(index: Index, key: str) -> dict[int, str]:
    cell = index.by_key[key].cell
    known = _names_in(index, cell)
    for other in _numbered_alike(index, cell):
        if len(known) >= cell.n_classes:
            break
        known = {**_names_in(index, other), **known}
    return _told_apart(known)


def data_names(space: LabelSpace, answered: str) -> list[str]:
    """What people call each class of some data, of which models answer the classes of that name."""
    return human_names(space, answered)


def name_in(names: Mapping[int, str], answer: int) -> str:
    """The name of a class; its number where it has none.

    >>> name_in({3: "jeep"}, 3), name_in({3: "jeep"}, 5)
    ('jeep', 'class 5')
    """
    return names.get(answer, f"class {answer}")


def _names_in(index: Index, cell: Cell) -> dict[int, str]:
    images, rows = index.images(cell), index.read(cell)
    called = human_names(images.space, cell.space)
    if cell.answers is not None:
        return {place: called[label] for label, place in enumerate(cell.answers) if place >= 0}
    labelled = rows.label >= 0
    if not labelled.any() and len(called) != cell.n_classes:
        return {}  # images of no class, in whose data the classes have no name
    answers, labels = rows.label[labelled], images.labels[rows.image[labelled]]
    is_own = cell.condition.label_map is None or len(images.space) == cell.n_classes
    if is_own and np.array_equal(answers, labels):
        return dict(enumerate(called))
    groups: dict[int, list[str]] = {}
    for answer, label in np.unique(np.stack([answers, labels], axis=1), axis=0).tolist():
        groups.setdefault(answer, []).append(called[label])
    return {answer: listed(several, MOST_NAMES) for answer, several in groups.items()}


def _numbered_alike(index: Index, cell: Cell) -> Iterator[Cell]:
    """One cell of each other data set whose answers mean the same by the same numbers."""
    seen = {cell.data.digest}
    for entry in index.entries:
        other = entry.cell
        same_map = other.classes == cell.classes and other.answers is None
        same_model = cell.condition.label_map is not None or other.model.key == cell.model.key
        if entry.n and same_map and same_model and other.data.digest not in seen:
            seen.add(other.data.digest)
            yield other


def _told_apart(names: Mapping[int, str]) -> dict[int, str]:
    times = Counter(names.values())
    return {answer: name if times[name] == 1 else f"{name} ({answer})" for answer, name in names.items()}
