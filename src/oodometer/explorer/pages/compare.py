"""Two models side by side: who is better, how sure that is, and what one gets right and the other wrong."""

from __future__ import annotations

from typing import Any

from oodometer.core.errors import OodometerError, did_you_mean
from oodometer.explorer import queries
from oodometer.explorer.catalogue import Catalogue, Held, UnknownName
from oodometer.explorer.explorer import Explorer
from oodometer.explorer.pages.answers import PER_PAGE, called, first_condition, in_order, n_pages
from oodometer.store.queries import literal


def compare(
    explorer: Explorer,
    *,
    a: str | None = None,
    b: str | None = None,
    on: str | None = None,
    show: str = "only_a",
    page: int = 1,
) -> dict[str, Any]:
    """Model B against model A under one condition; ``show``: the images listed, one of ``queries.SIDES``."""
    catalogue = explorer.catalogue()
    if show not in queries.SIDES:
        raise UnknownName(f"show={show}: no such images{did_you_mean(show, queries.SIDES)}")
    a, b = _two(explorer, catalogue, a, b, on)
    both = _common(explorer, catalogue, a, b)
    cell_a, cell_b = (catalogue.cell(a, on), catalogue.cell(b, on)) if on else next(iter(both.values()))
    compared = explorer.comparison(cell_a, cell_b)
    total = getattr(compared.counts, show)
    accuracies = explorer.accuracies(catalogue)
    return {
        "title": f"{a} and {b}",
        "a": a,
        "b": b,
        "on": cell_a.condition,
        "data": catalogue.data[cell_a.data].name,
        "models": sorted(catalogue.by_model),
        "conditions": [
            {"name": name, "a": accuracies.get(one.number), "b": accuracies.get(other.number)}
            for name, (one, other) in both.items()
        ],
        "comparison": compared,
        "verdict": compared.verdict,
        "show": show,
        "images": _images(explorer, catalogue, (cell_a, cell_b), show, page),
        "n_images": total,
        "page": page,
        "n_pages": n_pages(total, page),
    }


def _two(explorer: Explorer, catalogue: Catalogue, a: str | None, b: str | None, on: str | None) -> tuple[str, str]:
    """The two models; where they are not named, the best ones of the condition, or of the first that there is."""
    if a is None or b is None:
        one_named = a or b
        of = catalogue.model(one_named) if one_named else catalogue.held
        on = on or (first_condition(explorer, of).condition if of else None)
        best = sorted(catalogue.condition(on) if on else (), key=lambda one: -one.top1 / max(one.n, 1))
        if len(best) < 2:
            raise OodometerError("Fewer than two models have predictions on the same images: nothing to compare.")
        a = a or next(one.model for one in best if one.model != b)
        b = b or next(one.model for one in best if one.model != a)
    catalogue.model(a), catalogue.model(b)
    if a == b:
        raise UnknownName(f"{a} can't be compared with itself; choose two models")
    return a, b


def _common(explorer: Explorer, catalogue: Catalogue, a: str, b: str) -> dict[str, tuple[Held, Held]]:
    """The conditions that both were asked about."""
    of_b = {one.condition: one for one in catalogue.by_model[b]}
    of_a = in_order(explorer, catalogue.by_model[a])
    found = {one.condition: (one, of_b[one.condition]) for one in of_a if one.condition in of_b}
    if not found:
        raise UnknownName(f"{a} and {b} have not both been run on any condition")
    return found


def _images(
    explorer: Explorer, catalogue: Catalogue, cells: tuple[Held, Held], show: str, page: int
) -> list[dict[str, Any]]:
    a, b = cells
    data = catalogue.data[a.data]
    rows = explorer.index.ask(
        queries.IMAGES_OF_TWO.format(side=queries.SIDES[show]),
        files_a=literal(list(a.files)),
        files_b=literal(list(b.files)),
        first=data.first,
        limit=PER_PAGE,
        offset=PER_PAGE * (page - 1),
    )
    names = explorer.classes(catalogue, a), explorer.classes(catalogue, b)
    return [
        {
            "id": id_,
            "class": data.classes[label] if label >= 0 else None,
            "a": {"answer": called(names[0], answer_a), "confidence": sure_a, "right": show in ("only_a", "both")},
            "b": {"answer": called(names[1], answer_b), "confidence": sure_b, "right": show in ("only_b", "both")},
        }
        for id_, label, answer_a, sure_a, answer_b, sure_b in rows
    ]
