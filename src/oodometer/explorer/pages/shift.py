"""A shift: every model on both sides, and the line that says what to expect."""

from __future__ import annotations

from typing import Any

from oodometer.analysis.families import family_in
from oodometer.analysis.robustness import ModelRobustness
from oodometer.core.errors import did_you_mean
from oodometer.explorer.catalogue import UnknownName
from oodometer.explorer.explorer import Explorer
from oodometer.explorer.navigation import pages_of_sections
from oodometer.explorer.pages.answers import sizes_of
from oodometer.explorer.render import category_of
from oodometer.explorer.scatter import Scatter, scatter_of
from oodometer.study import StudyShift


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
    models = [
        {
            "name": point.model,
            "category": point.origin.category,
            "x": list(point.x),
            "y": point.y,
            **_robustness(found.of_model.get(point.model)),
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


def drawing(explorer: Explorer, name: str) -> Scatter | None:
    """The models of a shift as points, for the page."""
    study = explorer.study()
    found = next((one for one in study.shifts if one.name == name), None) if study else None
    return scatter_of(found, categories(explorer)) if found else None


def categories(explorer: Explorer) -> list[str]:
    """The categories of all models, as pages call them."""
    known = [category_of(explorer.origin(held[0]).category) for held in explorer.catalogue().by_model.values()]
    study = explorer.study()
    return list(dict.fromkeys([*known, *(category_of(one.origin.category) for one in (study.models if study else ()))]))


def _robustness(found: ModelRobustness | None) -> dict[str, Any]:
    names = ("drop", "rho", "tau", "parent", "rank_x", "rank_y", "in_baseline")
    return {name: getattr(found, name) if found else None for name in names}


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
