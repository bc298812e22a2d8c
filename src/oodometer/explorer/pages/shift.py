"""A shift: every model on both sides, and the line that says what to expect."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from oodometer.analysis.families import family_in
from oodometer.core.errors import did_you_mean
from oodometer.document.table import Column, Table
from oodometer.explorer.catalogue import UnknownName
from oodometer.explorer.explorer import Explorer
from oodometer.explorer.navigation import pages_of_sections
from oodometer.explorer.pages.answers import sizes_of
from oodometer.explorer.pages.models_table import models_table
from oodometer.explorer.render import category_of
from oodometer.explorer.scatter import scatter_of
from oodometer.report.tables.board_columns import board_numbers, clean_side
from oodometer.report.tables.model_table import Numbers, Words
from oodometer.report.tables.shift_footnotes import lines, means_and_measures
from oodometer.study import Study, StudyShift

BESIDE = ("drop", "rho", "tau")
"""What is told of a model where there is a line."""
RANKS = (
    Column("Clean rank", "count", "Among these models on the first clean set; 1 is the best."),
    Column("Rank", "count", "Among these models under the shift."),
)


def shift(explorer: Explorer, name: str) -> dict[str, Any]:
    """One shift."""
    study, catalogue = explorer.study(), explorer.catalogue()
    frame = {"title": name, "name": name, "pending": explorer.studying}
    if study is None:
        why = explorer.why_no_study or "The lines of the shifts are being computed; the page looks again by itself."
        return {
            **frame,
            "kind": "",
            "models": [],
            "notes": [why],
            "conditions": [],
            "n_conditions": 0,
            "x": [],
            "n": {"x": [], "y": []},
            "line": None,
            "why_no_line": "",
            "sections": [],
        }
    found = next((one for one in study.shifts if one.name == name), None)
    if found is None:
        raise UnknownName(f"no shift named {name!r} here{did_you_mean(name, [one.name for one in study.shifts])}")
    robust = found.robustness
    models: list[dict[str, Any]] = [
        {
            "name": point.model,
            "category": point.origin.category,
            "x": list(point.x),
            "y": point.y,
            **{
                name: getattr(found.of_model.get(point.model), name, None)
                for name in (*BESIDE, "parent", "rank_x", "rank_y", "in_baseline")
            },
        }
        for point in found.points.models
    ]
    models.sort(key=lambda one: -(one["rho"] or one["y"]).value)
    return {
        **frame,
        "kind": found.kind,
        "x": list(found.points.x),
        "standard": found.standard if found.standard in catalogue.by_condition else None,
        "conditions": [
            {"name": one, "corrupted": family_in(catalogue.index, catalogue.by_condition[one][0].cell.condition)}
            for one in found.shifted
            if one in catalogue.by_condition
        ],
        "n_conditions": len(found.points.conditions),
        "n": {
            "x": [sizes_of(side) for side in zip(*(point.x for point in found.points.models), strict=True)],
            "y": sizes_of(point.y for point in found.points.models),
        },
        "same_images": found.points.same_images,
        "models": models,
        "line": _line(found),
        "order": robust.order if robust else None,
        "why_no_line": found.why,
        "sections": [
            {"path": page.path, "text": page.text} for page in pages_of_sections(explorer) if page.of_shift(found)
        ],
        "notes": list(robust.notes if robust else found.points.notes),
    }


def drawn(explorer: Explorer, name: str) -> dict[str, Any]:
    """The models of a shift as points and as a table, for the page; None where there are none yet."""
    study = explorer.study()
    found = next((one for one in study.shifts if one.name == name), None) if study else None
    if study is None or found is None:
        return {"scatter": None, "table": None}
    return {"scatter": scatter_of(found, categories(explorer)), "table": shift_table(study, found)}


def shift_table(study: Study, shift: StudyShift) -> Table:
    """Every model on both sides, its drop, ρ, τ and ranks; the highest ρ first, or where there is no line accuracy."""
    numbers = [one for one in _numbers(study, shift) if one.values]
    about = (*means_and_measures([shift]), *lines(study, [shift], [one.kind for one in numbers]))
    words = Words("models", "Accuracies in per cent, differences in points.", about)
    first = f"rho:{shift.name}" if shift.robustness else shift.name
    origins = {one.model: one.origin for one in shift.points.models}
    order = f"The highest {'ρ' if shift.robustness else 'accuracy'} first."
    table = models_table(origins, numbers, words, sort=first, order=order)
    if not shift.robustness:
        return table
    ranks = {name: (one.rank_x, one.rank_y) for name, one in shift.of_model.items()}
    rows = tuple((*row, *ranks[str(row[0])]) for row in table.rows)
    return replace(table, columns=(*table.columns, *RANKS), rows=rows)


def _numbers(study: Study, shift: StudyShift) -> list[Numbers]:
    """Both sides, and where there is a line how they differ, of the models that have both."""
    models = {point.model for point in shift.points.models}
    clean = [clean_side(study, shift, place) for place in range(len(shift.points.x))]
    of_shift = board_numbers(study, ["accuracy", *(BESIDE if shift.robustness else ())], [shift])
    return [*clean, *(replace(one.of(models), column=_titled(one.column)) for one in of_shift)]


def _titled(column: Column) -> Column:
    """Without the name of the shift, but where it is the only title."""
    return replace(column, label="") if column.unit == "points" else column


def categories(explorer: Explorer) -> list[str]:
    """The categories of all models, as pages call them."""
    known = [category_of(explorer.origin(held[0]).category) for held in explorer.catalogue().by_model.values()]
    study = explorer.study()
    return list(dict.fromkeys([*known, *(category_of(one.origin.category) for one in (study.models if study else ()))]))


def _line(found: StudyShift) -> dict[str, Any] | None:
    if found.robustness is None:
        return None
    fitted = found.robustness.fitted
    return {
        "kind": fitted.kind,
        "scale": fitted.scale,
        "slope": fitted.slope,
        "intercept": fitted.intercept,
        "r2": fitted.r2,
        "n_models": fitted.n,
        "knee": fitted.knee,
        "pieces": [
            {"slopes": list(one.slopes), "intercept": one.intercept, "r2": one.r2, "n_models": one.n}
            for one in fitted.pieces
        ],
    }
