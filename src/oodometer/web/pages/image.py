"""An image: what every model answers under every condition, and what it looks like there."""

from __future__ import annotations

from typing import Any

from oodometer.store.queries import literal
from oodometer.store.store import COLUMN
from oodometer.web import queries
from oodometer.web.catalogue import Catalogue, Data, Held, UnknownName
from oodometer.web.explorer import Explorer
from oodometer.web.pages.answers import called, first_condition


def image(explorer: Explorer, *, data: str, id_: str, on: str | None = None) -> dict[str, Any]:
    """One image; the answers under the condition ``on`` are told first."""
    catalogue = explorer.catalogue()
    of_data = catalogue.data_named(data)
    place, label = _place(explorer, of_data, id_)
    held = catalogue.of_data(of_data.digest)
    answers = _answers(explorer, catalogue, {one.number: one for one in held}, place)
    chosen = _chosen(explorer, held, on)
    conditions = _conditions(held, answers)
    elsewhere = explorer.index.ask(queries.ID_ELSEWHERE, data=of_data.number, id=id_)
    by_number = {one.number: one.name for one in catalogue.data.values()}
    return {
        "title": id_,
        "id": id_,
        "data": of_data.name,
        "class": of_data.classes[label] if label >= 0 else None,
        "columns": _columns(explorer, held[0], place - of_data.first),
        "elsewhere": [by_number[number] for (number,) in elsewhere],
        "on": chosen,
        "conditions": conditions,
        "models": sorted({one["model"] for one in answers}),
        "answers": answers,
    }


def _place(explorer: Explorer, data: Data, id_: str) -> tuple[int, int]:
    found = explorer.index.ask(queries.PLACE_OF, data=data.number, id=id_)
    if not found:
        raise UnknownName(f"no image {id_!r} in {data.name}")
    place, label = found[0]
    return place, label


def _answers(explorer: Explorer, catalogue: Catalogue, held: dict[int, Held], place: int) -> list[dict[str, Any]]:
    """Every answer about the image, by condition and model."""
    rows = explorer.index.ask(queries.ANSWERS_ABOUT, place=place)
    found = []
    for number, answer, rank, confidence in rows:
        if number not in held:  # it came in just now: the next look has it
            continue
        one = held[number]
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
    return sorted(found, key=lambda one: (one["condition"], one["model"]))


def _chosen(explorer: Explorer, held: list[Held], on: str | None) -> str:
    if on is None:
        return first_condition(explorer, held).condition
    if on not in {one.condition for one in held}:
        raise UnknownName(f"these images were not shown under {on!r}")
    return on


def _conditions(held: list[Held], answers: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Every condition of the data: how many models are right on the image there."""
    right: dict[str, list[bool]] = {}
    for one in answers:
        right.setdefault(one["condition"], [])
        if one["right"] is not None:
            right[one["condition"]].append(one["right"])
    attacked = {one.condition: "attack" in one.cell.condition for one in held}
    return [
        {"name": name, "n_models": len(some), "n_right": sum(some), "attack": attacked[name]}
        for name, some in right.items()
    ]


def _columns(explorer: Explorer, held: Held, image_: int) -> dict[str, str]:
    """What travels along with the image: vendor, video, selection frequency..."""
    files = literal([explorer.store.images_file(held.cell)])
    rows = explorer.index.ask_named(queries.COLUMNS_OF_IMAGE, files=files, image=image_)
    known = rows[0] if rows else {}
    return {
        name.removeprefix(COLUMN): str(value)
        for name, value in known.items()
        if name.startswith(COLUMN) and value is not None
    }
