"""The leaderboard: every model on every condition, and its robustness under a shift."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from oodometer.analysis.families import family_in
from oodometer.analysis.origins import Origin
from oodometer.core.errors import did_you_mean
from oodometer.core.estimate import Estimate
from oodometer.document.section import Dots, Part, Words
from oodometer.explorer.catalogue import Catalogue, UnknownName
from oodometer.explorer.explorer import Explorer
from oodometer.explorer.links import path_link
from oodometer.explorer.pages.answers import clean_names, sizes_of
from oodometer.report.html.sections.overview import section
from oodometer.report.palette import UNKNOWN, looks_of
from oodometer.study import Study, StudyShift

MOST_COLUMNS = 12
"""More do not fit a page; each has a page of its own."""


@dataclass(frozen=True)
class Column:
    """A condition, or the mean over a family of them.

    Args:
        shift: The name of the shift that it is the shifted side of, where it is one.
        accuracies: Of the models that were measured.
    """

    name: str
    is_family: bool
    shift: str | None
    accuracies: Mapping[str, Estimate]


def leaderboard(explorer: Explorer, *, shift: str | None = None) -> dict[str, Any]:
    """All models, the best in the first column first."""
    catalogue, study = explorer.catalogue(), explorer.study()
    chosen = _chosen(study, shift)
    columns = _columns(explorer, catalogue, study, chosen)
    models = _models(explorer, catalogue, study)
    first = columns[0].accuracies if columns else {}
    names = sorted(models, key=lambda name: (-first[name].value if name in first else 1.0, name))
    return {
        "title": "Leaderboard",
        "n_models": len(models),
        "n_predictions": sum(one.n_rows for one in catalogue.held),
        "columns": [
            {"name": one.name, "is_family": one.is_family, "shift": one.shift, "n": sizes_of(one.accuracies.values())}
            for one in columns[:MOST_COLUMNS]
        ],
        "left_out": [one.name for one in columns[MOST_COLUMNS:]],
        "models": [
            {
                "name": name,
                "category": models[name].category,
                "parent": models[name].parent,
                "accuracies": [one.accuracies.get(name) for one in columns[:MOST_COLUMNS]],
                **_robustness(chosen, name),
            }
            for name in names
        ],
        "shift": chosen.name if chosen else None,
        "why_no_line": chosen.why if chosen else "",
        "shifts": [{"name": one.name, "kind": one.kind} for one in study.shifts] if study else [],
        "notes": [*catalogue.problems, *_unfinished(catalogue), *(study.notes if study else ())],
        "pending": explorer.studying,
        "why_no_study": explorer.why_no_study,
    }


def glance(explorer: Explorer) -> dict[str, Any]:
    """What the report begins with, and the looks of categories; nothing where no study is finished yet."""
    study = explorer.study()
    overview = section(study) if study else None
    if overview is None:
        return {"overview": None, "look_places": {}}
    categories = [model.origin.category or UNKNOWN for model in study.models] if study else []
    places = {name: place for place, name in enumerate(looks_of(categories))}
    return {"overview": replace(overview, parts=tuple(map(_linked, overview.parts))), "look_places": places}


def _linked(part: Part) -> Part:
    """The part with links to pages; those to sections of a report lead nowhere here."""
    if isinstance(part, Dots):
        return replace(part, rows=tuple(replace(row, link=path_link("model", row.name)) for row in part.rows))
    return replace(part, evidence=()) if isinstance(part, Words) else part


def _chosen(study: Study | None, name: str | None) -> StudyShift | None:
    """The shift under which robustness is told."""
    shifts = study.shifts if study else ()
    if name is not None and study is not None:
        found = next((one for one in shifts if one.name == name), None)
        if found is None:
            raise UnknownName(f"no shift named {name!r} here{did_you_mean(name, [one.name for one in shifts])}")
        return found
    return next((one for one in shifts if one.robustness), shifts[0] if shifts else None)


def _robustness(shift: StudyShift | None, model: str) -> dict[str, Estimate | None]:
    of_model = shift.of_model.get(model) if shift else None
    return {"rho": of_model.rho if of_model else None, "tau": of_model.tau if of_model else None}


def _models(explorer: Explorer, catalogue: Catalogue, study: Study | None) -> dict[str, Origin]:
    """Name to origin: what was run, and what tables know; people are no models."""
    found = {name: explorer.origin(held[0]) for name, held in catalogue.by_model.items()}
    imported = {one.name: one.origin for one in study.models if not one.cells} if study else {}
    return {name: origin for name, origin in {**imported, **found}.items() if not origin.is_human}


def _columns(explorer: Explorer, catalogue: Catalogue, study: Study | None, chosen: StudyShift | None) -> list[Column]:
    """The clean set, the shift that is chosen, other shifts in the order of the study, and what else was asked."""
    accuracies = explorer.accuracies(catalogue)
    shifts = {one.name: one for one in study.shifts} if study else {}
    found: dict[str, Column] = {}
    for name, held in catalogue.by_condition.items():
        measured = {one.model: accuracies[one.number] for one in held if one.number in accuracies}
        if measured and family_in(catalogue.index, held[0].cell.condition) is None:
            found[name] = Column(name, False, name if name in shifts else None, measured)
    for one in study.conditions if study else ():
        if one.family is None:
            known = {**one.accuracies, **(found[one.name].accuracies if one.name in found else {})}
            found[one.name] = Column(one.name, False, one.name if one.name in shifts else None, known)
    for name, shift in shifts.items():
        # On the images that all models of the shift saw, as everywhere; of other models what there is.
        others = found[name].accuracies if name in found else {}
        known = {**others, **{point.model: point.y for point in shift.points.models}}
        found[name] = Column(name, len(shift.points.conditions) > 1, name, known)
    order = [*_clean(explorer, study), *([chosen.name] if chosen else []), *shifts]
    return sorted(found.values(), key=lambda one: order.index(one.name) if one.name in order else len(order))


def _clean(explorer: Explorer, study: Study | None) -> list[str]:
    """What shifts are compared with: the set that most are, or whatever is clean where no shift is known yet."""
    return [study.conditions[0].name] if study and study.shifts else clean_names(explorer)


def _unfinished(catalogue: Catalogue) -> list[str]:
    begun = [one for one in catalogue.held if not one.sealed]
    if not begun:
        return []
    first = f"{begun[0].model} on {begun[0].condition} ({begun[0].n_rows} of {begun[0].cell.n_rows} images)"
    return [f"unfinished: {first}" + (f" and {len(begun) - 1} more cells" if len(begun) > 1 else "")]
