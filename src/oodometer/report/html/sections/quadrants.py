"""The section of the quadrants: effective robustness against relative robustness of models that have a parent."""

from __future__ import annotations

from typing import Any

from oodometer.analysis.points import MOST_NAMES
from oodometer.analysis.robustness import ModelRobustness
from oodometer.document.section import Plot, Section, Words
from oodometer.report.html.scatter_data import PARTS, parts_of
from oodometer.report.palette import UNKNOWN, looks_of
from oodometer.study import Study, StudyShift

TITLE = "Effective against relative robustness"
SHORT = "Quadrants"

LEAD = (
    "A model made from another is asked two things. Does it beat its parent under the shift? That is relative "
    "robustness τ, upwards. Does it stand above the line of models of its clean accuracy? That is effective "
    "robustness ρ, to the right. An intervention that helps is above and to the right of both zeros; one that only "
    "raises clean accuracy can be above and still not to the right.",
)

CAPTION = (
    "Each mark is a model with a parent among those measured. Bars are the intervals of ρ and of τ: where a bar "
    "crosses zero, the sign is not certain."
)

NO_PARENTS = (
    "No model here is known to be made from another, so there is no relative robustness τ: the accuracy of a model "
    "under a shift minus that of its parent. Name the parent in the model's card, or in a column 'parent' of the "
    "table that --categories reads, and measure the parent too."
)


def section(study: Study) -> Section | None:
    """The quadrants of every shift that has both ρ and τ; words where none has; None where there is no shift."""
    if not study.shifts:
        return None
    shifts = [_shift(shift) for shift in study.shifts if _with_tau(shift)]
    if not shifts:
        return Section("quadrants", TITLE, (), (Words((_why_none(study),)),), short=SHORT)
    categories = {model.name: model.origin.category or UNKNOWN for model in study.models}
    data = {
        "categories": list(looks_of(categories.values())),
        "category": categories,
        "parts": PARTS,
        "level": study.options.resampling.level,
        "shifts": shifts,
    }
    return Section("quadrants", TITLE, LEAD, (Plot("quadrants-plot", CAPTION, "quadrants", data),), short=SHORT)


def _with_tau(shift: StudyShift) -> list[ModelRobustness]:
    """The models that have τ."""
    return [one for one in shift.robustness.models if one.tau] if shift.robustness else []


def _shift(shift: StudyShift) -> dict[str, Any]:
    """ρ and τ of its models, as value and ends of the interval in hundred-thousandths."""
    models = _with_tau(shift)
    return {
        "name": shift.name,
        "kind": shift.kind,
        "models": [one.model for one in models],
        "parents": [one.parent for one in models],
        **{
            f"{name}{end}": [parts_of(getattr(getattr(one, name), part)) for one in models]
            for name in ("rho", "tau")
            for end, part in (("", "value"), ("Low", "low"), ("High", "high"))
        },
        "n": [one.y.n for one in models],
    }


def _why_none(study: Study) -> str:
    """What is missing, in words."""
    parents = {model.origin.parent for model in study.models if model.origin.parent}
    if not parents:
        return NO_PARENTS
    lost = sorted(parents - {model.name for model in study.models})
    if lost:
        some = f"{', '.join(lost[:MOST_NAMES])}{', …' if len(lost) > MOST_NAMES else ''}"
        return (
            f"Parents are named ({some}) but were not measured, so there is no relative robustness τ: the accuracy of "
            "a model under a shift minus that of its parent. Measure them too."
        )
    whys = dict.fromkeys(shift.why for shift in study.shifts if shift.why)
    reason = f" ({'; '.join(whys)})" if whys else ""
    return f"No shift has both a line{reason} and a model that was measured together with its parent."
