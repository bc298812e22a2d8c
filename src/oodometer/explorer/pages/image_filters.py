"""Which images are wanted, and the rows of those that fit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from oodometer.core.errors import did_you_mean
from oodometer.explorer import queries
from oodometer.explorer.catalogue import Catalogue, Data, Held, UnknownName
from oodometer.explorer.explorer import Explorer
from oodometer.explorer.pages.answers import called, first_condition
from oodometer.store.queries import literal

MOST = 2**31 - 1

OF_TEXT = """
AND place IN (SELECT place FROM images WHERE place BETWEEN $first AND $last
    AND (contains(lower(id), $find) OR list_contains($labels::INTEGER[], label)))
"""
OF_ANSWER = "AND prediction = $predicted"


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
        order: One of `queries.ORDERS`.
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
    if filters.order not in queries.ORDERS:
        raise UnknownName(f"order={filters.order}: no such order{did_you_mean(filters.order, queries.ORDERS)}")
    if filters.answer not in (None, "right", "wrong"):
        raise UnknownName(f"answer={filters.answer}: give right or wrong")
    about_one = filters.answer, filters.predicted, filters.sure_from, filters.sure_to
    if filters.model is None and (any(asked is not None for asked in about_one) or "sure" in filters.order):
        raise UnknownName("An answer and its confidence are one model's: choose a model too.")


def fitting(asked: Wanted, *, limit: int, offset: int) -> tuple[list[dict[str, Any]], int]:
    """So many of the images that fit, and how many do; nothing tells that beyond the last."""
    filters, data = asked.filters, asked.data
    names = answers_of(asked)
    values, conditions = _conditions(asked, names)
    values.update(
        condition=asked.held.asked,
        first=data.first,
        last=data.first + data.n - 1,
        least=filters.right_from or 0,
        most=MOST if filters.right_to is None else filters.right_to,
        limit=limit,
        offset=offset,
    )
    query = queries.IMAGES
    if asked.of_model is not None:
        query = queries.IMAGES_OF_MODEL
        values.update(
            files=literal(list(asked.of_model.files)),
            right=None if filters.answer is None else filters.answer == "right",
            sure_from=filters.sure_from,
            sure_to=filters.sure_to,
        )
    text = query.format(order=queries.ORDERS[filters.order], of_class=conditions)
    rows = asked.explorer.index.ask(text, **values)
    return [_image(data, names, row) for row in rows], rows[0][-1] if rows else 0


def answers_of(asked: Wanted) -> Mapping[int, str]:
    """What the answers of the model are called; none where no model is chosen."""
    return asked.explorer.classes(asked.catalogue, asked.of_model) if asked.of_model else {}


def _conditions(asked: Wanted, names: Mapping[int, str]) -> tuple[dict[str, Any], str]:
    """What is asked besides numbers: values, and their part of the query."""
    filters, classes = asked.filters, asked.data.classes
    values: dict[str, Any] = {}
    parts = []
    if filters.class_ is not None:
        values["class"] = _class(classes, filters.class_)
        parts.append(queries.OF_CLASS)
    if filters.find is not None:
        text = filters.find.lower()
        values["find"] = text
        values["labels"] = [label for label, name in enumerate(classes) if text in name.lower()]
        parts.append(OF_TEXT)
    if filters.predicted is not None:
        values["predicted"] = _answer(names, filters.predicted)
        parts.append(OF_ANSWER)
    return values, "".join(parts)


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


def _image(data: Data, names: Mapping[int, str], row: tuple[Any, ...]) -> dict[str, Any]:
    id_, label, n, right, answer, rank, sure, _ = row
    return {
        "id": id_,
        "class": data.classes[label] if label >= 0 else None,
        "n_models": n,
        "n_right": right,
        "answer": None if answer is None else called(names, answer),
        "right": None if rank is None or rank < 0 else rank == 0,
        "confidence": sure,
    }
