"""What can't be concluded from a study, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from oodometer.analysis.text import listed
from oodometer.catalogue.names import find_shift
from oodometer.study.evidence import warnings_about
from oodometer.study.findings import FEW_MODELS, LOOSE, WIDE, half_width
from oodometer.study.study import Study, StudyShift

MOST_NAMES = 4
"""More are counted."""


@dataclass(frozen=True)
class Doubt:
    """Something that a reader must not read into the numbers, and the section of a report that shows why."""

    text: str
    evidence: str


def doubts_of(study: Study) -> list[Doubt]:
    """All doubts, the gravest first."""
    kinds = (
        (_without_shift(study), "provenance"),
        (_small(study), "leaderboard"),
        (_few_models(study), "scatter"),
        (_loose(study), "scatter"),
        (_without_line(study), "scatter"),
        (_other_images(study), "scatter"),
        (_attacks(study), "provenance"),
        (_unknown(study), "provenance"),
        (_imported(study), "provenance"),
        (iter(study.notes), "provenance"),
    )
    return [Doubt(line, evidence) for lines, evidence in kinds for line in lines]


def some_of(names: Sequence[str]) -> str:
    """Names in a sentence, the first few where they are many."""
    return listed(names, MOST_NAMES)


def _names(shifts: Sequence[StudyShift]) -> str:
    return some_of([one.name for one in shifts])


def _without_shift(study: Study) -> Iterator[str]:
    if len(study.models) == 1:
        yield "There is one model only: nothing is compared, and no line can be drawn."
    if not study.shifts:
        yield "No shift was measured on both sides, so nothing is said about robustness."


def _without_line(study: Study) -> Iterator[str]:
    reasons: dict[str, list[StudyShift]] = {}
    for shift in study.shifts:
        if shift.robustness is None:
            # The same reason may stand for several shifts; only the name in it differs.
            reasons.setdefault(shift.why.replace(f" on {shift.points.y}", ""), []).append(shift)
    for why, shifts in reasons.items():
        yield f"No line, and so no effective robustness, on {_names(shifts)}: {why}."


def _few_models(study: Study) -> Iterator[str]:
    fitted = {one.name: one.robustness.fitted.n for one in study.shifts if one.robustness}
    few = {name: n for name, n in fitted.items() if n < FEW_MODELS}
    if few:
        of = some_of([f"{name} ({n} models)" for name, n in few.items()])
        yield (
            f"The line goes through few models on {of}: where it lies is unsure, and so is every ρ there; the "
            "intervals are wide because of it."
        )


def _loose(study: Study) -> Iterator[str]:
    fitted = {one.name: one.robustness.fitted.r2 for one in study.shifts if one.robustness}
    loose = [f"{name} (R² = {r2:.2f})" for name, r2 in fitted.items() if r2 < LOOSE]
    if loose:
        yield f"Clean accuracy predicts little on {some_of(loose)}: ρ is the distance from a line that hardly holds."


def _small(study: Study) -> Iterator[str]:
    widths = [(shift, half_width(shift)) for shift in study.shifts]
    wide = [
        f"{shift.name} (n = {max(one.y.n or 0 for one in shift.points.models):,}, ±{100 * width:.0f} points)"
        for shift, width in widths
        if width is not None and width > WIDE
    ]
    if wide:
        yield f"There are few images on {some_of(wide)}: smaller differences of accuracies may be chance."


def _other_images(study: Study) -> Iterator[str]:
    other = [shift for shift in study.shifts if shift.natural and not shift.points.same_images and not _relabels(shift)]
    if other:
        yield (
            f"The two sides of {_names(other)} are different images: what is lost may come from harder images as well "
            "as from the shift itself."
        )


def _relabels(shift: StudyShift) -> bool:
    """Whether a shift is the clean images with other labels, as a table of accuracies can't tell."""
    entry = find_shift(shift.name)
    return entry is not None and entry.declared.relabels


def _attacks(study: Study) -> Iterator[str]:
    """What attacks found out about themselves, and that another may do worse."""
    attacks = [one for one in study.shifts if one.kind == "adversarial"]
    names = {name for one in attacks for name in one.points.conditions}
    found: dict[str, list[str]] = {}
    for model in study.models:
        for cell in model.cells:
            if cell.condition.attack is not None or cell.condition_name in names:
                for line in warnings_about(study, cell):
                    found.setdefault(f"{cell.condition_name}: {line}", []).append(model.name)
    for line, models in found.items():
        yield f"{some_of(models)} on {line}."
    if attacks:
        yield "An accuracy under an attack is what this attack leaves: a stronger one may leave less."


def _unknown(study: Study) -> Iterator[str]:
    unknown = [model.name for model in study.models if not model.origin.category]
    if unknown and len(unknown) < len(study.models) and study.options.baseline:
        are, them = ("is", "it") if len(unknown) == 1 else ("are", "them")
        yield f"Nobody says of which category {some_of(unknown)} {are}: no line goes through {them}."


def _imported(study: Study) -> Iterator[str]:
    if not study.sources:
        return
    yield (
        "Imported accuracies come without the answers behind them: models can’t be compared image by image, and their "
        "calibration is not known."
    )
    if any(one.n is None for some in study.conditions for one in some.accuracies.values()):
        yield "Some imported accuracies come without the number of images, and so without an interval."
