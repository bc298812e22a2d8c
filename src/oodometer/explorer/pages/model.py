"""A model: what it is, how it does under every condition and shift, and in which classes."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from oodometer.core.estimate import Estimate
from oodometer.explorer import queries
from oodometer.explorer.catalogue import Catalogue, Held
from oodometer.explorer.explorer import Explorer
from oodometer.explorer.navigation import pages_of_sections
from oodometer.explorer.pages.answers import called, first_condition, in_order
from oodometer.stats.intervals import share_of
from oodometer.store.queries import literal
from oodometer.study import Study


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


def _classes(explorer: Explorer, catalogue: Catalogue, held: Held) -> list[dict[str, Any]]:
    """Top-1 of every class that occurs, the worst first, and what its images are most often mistaken for."""
    names = explorer.classes(catalogue, held)
    rows = explorer.index.ask(queries.CLASSES_OF_MODEL, files=literal(list(held.files)))
    found = []
    for label, n, right, instead, times in rows:
        found.append(
            {
                "class": called(names, label),
                "has_name": label in names,  # others stand for several classes of the data
                "accuracy": _share(right, n),
                "instead": None if instead is None else called(names, instead),
                "instead_times": times,
            }
        )
    return sorted(found, key=lambda one: (one["accuracy"].value, -one["accuracy"].n, one["class"]))
