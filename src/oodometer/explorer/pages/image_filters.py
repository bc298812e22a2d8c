"""Which images are wanted, and the rows of those that fit."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from oodometer.core.errors import did_you_mean
from oodometer.explorer.catalogue import Catalogue, Data, Held, UnknownName
from oodometer.explorer.cell_answers import Agreed, CellAnswers
from oodometer.explorer.explorer import Explorer
from oodometer.explorer.pages.answers import called, first_condition

ORDERS = ("hardest", "easiest", "sure", "unsure", "data")
"""How a list of images may be ordered: by a model's confidence, or as the data are; equals as the data are."""


@dataclass(frozen=True)
class Filters:
    """Which images are wanted; None: whichever.

    Args:
        on: The condition; None: the first.
        model: Whose answers are shown, and what ``answer``, ``predicted`` and the confidences are about.
        class_: The true class.
        answer: ``right`` or ``wrong``.
        sure_from, sure_to: Bounds of the confidence.
        right_from, right_to: Bounds of the number of models that are right.
        order: One of `ORDERS`.
        predicted: The class that the model answers.
        find: Part of the id, or of the name of the true class; capitals don't matter.
    """

    on: str | None = None
    model: str | None = None
    class_: str | None = None
    answer: str | None = None
    sure_from: float | None = None
    sure_to: float | None = None
    right_from: int | None = None
    right_to: int | None = None
    order: str = "hardest"
    predicted: str | None = None
    find: str | None = None

    @property
    def asked(self) -> dict[str, Any]:
        """As the query of an address has them, without what goes without saying."""
        usual = {field.name: field.default for field in fields(self)}
        return {name.rstrip("_"): value for name, value in asdict(self).items() if value != usual[name]}


WHICHEVER = Filters()


@dataclass(frozen=True)
class Wanted:
    """Filters beside what they are about.

    Args:
        held: A cell of the condition; ``of_model`` that of the model.
    """

    explorer: Explorer
    catalogue: Catalogue
    held: Held
    of_model: Held | None
    filters: Filters

    @property
    def data(self) -> Data:
        """The data set of the images."""
        return self.catalogue.data[self.held.data]


def wanted(explorer: Explorer, filters: Filters) -> Wanted:
    """What the filters are about; an error where nothing here is called so."""
    catalogue = explorer.catalogue()
    if not catalogue.held:
        raise UnknownName("No predictions here yet, so there are no images to show.")
    held = catalogue.condition(filters.on) if filters.on else None
    held = held or catalogue.by_condition[first_condition(explorer, catalogue.held).condition]
    _check(filters)
    of_model = catalogue.cell(filters.model, held[0].condition) if filters.model else None
    return Wanted(explorer, catalogue, held[0], of_model, filters)


def _check(filters: Filters) -> None:
    if filters.order not in ORDERS:
        raise UnknownName(f"order={filters.order}: no such order{did_you_mean(filters.order, ORDERS)}")
    if filters.answer not in (None, "right", "wrong"):
        raise UnknownName(f"answer={filters.answer}: give right or wrong")
    about_one = filters.answer, filters.predicted, filters.sure_from, filters.sure_to
    if filters.model is None and (any(asked is not None for asked in about_one) or "sure" in filters.order):
        raise UnknownName("An answer and its confidence are one model's: choose a model too.")


def fitting(asked: Wanted, *, limit: int, offset: int) -> tuple[list[dict[str, Any]], int]:
    """So many of the images that fit, and how many do."""
    agreed = asked.explorer.agreement(asked.held)
    rows = _rows_of_model(asked, agreed)
    fit = np.flatnonzero(_fits(asked, agreed, rows))
    order = fit[np.argsort(_sorted_by(asked, agreed, rows)[fit], kind="stable")]
    shown = order[offset : offset + limit]
    images, names = asked.catalogue.index.images(asked.held.cell), answers_of(asked)
    answers = asked.explorer.answers(asked.of_model) if asked.of_model else None
    found = []
    for at in shown.tolist():
        place = int(agreed.image[at])
        label = int(images.labels[place])
        found.append(
            {
                "id": str(images.ids[place]),
                "class": asked.data.classes[label] if label >= 0 else None,
                "n_models": int(agreed.n[at]),
                "n_right": int(agreed.n_right[at]),
                **_answer_shown(answers, int(rows[at]), names),
            }
        )
    return found, len(fit)


