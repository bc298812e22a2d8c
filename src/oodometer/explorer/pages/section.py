"""A section of the report as a page, of the whole study or of one model or shift of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from importlib import import_module
from importlib.resources import files
from typing import Any

from oodometer.core.errors import did_you_mean
from oodometer.document.section import Plot, Section
from oodometer.document.table import Table
from oodometer.explorer.catalogue import UnknownName
from oodometer.explorer.explorer import Explorer
from oodometer.explorer.section_pages import SectionPage
from oodometer.report.html.page import FIRST_SCRIPTS
from oodometer.report.palette import UNKNOWN, looks_of
from oodometer.study import Study, StudyShift

NOT_HERE = ("theme", "nav")
"""Scripts of the report that a page has already, or that are about the report's own navigation."""


def section_page(
    explorer: Explorer, page: SectionPage, *, model: str | None = None, shift: str | None = None
) -> dict[str, Any]:
    """What the section says, as plain values; tables and plots have their numbers."""
    found = _section(explorer, page, model, shift)
    return {
        **_frame(explorer, page, model, shift),
        "lead": list(found.lead) if found else [],
        "parts": [_as_json(part) for part in found.parts] if found else [],
    }


def drawn_section(
    explorer: Explorer, page: SectionPage, *, model: str | None = None, shift: str | None = None
) -> dict[str, Any]:
    """The section itself for the template, the looks of categories, and the scripts that draw it."""
    study = explorer.study()
    categories = [one.origin.category or UNKNOWN for one in study.models] if study else []
    looks = looks_of(categories)
    found = _section(explorer, page, model, shift)
    has_plots = found is not None and any(isinstance(part, Plot) for part in found.parts)
    return {
        "section": found,
        "looks": {name: {"colour": one.colour, "dark": one.dark, "symbol": one.symbol} for name, one in looks.items()},
        "look_places": {name: place for place, name in enumerate(looks)},
        "has_plots": has_plots,
        "scripts": scripts(has_plots),
        "styles": [name for name in report_files(".css") if name != "report.css"],
        "models": [one.name for one in study.models] if study and page.of_model else [],
        "shifts": [one.name for one in study.shifts if page.of_shift(one)] if study else [],
    }


def _frame(explorer: Explorer, page: SectionPage, model: str | None, shift: str | None) -> dict[str, Any]:
    why = explorer.why_no_study or "Being computed; the page looks again by itself."
    nothing = why if explorer.study() is None else "Nothing here was measured that this page could show."
    about = {"path": page.path, "model": model, "shift": shift}
    return {"title": page.text, **about, "nothing": nothing, "pending": explorer.studying}


def _section(explorer: Explorer, page: SectionPage, model: str | None, shift: str | None) -> Section | None:
    study = explorer.study()
    return None if study is None else _made(StudyKey(study), page, model, shift)


class StudyKey:
    """A study as the key of what is kept: the same only as itself, for what it holds has no hash."""

    def __init__(self, study: Study) -> None:
        self.study = study

    def __hash__(self) -> int:
        return id(self.study)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StudyKey) and other.study is self.study


@lru_cache(16)
def _made(key: StudyKey, page: SectionPage, model: str | None, shift: str | None) -> Section | None:
    """The section, made once for the page and its twin."""
    make: Callable[[Study], Section | None] = import_module(f"oodometer.report.html.sections.{page.module}").section
    return make(narrowed(key.study, model=model if page.of_model else None, shift=shift))


def narrowed(study: Study, *, model: str | None = None, shift: str | None = None) -> Study:
    """The study as if only that model, or only that shift and its two sides, had been looked at."""
    if shift is not None:
        study = _of_shift(study, shift)
    return study if model is None else _of_model(study, model)


def _of_shift(study: Study, name: str) -> Study:
    found = {one.name: one for one in study.shifts}
    if name not in found:
        raise UnknownName(f"no shift named {name!r} here{did_you_mean(name, found)}")
    sides = {found[name].standard, *found[name].shifted}
    conditions = tuple(one for one in study.conditions if one.name in sides)
    return replace(study, shifts=(found[name],), conditions=conditions or study.conditions)


def _of_model(study: Study, name: str) -> Study:
    models = tuple(one for one in study.models if one.name == name)
    if not models:
        raise UnknownName(f"no model named {name!r} here{did_you_mean(name, [one.name for one in study.models])}")
    conditions = tuple(
        replace(one, accuracies={name: one.accuracies[name]}) for one in study.conditions if name in one.accuracies
    )
    shifts = tuple(shift for shift in study.shifts if _is_of(shift, name))
    return replace(study, models=models, conditions=conditions, shifts=shifts)


def _is_of(shift: StudyShift, model: str) -> bool:
    return any(point.model == model for point in shift.points.models)


def _as_json(part: Any) -> Mapping[str, Any]:
    # Only the part itself: what is in it, a table above all, knows how it is written.
    values = part.as_json() if isinstance(part, Table) else vars(part)
    return {"part": type(part).__name__.lower(), **values}


def scripts(has_plots: bool) -> list[str]:
    """The report's scripts in the order in which they need each other."""
    first = [f"{name}.js" for name in FIRST_SCRIPTS if name not in NOT_HERE]
    draw = [name for name in report_files(".js") if name.removesuffix(".js") not in (*FIRST_SCRIPTS, *NOT_HERE)]
    return [*first, *(draw if has_plots else [])]


@lru_cache(4)
def report_files(ending: str) -> list[str]:
    """Names of the report's scripts or styles."""
    names = (place.name for place in files("oodometer.report.html").joinpath("static").iterdir())
    return sorted(name for name in names if name.endswith(ending))
