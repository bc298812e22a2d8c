"""Two models side by side: who is better, how sure that is, and what one gets right and the other wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from oodometer.core.errors import OodometerError, did_you_mean
from oodometer.document.table import Column, Table
from oodometer.explorer.catalogue import Catalogue, Held, UnknownName
from oodometer.explorer.cell_answers import SIDES, CellAnswers, on_same_images, rows_of_side
from oodometer.explorer.explorer import Explorer
from oodometer.explorer.links import path_link, query_link
from oodometer.explorer.pages.answers import PER_PAGE, called, first_condition, in_order, n_pages
from oodometer.explorer.pages.contests import LEVEL, Two, contests, summary
from oodometer.report.tables.contests import contests_table
from oodometer.study.pair_verdict import Contest


@dataclass(frozen=True)
class Listed:
    """What is unfolded and listed.

    Args:
        show: The images: one of `SIDES`.
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
    if listed.show not in SIDES:
        raise UnknownName(f"show={listed.show}: no such images{did_you_mean(listed.show, SIDES)}")
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


def tables(page: Mapping[str, Any]) -> dict[str, Any]:
    """The contests of the page, those within the family that is unfolded, and the two models on one condition."""
    unfolded = next((row for row in page["rows"] if row["members"]), None)
    return {
        "table": replace(_contests(page, page["rows"], "contests"), order="Clean sets first, then shifts."),
        "members_table": _contests(page, unfolded["members"], "members") if unfolded else None,
        "sides_table": _sides(page) if page["comparison"] else None,
        "families": [(row["name"], row["n_conditions"]) for row in page["rows"] if row["n_conditions"] > 1],
    }


def _contests(page: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], id_: str) -> Table:
    """What it is about leads to its page; how many images, to these."""
    of = [Contest(row["name"], row["b"], row["a"], row["difference"], row["images"]) for row in rows]
    table = contests_table(id_, of, "B", "A", LEVEL)
    images = [column.title for column in table.columns].index("Images")
    links: dict[tuple[int, int], str] = {}
    for at, row in enumerate(rows):
        if row["on"]:
            asked = {"a": page["a"], "b": page["b"], "on": row["on"], "family": page["family"]}
            links[at, 0] = links[at, images] = f"{query_link('/compare', **asked)}#on"
        if row["kind"] == "shift":
            links[at, 0] = path_link("shift", row["name"])
    lacking = [
        f"{row['name']}: without {len(row['left_out'])} of its {row['n_conditions']} conditions, which one of the two "
        "lacks."
        for row in rows
        if row["left_out"]
    ]
    return replace(table, links=links, footnotes=tuple(lacking))


def _sides(page: Mapping[str, Any]) -> Table:
    columns = (
        Column("Model"),
        Column("Top-1", "percent", "Accuracy on the common images.", "high"),
        Column("Right where the other is wrong", "count"),
    )
    compared, counts = page["comparison"], page["comparison"].counts
    rows = (
        (f"A: {page['a']}", compared.accuracy_a, counts.only_a),
        (f"B: {page['b']}", compared.accuracy_b, counts.only_b),
    )
    links: dict[tuple[int, int], str] = {}
    for at, side in enumerate(("a", "b")):
        shown = query_link("/compare", a=page["a"], b=page["b"], on=page["on"], show=f"only_{side}")
        links |= {(at, 0): path_link("model", page[side]), (at, 2): f"{shown}#images"}
    return Table("sides", "Top-1 on the common images, in per cent.", columns, rows, links=links)


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
            if explorer.studying:  # models that a table alone knows come with the study
                raise OodometerError("What can be compared is being computed; look again in a moment.")
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
    data, images = catalogue.data[a.data], catalogue.index.images(a.cell)
    answers = on_same_images(explorer.answers(a), explorer.answers(b))
    first = PER_PAGE * (listed.page - 1)
    rows = rows_of_side(*answers, listed.show)[first : first + PER_PAGE]
    of_a, of_b = (some.at(rows) for some in answers)
    names = explorer.classes(catalogue, a), explorer.classes(catalogue, b)

    def said(some: CellAnswers, at: int, side: int) -> dict[str, Any]:
        sure = float(some.confidence[at])
        return {
            "answer": called(names[side], int(some.prediction[at])),
            "confidence": None if sure != sure else sure,
            "right": listed.show in (("only_a", "only_b")[side], "both"),
        }

    return [
        {
            "id": images.ids[place],
            "class": data.classes[label] if (label := images.labels[place]) >= 0 else None,
            "a": said(of_a, at, 0),
            "b": said(of_b, at, 1),
        }
        for at, place in enumerate(of_a.image.tolist())
    ]