def _answer_shown(answers: CellAnswers | None, row: int, names: Mapping[int, str]) -> dict[str, Any]:
    """What the chosen model says, in a row of its cell; nothing where none is chosen."""
    if answers is None:
        return {"answer": None, "right": None, "confidence": None}
    rank, sure = int(answers.rank[row]), float(answers.confidence[row])
    return {
        "answer": called(names, int(answers.prediction[row])),
        "right": None if rank < 0 else rank == 0,
        "confidence": None if math.isnan(sure) else sure,
    }


def _rows_of_model(asked: Wanted, agreed: Agreed) -> np.ndarray:
    """Of each image the row of the model's cell, (N,); -1 where it has none."""
    rows = np.full(asked.data.n, -1)
    if asked.of_model is not None:
        image = asked.explorer.answers(asked.of_model).image
        rows[image] = np.arange(len(image))
    return np.asarray(rows[agreed.image])


def _fits(asked: Wanted, agreed: Agreed, rows: np.ndarray) -> np.ndarray:
    """Which images fit, (N,) bool."""
    filters = asked.filters
    fits = agreed.n_right >= (filters.right_from or 0)
    if filters.right_to is not None:
        fits &= agreed.n_right <= filters.right_to
    if filters.class_ is not None:
        labels = asked.catalogue.index.images(asked.held.cell).labels
        fits &= labels[agreed.image] == _class(asked.data.classes, filters.class_)
    if filters.find is not None:
        fits &= _with_text(asked, filters.find.lower())[agreed.image]
    if asked.of_model is None:
        return fits
    answers = asked.explorer.answers(asked.of_model).at(rows)
    fits &= rows >= 0
    if filters.answer is not None:
        fits &= answers.rank == 0 if filters.answer == "right" else answers.rank > 0
    if filters.predicted is not None:
        fits &= answers.prediction == _answer(answers_of(asked), filters.predicted)
    if filters.sure_from is not None:
        fits &= answers.confidence >= filters.sure_from
    if filters.sure_to is not None:
        fits &= answers.confidence <= filters.sure_to
    return fits


def _with_text(asked: Wanted, text: str) -> np.ndarray:
    """Which images of the data have the text in their id, or in the name of their class, (N,) bool."""
    images = asked.catalogue.index.images(asked.held.cell)
    of_class = np.array([text in name.lower() for name in asked.data.classes] + [False])
    in_id = np.array([text in str(id_).lower() for id_ in images.ids.tolist()], dtype=bool)
    return np.asarray(in_id | of_class[np.where(images.labels < 0, -1, images.labels)])


def _sorted_by(asked: Wanted, agreed: Agreed, rows: np.ndarray) -> np.ndarray:
    """By what the images are sorted, the least first, (N,)."""
    order = asked.filters.order
    if order == "data":
        return agreed.image
    if order in ("hardest", "easiest"):
        share = agreed.n_right / np.maximum(agreed.n, 1)
        return np.asarray(share if order == "hardest" else -share)
    assert asked.of_model is not None
    sure = asked.explorer.answers(asked.of_model).at(rows).confidence
    return np.where(np.isnan(sure), np.inf, -sure if order == "sure" else sure)


def answers_of(asked: Wanted) -> Mapping[int, str]:
    """What the answers of the model are called; none where no model is chosen."""
    return asked.explorer.classes(asked.catalogue, asked.of_model) if asked.of_model else {}


def _class(classes: tuple[str, ...], name: str) -> int:
    if name not in classes:
        raise UnknownName(f"no class named {name!r} in these data{did_you_mean(name, classes)}")
    return classes.index(name)


def _answer(names: Mapping[int, str], name: str) -> int:
    """The number of an answer by its name, or by what answers without one are called."""
    number = next((number for number, known in names.items() if known == name), None)
    start, _, digits = name.rpartition(" ")
    if number is None and start == "class" and digits.isdecimal() and len(digits) < 10:
        number = int(digits)
    if number is None:
        raise UnknownName(f"no answer of this model is called {name!r}{did_you_mean(name, list(names.values()))}")
    return number
