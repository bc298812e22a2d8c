"""A list of images: filtered by class, condition, a model's answer and confidence, and how many models are right."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from oodometer.core.errors import did_you_mean
from oodometer.explorer import queries
from oodometer.explorer.catalogue import Catalogue, Held, UnknownName
from oodometer.explorer.explorer import Explorer
from oodometer.explorer.pages.answers import PER_PAGE, called, first_condition, in_order, n_pages
from oodometer.store.queries import literal

MOST = 2**31 - 1


@dataclass(frozen=True)
class Filters:
    """Which images are wanted; None: whichever.

    Args:
        on: The condition; None: the first.
        model: Whose answers are shown, and what ``answer`` and the confidences are about.
        class_: The true class.
        answer: ``right`` or ``wrong``.
        sure_from, sure_to: Bounds of the confidence.
        right_from, right_to: Bounds of the number of models that are right.
        order: One of `queries.ORDERS`.
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


def images(explorer: Explorer, filters: Filters, *, page: int = 1) -> dict[str, Any]:
    """The images that fit, a page of them."""
    catalogue = explorer.catalogue()
    if not catalogue.held:
        raise UnknownName("No predictions here yet, so there are no images to show.")
    held = catalogue.condition(filters.on) if filters.on else None
    held = held or catalogue.by_condition[first_condition(explorer, catalogue.held).condition]
    _check(filters)
    of_model = catalogue.cell(filters.model, held[0].condition) if filters.model else None
    rows, total = _rows(explorer, catalogue, held[0], of_model, filters, page)
    if not rows and page > 1:  # beyond the last page nothing tells how many there are
        _, total = _rows(explorer, catalogue, held[0], of_model, filters, 1)
    data = catalogue.data[held[0].data]
    return {
        "title": f"Images of {held[0].condition}",
        "on": held[0].condition,
        "data": data.name,
        "filters": {name.rstrip("_"): value for name, value in asdict(filters).items()},
        "images": rows,
        "n_images": total,
        "page": page,
        "n_pages": n_pages(total, page),
        "conditions": list(dict.fromkeys(one.condition for one in in_order(explorer, catalogue.held))),
        "models": sorted(one.model for one in held),
        "classes": list(data.classes),
        "orders": list(queries.ORDERS),
    }


def _check(filters: Filters) -> None:
    if filters.order not in queries.ORDERS:
        raise UnknownName(f"order={filters.order}: no such order{did_you_mean(filters.order, queries.ORDERS)}")
    if filters.answer not in (None, "right", "wrong"):
        raise UnknownName(f"answer={filters.answer}: give right or wrong")
    about_one = filters.answer, filters.sure_from, filters.sure_to
    if filters.model is None and (any(one is not None for one in about_one) or "sure" in filters.order):
        raise UnknownName("An answer and its confidence are one model's: choose a model too.")


def _rows(
    explorer: Explorer, catalogue: Catalogue, held: Held, of_model: Held | None, filters: Filters, page: int
) -> tuple[list[dict[str, Any]], int]:
    data = catalogue.data[held.data]
    values: dict[str, Any] = {
        "condition": held.asked,
        "first": data.first,
        "last": data.first + data.n - 1,
        "least": filters.right_from or 0,
        "most": MOST if filters.right_to is None else filters.right_to,
        "limit": PER_PAGE,
        "offset": PER_PAGE * (page - 1),
    }
    class_ = _class(data.classes, filters.class_)
    values.update({} if class_ is None else {"class": class_})
    how = {"order": queries.ORDERS[filters.order], "of_class": "" if class_ is None else queries.OF_CLASS}
    if of_model is None:
        rows = explorer.index.ask(queries.IMAGES.format(**how), **values)
        names: Mapping[int, str] = {}
    else:
        rows = explorer.index.ask(
            queries.IMAGES_OF_MODEL.format(**how),
            **values,
            files=literal(list(of_model.files)),
            right=None if filters.answer is None else filters.answer == "right",
            sure_from=filters.sure_from,
            sure_to=filters.sure_to,
        )
        names = explorer.classes(catalogue, of_model)
    found = [
        {
            "id": id_,
            "class": data.classes[label] if label >= 0 else None,
            "n_models": n,
            "n_right": right,
            "answer": None if answer is None else called(names, answer),
            "right": None if rank is None or rank < 0 else rank == 0,
            "confidence": sure,
        }
        for id_, label, n, right, answer, rank, sure, _ in rows
    ]
    return found, rows[0][-1] if rows else 0


def _class(classes: tuple[str, ...], name: str | None) -> int | None:
    if name is None:
        return None
    if name not in classes:
        raise UnknownName(f"no class named {name!r} in these data{did_you_mean(name, classes)}")
    return classes.index(name)
