"""The images of a shifted set of which some are to be labelled, and what models answered to all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from oodometer.analysis.class_names import answer_names, name_in
from oodometer.analysis.common_images import joined
from oodometer.analysis.measured_shifts import CLEAN, is_clean
from oodometer.analysis.named import cells_on
from oodometer.analysis.people import models_alone
from oodometer.analysis.text import listed, plural
from oodometer.core.errors import StoreError, UsageError, did_you_mean
from oodometer.core.predictions import Predictions
from oodometer.core.records import ConditionRecord
from oodometer.store.cells import Cell
from oodometer.store.index import Index

FEW_NAMES = 3
SHORT = 12
"""Letters of a digest that tell data sets apart."""


@dataclass(frozen=True)
class Pool:
    """What models answered to the images of a set; none of them needs a label.

    Args:
        cells: One of each model.
        models: What the store calls them.
        ids: Of the images that all models answered, (N,).
        answers: The class that each model gave, (M, N).
        confidences: How sure it was, (M, N); NaN where nobody knows.
        right: Whether the label that the data have is the answer, (M, N); None where an image has no label.
        names: What the data call the class of each image, (N,); empty where there is no label.
        notes: What was left out.
    """

    cells: tuple[Cell, ...]
    models: tuple[str, ...]
    ids: np.ndarray
    answers: np.ndarray
    confidences: np.ndarray
    right: np.ndarray | None
    names: tuple[str, ...]
    notes: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def condition(self) -> ConditionRecord:
        """What the models were asked to look at."""
        return self.cells[0].condition

    @property
    def title(self) -> str:
        """What to call the set."""
        name, data = self.condition.name, self.condition.data.title
        return data if name in (CLEAN, data) else f"{name} on {data}"

    @property
    def digest(self) -> str:
        """What tells these images from others, short enough for a table."""
        return self.condition.data.digest[:SHORT]

    def place(self, model: str) -> int:
        """Which of the models is called so."""
        if model not in self.models:
            raise UsageError(f"{self.title}: no answers of a model named {model!r}{did_you_mean(model, self.models)}")
        return self.models.index(model)


def pool_of(index: Index, shifted: str, *, models: Sequence[str] = ()) -> Pool:
    """The answers of a store to the images of a set.

    Args:
        shifted: A condition by its name in the store, ``NAME@DATA``, or the name of data that were seen as they are.
        models: Names of models; none: all.
    """
    index = models_alone(index)
    cells = _cells_on(index, shifted)
    notes = [f"left out, not finished: {cell.model_name}" for cell in cells if not index.is_complete(cell)]
    finished = [cell for cell in cells if index.is_complete(cell)]
    if models:
        wanted = {cell.key for name in models for cell in index.of_model(name)}
        if missing := [name for name in models if not {cell.key for cell in index.of_model(name)} & _keys(finished)]:
            raise StoreError(f"{index}: {missing[0]} was not run on {shifted}, or is not finished")
        finished = [cell for cell in finished if cell.key in wanted]
    if not finished:
        raise StoreError(f"{index}: no model is finished on {shifted}; run again to go on")
    _check_alike(index, finished, shifted)
    common = joined(index, finished, _asked, labelled=False, columns=("label", "prediction", "confidence"))
    if common.left_out:
        notes.append(f"{plural(common.left_out, 'image')} left out that some model did not answer")
    sample = finished[0].data.sample
    if sample is not None:
        notes.append(f"the images are themselves a sample of {sample.of:,}: all that is told is about these alone")
    values = np.stack(common.values)
    ranks = values[:, :, 2]
    return Pool(
        cells=tuple(finished),
        models=tuple(index.model_name_of[cell.key] for cell in finished),
        ids=common.ids,
        answers=values[:, :, 0].astype(np.int64),
        confidences=values[:, :, 1],
        right=ranks == 0 if (ranks >= 0).all() else None,
        names=_names_of_labels(index, finished[0], common.rows[0]),
        notes=tuple(notes),
    )


def _check_alike(index: Index, cells: Sequence[Cell], shifted: str) -> None:
    """An error where one label for each image would not say whether all of these models are right."""
    for cell in cells:
        if cell.classes != cells[0].classes:
            both = f"{cell.model_name} and {cells[0].model_name}"
            raise StoreError(f"{index}: {both} answer other classes on {shifted}")
    if cells[0].n_units is not None:
        raise StoreError(
            f"{index}: on {shifted} groups of images are judged as one; a label for each image is not enough"
        )
    if cells[0].answers is not None:
        raise StoreError(f"{index}: images of {shifted} have several labels each; one for each is not enough")


def _asked(rows: Predictions) -> np.ndarray:
    return np.column_stack([rows.prediction, rows.confidence, rows.rank]).astype(np.float64)


def _keys(cells: Sequence[Cell]) -> set[str]:
    return {cell.key for cell in cells}


def _names_of_labels(index: Index, cell: Cell, rows: np.ndarray) -> tuple[str, ...]:
    """What the data call the class of each of these rows."""
    images = index.images(cell)
    labels = images.labels[index.columns(cell, "image")["image"][rows]]
    classes = (*images.space.classes, "")  # the last answers for -1
    return tuple(classes[label] for label in labels.tolist())


def _cells_on(index: Index, name: str) -> list[Cell]:
    """The cells of the one condition that is called so."""
    known = [entry.cell for entry in index.answered]
    own = [cell for cell in known if index.condition_name_of[cell.condition.key] == name]
    found = own or cells_on(name, known) or _seen_as_they_are(name, known)
    if not found:
        there = {*(cell.condition_name for cell in known), *(cell.data.title for cell in known)}
        raise UsageError(f"{index}: nothing was run on {name!r}{did_you_mean(name, there)}")
    names = sorted({index.condition_name_of[cell.condition.key] for cell in found})
    if len(names) > 1:
        raise UsageError(f"{index}: {name} stands for several sets; say which: {listed(names, FEW_NAMES)}")
    return found


def _seen_as_they_are(name: str, cells: Sequence[Cell]) -> list[Cell]:
    """The cells on data of that name, neither corrupted nor attacked."""
    return [cell for cell in cells if name in (cell.data.title, cell.data.name) and is_clean(cell.condition_name)]


# Labelled images of the same models


@dataclass(frozen=True)
class CleanSide:
    """What the models of a pool answered to labelled images over the same classes.

    Args:
        name: What to call the images.
        cells: One of each model of the pool; None where there is none.
    """

    name: str
    cells: tuple[Cell | None, ...]


def clean_side(index: Index, pool: Pool, name: str | None = None) -> CleanSide | None:
    """The clean images that a set is compared with; None where there are none, or several and nobody says which."""
    conditions = {
        entry.cell.condition.key: entry.cell.condition
        for entry in index.answered
        if entry.n and entry.complete and entry.cell.condition.label_map == pool.condition.label_map
    }
    conditions.pop(pool.condition.key, None)
    found = [one for one in conditions.values() if _is_called(index, one, name)]
    if name is not None and not found:
        known = {text for one in conditions.values() for text in (one.name, one.data.title)}
        raise UsageError(f"{index}: no labelled answers on {name!r} over the same classes{did_you_mean(name, known)}")
    paired = {shift.standard.key for shift in index.shifts if shift.shifted.key == pool.condition.key}
    found = [one for one in found if one.key in paired] or found
    if len(found) > 1 and name is not None:
        names = sorted(index.condition_name_of[one.key] for one in found)
        raise UsageError(f"{index}: {name} stands for several sets; say which: {listed(names, FEW_NAMES)}")
    if len(found) != 1:
        return None
    by_model = {
        (entry.cell.model.key, entry.cell.precision): entry.cell
        for entry in index.answered
        if entry.cell.condition.key == found[0].key and entry.complete
    }
    cells = tuple(by_model.get((cell.model.key, cell.precision)) for cell in pool.cells)
    return CleanSide(index.condition_name_of[found[0].key], cells)


def _is_called(index: Index, condition: ConditionRecord, name: str | None) -> bool:
    if name is None:
        return is_clean(condition.name)
    names = (condition.name, condition.data.title, condition.data.name, index.condition_name_of[condition.key])
    return name in names


# Classes


def class_numbers(index: Index, cell: Cell) -> dict[str, int]:
    """The number by which a model answers each class that is known by name: as data call it, and as people do."""
    found = {name: number for number, name in answer_names(index, cell).items()}
    for other in _labelled_cells(index, cell):
        images, rows = index.images(other), index.columns(other, "image", "label")
        known = rows["label"] >= 0
        own, labels = rows["label"][known].astype(np.int64), images.labels[rows["image"][known]]
        # Each pair as one number: numpy finds those that differ much faster than pairs.
        pairs = np.unique(own * len(images.space) + labels)
        for number, label in zip(*(part.tolist() for part in np.divmod(pairs, len(images.space))), strict=True):
            found.setdefault(images.space.classes[label], number)
    for number in set(range(cell.n_classes)) - set(found.values()):
        found.setdefault(name_in({}, number), number)  # as a class without a name is called where it is offered
    return found


def _labelled_cells(index: Index, cell: Cell) -> list[Cell]:
    """One cell of each data set with labels that the model answered in the same classes."""
    alike = [
        entry.cell
        for entry in index.entries
        if entry.n and entry.cell.model.key == cell.model.key and entry.cell.classes == cell.classes
    ]
    return list({other.data.digest: other for other in alike}.values())
