"""An image: what every model answers under every condition, and what it looks like there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from oodometer.analysis.families import family_in
from oodometer.document.table import Column, Table
from oodometer.explorer import queries
from oodometer.explorer.catalogue import Catalogue, Data, Held, UnknownName
from oodometer.explorer.explorer import Explorer
from oodometer.explorer.links import path_link, query_link
from oodometer.explorer.pages.answers import called
from oodometer.explorer.pages.image_filters import WHICHEVER, Filters
from oodometer.explorer.pages.images import steps
from oodometer.store.queries import literal
from oodometer.store.store import COLUMN


def image(
    explorer: Explorer,
    *,
    data: str,
    id_: str,
    filters: Filters = WHICHEVER,
    at: int | None = None,
) -> dict[str, Any]:
    """One image; the answers under the condition of the filters are told first.

    Args:
        filters: The list that it was found in, so that one can step through it.
        at: Its place in that list.
    """
    catalogue = explorer.catalogue()
    of_data = catalogue.data_named(data)
    rows = explorer.index.ask(queries.OF_THIS_ID, id=id_)
    if not (own := [row for row in rows if row[1] == of_data.number]):
        raise UnknownName(f"no image {id_!r} in {of_data.name}")
    rows = own + [row for row in rows if row[1] != of_data.number]
    (place, _, label, content), by_number = own[0], {one.number: one for one in catalogue.data.values()}
    alike = _of_same_photographs(explorer, catalogue, of_data.digest)
    # Without a content: answers computed elsewhere, whose images were never seen.
    places = {
        by_number[number].digest: spot
        for spot, number, _, seen in rows
        if number == of_data.number or (content and seen == content) or by_number[number].digest in alike
    }
    held = explorer.cells_of_data(catalogue, tuple(places))
    answers = _answers(explorer, catalogue, held, list(places.values()))
    return {
        "title": id_,
        "id": id_,
        "data": of_data.name,
        "class": of_data.classes[label] if label >= 0 else None,
        "columns": _columns(explorer, of_data, place - of_data.first),
        "elsewhere": [by_number[number].name for _, number, _, _ in rows if by_number[number].digest not in places],
        "on": _chosen(held, filters.on),
        "steps": None if at is None else steps(explorer, filters, id_=id_, at=at),
        "conditions": _conditions(catalogue, held, answers),
        "models": sorted({one["model"] for one in answers}),
        "answers": answers,
    }


def tables(page: Mapping[str, Any]) -> dict[str, Table]:
    """The answers under the condition of the page as a table."""
    on = page["on"]
    answers = [one for one in page["answers"] if one["condition"] == on]
    right = [one["right"] for one in answers if one["right"] is not None]
    columns = (
        Column("Model"),
        Column("Answer"),
        Column("Right"),
        Column("Confidence", "percent"),
        Column("Rank", "count", "Of the true class; 1 is the first."),
    )
    signs = {None: "no label", True: "✓ right", False: "✗ wrong"}
    rows = tuple(
        (
            one["model"],
            one["answer"],
            signs[one["right"]],
            one["confidence"],
            None if one["rank"] is None else one["rank"] + 1,
        )
        for one in answers
    )
    links = {(at, 0): path_link("model", one["model"]) for at, one in enumerate(answers)}
    links |= {
        (at, 1): query_link("/images", on=on, model=one["model"], predicted=one["answer"])
        for at, one in enumerate(answers)
    }
    caption = f"{sum(right)} of {len(right)} models are right." if right else "What every model says."
    return {"table": Table("of-models", caption, columns, rows, links=links)}


def _of_same_photographs(explorer: Explorer, catalogue: Catalogue, digest: str) -> set[str]:
    """Data sets that a shift made of the same photographs, such as corrupted files: there ids are enough."""
    found = set()
    for one in explorer.pairs_run(catalogue):
        sides = {one.standard.data.digest, one.shifted.data.digest}
        if digest in sides and not one.of_other_images:
            found |= sides
    return found


def _answers(
    explorer: Explorer, catalogue: Catalogue, held: Sequence[Held], places: Sequence[int]
) -> list[dict[str, Any]]:
    """Every answer about the image, in the order of the cells."""
    said = {answer.cell: answer for place in places for answer in explorer.index.about(place)}
    found = []
    for one in (one for one in held if one.number in said):
        _, answer, rank, confidence = said[one.number]
        found.append(
            {
                "condition": one.condition,
                "model": one.model,
                "answer": called(explorer.classes(catalogue, one), answer),
                "right": None if rank < 0 else rank == 0,
                "rank": None if rank < 0 else rank,
                "confidence": confidence,
            }
        )
    return found


def _chosen(held: Sequence[Held], on: str | None) -> str:
    if on is None:
        return held[0].condition
    if on not in {one.condition for one in held}:
        raise UnknownName(f"this image was not shown under {on!r}")
    return on


def _conditions(catalogue: Catalogue, held: Sequence[Held], answers: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Every condition: how many models are right on the image there."""
    first = {one.condition: one for one in reversed(held)}
    right: dict[str, list[bool]] = {}
    for one in answers:
        right.setdefault(one["condition"], []).extend([] if one["right"] is None else [one["right"]])
    return [
        {
            "name": name,
            "data": catalogue.data[first[name].data].name,
            "n_models": len(some),
            "n_right": sum(some),
            "attack": first[name].cell.condition.attack is not None,
            "corrupted": family_in(catalogue.index, first[name].cell.condition),
        }
        for name, some in right.items()
    ]


def _columns(explorer: Explorer, data: Data, position: int) -> dict[str, str]:
    """What travels along with the image: vendor, video, selection frequency..."""
    if not data.has_columns:
        return {}
    files = literal([explorer.store.images_file(data.digest)])
    rows = explorer.index.ask_named(queries.COLUMNS_OF_IMAGE, files=files, image=position)
    known = rows[0] if rows else {}
    return {
        name.removeprefix(COLUMN): str(value)
        for name, value in known.items()
        if name.startswith(COLUMN) and value is not None
    }
