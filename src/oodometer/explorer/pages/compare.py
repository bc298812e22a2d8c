"""Two models side by side: who is better, how sure that is, and what one gets right and the other wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from oodometer.core.errors import OodometerError, did_you_mean
from oodometer.explorer import queries
from oodometer.explorer.catalogue import Catalogue, Held, UnknownName
from oodometer.explorer.explorer import Explorer
from oodometer.explorer.pages.answers import PER_PAGE, called, first_condition, in_order, n_pages
from oodometer.explorer.pages.contests import Two, contests, summary
from oodometer.store.queries import literal


@dataclass(frozen=True)
class Listed:
    """What is unfolded and listed.

    Args:
        show: The images: one of ``queries.SIDES``.
        page: Which page of them.
        family: The family of corruptions whose conditions are told one by one.
    """

    show: str = "only_a"
    page: int = 1
    family: str | None = None


FIRST = Listed()


def compare(
    explorer: Explorer,
    *,
    a: str | None = None,
    b: str | None = None,
    on: str | None = None,
    listed: Listed = FIRST,
) -> dict[str, Any]:
    """Model B against model A on everything that both were measured on, and image by image under one condition."""
    if listed.show not in queries.SIDES:
        raise UnknownName(f"show={listed.show}: no such images{did_you_mean(listed.show, queries.SIDES)}")
    names = _two(explorer, a, b, on)
    two = Two(explorer, *names)
    rows = contests(two, listed.family)
    detail = _detail(explorer, two, on, listed)
    if not rows and detail is None:
        raise UnknownName(f"{two.a} and {two.b} have not both been run on any condition")
    return {
        "title": f"{two.a} and {two.b}",
        "a": two.a,
        "b": two.b,
        "models": _models(explorer),
        "family": listed.family,
        "rows": rows,
        "summary": summary(rows),
        "on": None,
        "comparison": None,
        **(detail or {}),
        "pending": explorer.studying,
    }


def _models(explorer: Explorer) -> list[str]:
    """All that can be compared: those that were run, and those that a table knows; people are no models."""
    study = explorer.study()
    known = [one.name for one in study.models if not one.origin.is_human] if study else []
    return sorted({*explorer.catalogue().by_model, *known})


def _two(explorer: Explorer, a: str | None, b: str | None, on: str | None) -> tuple[str, str]:
    """The two models; where they are not named, the best ones of the condition, or of the first that there is."""
    known = _models(explorer)
    for name in (a, b):
        if name is not None and name not in known:
            raise UnknownName(f"no model named {name!r} here{did_you_mean(name, known)}")
    if a is None or b is None:
        best = _best_first(explorer, a or b, on)
        rest = [name for name in best if name not in (a, b)]
        if len(rest) + len({a, b} - {None}) < 2:
            raise OodometerError("Fewer than two models have predictions on the same images: nothing to compare.")
        a = a or rest.pop(0)
        b = b or rest.pop(0)
    if a == b:
        raise UnknownName(f"{a} can't be compared with itself; choose two models")
    return a, b


def _best_first(explorer: Explorer, named: str | None, on: str | None) -> list[str]:
    """Models on a condition, the best first; as the study has them where tables alone know them."""
    catalogue, study = explorer.catalogue(), explorer.study()
    of = catalogue.by_model.get(named, []) if named else list(catalogue.held)
    if of:
        on = on or first_condition(explorer, of).condition
        held = sorted(catalogue.condition(on), key=lambda one: -one.top1 / max(one.n, 1))
        return [one.model for one in held]
    return [one.name for one in study.models if not one.origin.is_human] if study else []


def _detail(explorer: Explorer, two: Two, on: str | None, listed: Listed) -> dict[str, Any] | None:
    """Both models image by image under one condition; None where no images are known."""
    catalogue = explorer.catalogue()
    both = _common(explorer, catalogue, two.a, two.b)
    if on is None and not both:
        return None
    cell_a, cell_b = (catalogue.cell(two.a, on), catalogue.cell(two.b, on)) if on else next(iter(both.values()))
    compared = explorer.comparison(cell_a, cell_b)
    total = getattr(compared.counts, listed.show)
    return {
        "on": cell_a.condition,
        "data": catalogue.data[cell_a.data].name,
        "conditions": list(both),
        "comparison": compared,
        "verdict": compared.verdict,
        "show": listed.show,
        "images": _images(explorer, catalogue, (cell_a, cell_b), listed),
        "n_images": total,
        "page": listed.page,
        "n_pages": n_pages(total, listed.page),
    }


def _common(explorer: Explorer, catalogue: Catalogue, a: str, b: str) -> dict[str, tuple[Held, Held]]:
    """The conditions that both were asked about."""
    of_b = {one.condition: one for one in catalogue.by_model.get(b, ())}
    of_a = in_order(explorer, catalogue.by_model.get(a, []))
    return {one.condition: (one, of_b[one.condition]) for one in of_a if one.condition in of_b}


def _images(explorer: Explorer, catalogue: Catalogue, cells: tuple[Held, Held], listed: Listed) -> list[dict[str, Any]]:
    a, b = cells
    data = catalogue.data[a.data]
    rows = explorer.index.ask(
        queries.IMAGES_OF_TWO.format(side=queries.SIDES[listed.show]),
        files_a=literal(list(a.files)),
        files_b=literal(list(b.files)),
        first=data.first,
        limit=PER_PAGE,
        offset=PER_PAGE * (listed.page - 1),
    )
    names = explorer.classes(catalogue, a), explorer.classes(catalogue, b)
    return [
        {
            "id": id_,
            "class": data.classes[label] if label >= 0 else None,
            "a": {
                "answer": called(names[0], answer_a),
                "confidence": sure_a,
                "right": listed.show in ("only_a", "both"),
            },
            "b": {
                "answer": called(names[1], answer_b),
                "confidence": sure_b,
                "right": listed.show in ("only_b", "both"),
            },
        }
        for id_, label, answer_a, sure_a, answer_b, sure_b in rows
    ]
