"""The leaderboard of the report, as far as it fits a page; while a study is being made, what was counted already."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from oodometer.analysis.families import family_in
from oodometer.analysis.origins import Origin
from oodometer.core.errors import did_you_mean
from oodometer.core.estimate import Estimate
from oodometer.document.section import Dots, Part, Words
from oodometer.document.table import Table
from oodometer.explorer.catalogue import Catalogue, UnknownName
from oodometer.explorer.explorer import Explorer
from oodometer.explorer.links import path_link
from oodometer.explorer.pages.answers import clean_names
from oodometer.explorer.pages.models_table import models_table
from oodometer.report.html.sections.overview import section
from oodometer.report.palette import UNKNOWN, looks_of
from oodometer.report.tables import model_table
from oodometer.report.tables.board_columns import accuracy_on, board_numbers
from oodometer.report.tables.model_table import Numbers
from oodometer.report.tables.shift_footnotes import lines
from oodometer.study import Study, StudyShift

MOST_SETS = 12
"""Columns of accuracies; more do not fit a page, and each has a page of its own."""


def leaderboard(explorer: Explorer, *, shift: str | None = None) -> dict[str, Any]:
    """All models, the best in the first column first."""
    catalogue, study = explorer.catalogue(), explorer.study()
    chosen = _chosen(study, shift)
    models = _models(explorer, catalogue, study)
    numbers = [known for one in _numbers(explorer, catalogue, study, chosen) if (known := one.of(models)).values]
    sets = [one.column.name for one in numbers if one.kind in ("clean", "accuracy")]
    shown = [one for one in numbers if one.column.name not in sets[MOST_SETS:]]
    return {
        "title": "Leaderboard",
        "n_models": len(models),
        "n_predictions": sum(held.n_rows for held in catalogue.held),
        "table": _table(models, shown, study, chosen),
        "left_out": sets[MOST_SETS:],
        "shift": chosen.name if chosen else None,
        "why_no_line": chosen.why if chosen else "",
        "shifts": [{"name": one.name, "kind": one.kind} for one in study.shifts] if study else [],
        "notes": [*catalogue.problems, *_unfinished(catalogue), *(study.notes if study else ())],
        "pending": explorer.studying,
        "why_no_study": explorer.why_no_study,
    }


def _table(
    models: Mapping[str, Origin], numbers: list[Numbers], study: Study | None, chosen: StudyShift | None
) -> Table:
    about_line = lines(study, [chosen], [one.kind for one in numbers]) if study and chosen else []
    caption = "Every model; a click on a heading sorts."
    words = model_table.Words("leaderboard", caption, tuple(about_line), ranked=True)
    order = f"The best on {numbers[0].column.name} first." if numbers else ""
    return models_table(models, numbers, words, order=order)


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


def _models(explorer: Explorer, catalogue: Catalogue, study: Study | None) -> dict[str, Origin]:
    """Name to origin: what was run, and what tables know; people are no models."""
    found = {name: explorer.origin(held[0]) for name, held in catalogue.by_model.items()}
    imported = {model.name: model.origin for model in study.models if not model.cells} if study else {}
    return {name: origin for name, origin in {**imported, **found}.items() if not origin.is_human}


def _numbers(
    explorer: Explorer, catalogue: Catalogue, study: Study | None, chosen: StudyShift | None
) -> Iterator[Numbers]:
    """The clean set, the shift that is chosen, other shifts in the order of the study, and what else was asked."""
    counted = _counted(explorer, catalogue)
    if study and chosen:
        # A run that goes on has answers that the study does not know yet.
        for one in _of_study(study, chosen):
            yield replace(one, values={**counted.pop(one.column.name, {}), **one.values})
    known = {one.name: one.accuracies for one in study.conditions if one.family is None} if study else {}
    shifts = {one.name for one in study.shifts} if study else set()
    clean = clean_names(explorer)
    others = {name: {**known.get(name, {}), **counted.get(name, {})} for name in {**known, **counted}}
    for name in sorted(others, key=lambda name: name not in clean):
        if name not in shifts and not (study and study.shifts and name == study.conditions[0].name):
            yield accuracy_on(name, others[name])


def _of_study(study: Study, chosen: StudyShift) -> Iterator[Numbers]:
    yield from board_numbers(study, ["clean", "accuracy", "rho", "tau"], [chosen])
    yield from board_numbers(study, ["accuracy"], [one for one in study.shifts if one is not chosen])


def _counted(explorer: Explorer, catalogue: Catalogue) -> dict[str, dict[str, Estimate]]:
    """Top-1 on every condition that is of no family, by model: counted in the store, whatever is studied."""
    accuracies = explorer.accuracies(catalogue)
    return {
        name: measured
        for name, held in catalogue.by_condition.items()
        if family_in(catalogue.index, held[0].cell.condition) is None
        and (measured := {one.model: accuracies[one.number] for one in held if one.number in accuracies})
    }


def _unfinished(catalogue: Catalogue) -> list[str]:
    begun = [one for one in catalogue.held if not one.sealed]
    if not begun:
        return []
    first = f"{begun[0].model} on {begun[0].condition} ({begun[0].n_rows} of {begun[0].cell.n_rows} images)"
    return [f"unfinished: {first}" + (f" and {len(begun) - 1} more cells" if len(begun) > 1 else "")]
