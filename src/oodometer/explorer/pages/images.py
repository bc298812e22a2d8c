"""A list of images, searched and filtered, and the steps from one of them to the next."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from oodometer.explorer.explorer import Explorer
from oodometer.explorer.pages.answers import PER_PAGE, in_order, n_pages
from oodometer.explorer.pages.image_filters import ORDERS, Filters, answers_of, fitting, wanted


def images(explorer: Explorer, filters: Filters, *, page: int = 1) -> dict[str, Any]:
    """The images that fit, a page of them."""
    asked = wanted(explorer, filters)
    rows, total = fitting(asked, limit=PER_PAGE, offset=PER_PAGE * (page - 1))
    catalogue, condition = asked.catalogue, asked.held.condition
    names = answers_of(asked)
    return {
        "title": f"Images of {condition}",
        "on": condition,
        "data": asked.data.name,
        "filters": {name.rstrip("_"): value for name, value in vars(filters).items()},
        "asked": replace(filters, on=condition).asked,
        "images": rows,
        "n_images": total,
        "first": PER_PAGE * (page - 1),
        "page": page,
        "n_pages": n_pages(total, page),
        "conditions": list(dict.fromkeys(held.condition for held in in_order(explorer, catalogue.held))),
        "models": sorted(held.model for held in catalogue.by_condition[condition]),
        "classes": list(asked.data.classes),
        "answers": [names[number] for number in sorted(names)],
        "orders": list(ORDERS),
    }


def steps(explorer: Explorer, filters: Filters, *, id_: str, at: int) -> dict[str, Any] | None:
    """From an image of a list to its neighbours there; None where it is no longer in that place.

    Args:
        at: Its place in the list, from 0.
    """
    asked = wanted(explorer, filters)
    first = max(at - 1, 0)
    rows, total = fitting(asked, limit=3, offset=first)
    ids = {first + place: row["id"] for place, row in enumerate(rows)}
    if ids.get(at) != id_:
        return None
    return {
        "asked": filters.asked,
        "at": at,
        "n": total,
        "page": at // PER_PAGE + 1,
        "previous": ids.get(at - 1),
        "next": ids.get(at + 1),
    }
