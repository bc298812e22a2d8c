"""A model: what it is, how it does under every condition and shift, and in which classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, overload

from oodometer.core.estimate import Estimate
from oodometer.document.numbers import number
from oodometer.document.table import Column, Table
from oodometer.explorer.catalogue import Catalogue, Held
from oodometer.explorer.cell_answers import OfClasses, by_class
from oodometer.explorer.explorer import Explorer
from oodometer.explorer.links import path_link, query_link
from oodometer.explorer.navigation import pages_of_sections
from oodometer.explorer.pages.answers import called, first_condition, in_order
from oodometer.stats.intervals import share_of
from oodometer.study import Study

MOST_CLASSES = 100
"""On the page; its twin has them all."""


def model(explorer: Explorer, name: str, *, on: str | None = None) -> dict[str, Any]:
    """One model; its classes on the condition ``on``."""
    catalogue, study = explorer.catalogue(), explorer.study()
    imported = _imported(study, name)
    if name not in catalogue.by_model and imported:
        return {**_frame(explorer, study, name), **imported, "facts": {}, "notes": {}, "on": None, "classes": []}
    held = catalogue.model(name)
    chosen = catalogue.cell(name, on) if on else first_condition(explorer, held)
    origin = explorer.origin(held[0])
    return {
        **_frame(explorer, study, name),
        "category": origin.category,
        "parent": origin.parent,
        "facts": _facts(held[0]),
        "notes": dict(held[0].cell.model.notes),
        "conditions": [_condition(explorer, catalogue, one) for one in in_order(explorer, held)],
        "on": chosen.condition,
        "classes": _classes(explorer, catalogue, chosen),
    }


def tables(page: Mapping[str, Any]) -> dict[str, Table]:
    """The shifts, conditions and classes of the page as tables."""
    return {
        "shifts_table": _shifts_table(page["shifts"]),
        "conditions_table": _conditions_table(page["name"], page["conditions"]),
        "classes_table": _classes_table(page["name"], page["on"], page["classes"][:MOST_CLASSES]),
    }


def _shifts_table(shifts: Sequence[Mapping[str, Any]]) -> Table:
    columns = (
        Column("Shift"),
        Column("Kind", hidden=True),
        Column("Compared with"),
        Column("Standard", "percent", "Accuracy on the standard side.", "high"),
        Column("Shifted", "percent", "Accuracy under the shift.", "high", bar=True),
        Column("ρ", "points", "Effective robustness: accuracy beyond what the line expects.", "high"),
        Column(
            "τ",
            "points",
            "Relative robustness: accuracy beyond that of the parent.",
            hidden=all(one["tau"] is None for one in shifts),
        ),
        Column("Clean rank", "count", "Among the models of the shift on its standard side; 1 is the best."),
        Column("Rank", "count", "Among the models of the shift under it."),
        Column("Models", "count", "Those of the shift.", hidden=True),
        Column("Clean images", "count", "Behind the accuracy on the standard side.", hidden=True),
        Column("Images", "count", "Behind the accuracy under the shift."),
    )
    names = ("name", "kind", "x_name", "x", "y", "rho", "tau", "rank_x", "rank_y", "n_models")
    rows = tuple((*(one[name] for name in names), one["x"].n, one["y"].n) for one in shifts)
    links = {(at, 0): path_link("shift", one["name"]) for at, one in enumerate(shifts)}
    caption = "Both sides of every shift, in per cent; ρ and τ in points."
    return Table("shifts", caption, columns, rows, links=links)


def _conditions_table(model: str, conditions: Sequence[Mapping[str, Any]]) -> Table:
    columns = (
        Column("Condition"),
        Column("Data"),
        Column("Top-1", "percent", "The share that is right.", "high", bar=True),
        Column("Top-5", "percent", "The share with the true class among the best five.", "high"),
        Column("Images", "count"),
        Column("Remark", hidden=not any(map(_remark, conditions))),
    )
    rows = tuple(
        (one["name"], one["data"], one["top1"], one["top5"], one["top1"] and one["top1"].n, _remark(one))
        for one in conditions
    )
    links = {
        (at, 0): query_link("/images", on=one["name"], model=model, answer="wrong", order="sure")
        for at, one in enumerate(conditions)
        if one["state"] != "imported"
    }
    caption = "Accuracy under every condition, in per cent; each leads to the images that it is surest and wrong about."
    return Table("conditions", caption, columns, rows, links=links)


def _remark(condition: Mapping[str, Any]) -> str:
    state = "" if condition["state"] == "complete" else condition["state"]
    missing = condition["missing"]
    return f"{state} {number(missing, 'count')} images without answer".strip() if missing else state


def _classes_table(model: str, on: str | None, classes: Sequence[Mapping[str, Any]]) -> Table:
    columns = (
        Column("Class"),
        Column("Top-1", "percent", "The share of its images that is right.", "high", bar=True),
        Column("Images", "count"),
        Column("Most often called", about="What its images are most often mistaken for."),
        Column("Times", "count"),
    )
    rows = tuple(
        (one["class"], one["accuracy"], one["accuracy"].n, one["instead"], one["instead_times"]) for one in classes
    )
    links: dict[tuple[int, int], str] = {}
    for at, one in enumerate(classes):
        asked = {"on": on, "model": model, "class_": one["class"] if one["has_name"] else None}
        links[at, 0] = query_link("/images", answer="wrong" if one["instead"] else None, **asked)
        if one["instead"]:
            links[at, 3] = query_link("/images", predicted=one["instead"], **asked)
    return Table("of-classes", "Accuracy in every class.", columns, rows, order="The worst first.", links=links)


def _frame(explorer: Explorer, study: Study | None, name: str) -> dict[str, Any]:
    return {
        "title": name,
        "name": name,
        "shifts": _shifts(study, name),
        "sections": [
            {"path": page.path, "text": page.text}
            for page in pages_of_sections(explorer)
            if page.of_model and any(model.name == name for model in (study.models if study else ()))
        ],
        "pending": explorer.studying,
    }


def _imported(study: Study | None, name: str) -> dict[str, Any] | None:
    """A model that a table alone knows."""
    found = next((one for one in study.models if one.name == name and not one.cells), None) if study else None
    if study is None or found is None:
        return None
    measured = [(one.name, one.accuracies[name]) for one in study.conditions if name in one.accuracies]
    conditions = [
        {"name": where, "data": "imported", "top1": top1, "top5": None, "missing": 0, "state": "imported"}
        for where, top1 in measured
    ]
    return {"category": found.origin.category, "parent": found.origin.parent, "conditions": conditions}


def _facts(held: Held) -> dict[str, str]:
    """What the store knows of the model, as texts."""
    about = held.cell.model
    view = about.input.view if about.input else None
    facts = {
        "weights": about.digest,
        "kind": about.kind,
        "classes": str(held.cell.n_classes),
        "input": f"{view.width} × {view.height} pixels" if view else "",
        "precision": held.cell.precision,
        "training data": about.card.training_data or "",
        "interventions": ", ".join(about.card.interventions),
    }
    return {key: value for key, value in facts.items() if value}


def _condition(explorer: Explorer, catalogue: Catalogue, held: Held) -> dict[str, Any]:
    return {
        "name": held.condition,
        "data": catalogue.data[held.data].name,
        "top1": explorer.accuracies(catalogue).get(held.number),
        "top5": _top5(held),
        "missing": held.cell.n_rows - held.n_rows,
        "state": "complete" if held.sealed else "unfinished",
    }


@lru_cache(65536)
def _share(right: int, n: int) -> Estimate:
    """Many classes have as many images, and as many of them right."""
    return share_of(right, n)


def _top5(held: Held) -> Estimate | None:
    """The share with the true class among the best five; None where that says nothing."""
    few = held.cell.n_classes <= 5 or (held.cell.known_classes is not None and held.cell.known_classes < 5)
    return None if few or not held.n else _share(held.top5, held.n)


def _shifts(study: Study | None, name: str) -> list[dict[str, Any]]:
    found = []
    for shift in study.shifts if study else ():
        point = next((one for one in shift.points.models if one.model == name), None)
        if point is None:
            continue
        beside = shift.of_model.get(name)
        found.append(
            {
                "name": shift.name,
                "kind": shift.kind,
                "x_name": ", ".join(shift.points.x),
                "x": point.x[0],
                "y": point.y,
                "rho": beside.rho if beside else None,
                "tau": beside.tau if beside else None,
                "rank_x": beside.rank_x if beside else None,
                "rank_y": beside.rank_y if beside else None,
                "n_models": len(shift.points.models),
            }
        )
    return found


def _classes(explorer: Explorer, catalogue: Catalogue, held: Held) -> ClassRows:
    """Top-1 of every class that occurs, the worst first, and what its images are most often mistaken for."""
    names, counts = explorer.classes(catalogue, held), by_class(explorer.answers(held))
    every = zip(counts.n_right, counts.n, counts.labels, strict=True)
    keys = [(right / n, -n, called(names, label), at) for at, (right, n, label) in enumerate(every)]
    return ClassRows(names, counts, [at for *_, at in sorted(keys)])


@dataclass(frozen=True)
class ClassRows(Sequence[dict[str, Any]]):
    """A row for each class, made when it is looked at: a page shows some of a thousand.

    Args:
        names: What classes are called.
        order: The places of the classes among the counts, row by row.
    """

    names: Mapping[int, str]
    counts: OfClasses
    order: list[int]

    def __len__(self) -> int:
        return len(self.order)

    @overload
    def __getitem__(self, at: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, at: slice) -> list[dict[str, Any]]: ...
    def __getitem__(self, at: int | slice) -> dict[str, Any] | list[dict[str, Any]]:
        """A row, or some of them."""
        if isinstance(at, slice):
            return [self._row(place) for place in self.order[at]]
        return self._row(self.order[at])

    def tolist(self) -> list[dict[str, Any]]:
        """All rows as plain values, which JSON is written of in a third of the time."""
        rows = self[:]
        for row in rows:
            row["accuracy"] = vars(row["accuracy"])
        return rows

    def _row(self, place: int) -> dict[str, Any]:
        label = self.counts.labels[place]
        instead, times = self.counts.instead.get(label, (None, None))
        return {
            "class": called(self.names, label),
            "has_name": label in self.names,  # others stand for several classes of the data
            "accuracy": _share(self.counts.n_right[place], self.counts.n[place]),
            "instead": None if instead is None else called(self.names, instead),
            "instead_times": times,
        }
