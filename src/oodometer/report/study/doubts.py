"""What can't be concluded from a study, a line each."""

from __future__ import annotations

from collections.abc import Iterator

from oodometer.report.points import named
from oodometer.report.study.findings import FEW_MODELS, LOOSE, WIDE, half_width
from oodometer.report.study.study import Study, StudyShift

MOST_LINES = 4
"""More of one kind are counted."""


def doubts_of(study: Study) -> list[str]:
    """Everything that a reader must not read into the numbers."""
    kinds = (
        _without_shift(study),
        _without_line(study),
        _few_models(study),
        _loose(study),
        _small(study),
        _other_images(study),
        _attacks(study),
        _unknown(study),
        _imported(study),
        iter(study.notes),
        _left_out(study),
    )
    return [line for lines in kinds for line in lines]


def _names(shifts: list[StudyShift]) -> str:
    names = [one.name for one in shifts]
    return (
        ", ".join(names)
        if len(names) <= MOST_LINES
        else f"{', '.join(names[:MOST_LINES])} and {len(names) - MOST_LINES} more"
    )


def _without_shift(study: Study) -> Iterator[str]:
    if len(study.models) == 1:
        yield "There is one model: nothing is compared, and a line needs three."
    if not study.shifts:
        yield "No shift was measured on both sides, so nothing is said about robustness."


def _without_line(study: Study) -> Iterator[str]:
    reasons: dict[str, list[StudyShift]] = {}
    for shift in study.shifts:
        if shift.robustness is None:
            reasons.setdefault(shift.why.replace(shift.name, "it"), []).append(shift)
    for why, shifts in reasons.items():
        yield f"No effective robustness on {_names(shifts)}: {why}."


def _few_models(study: Study) -> Iterator[str]:
    few = [one for one in study.shifts if one.robustness and one.robustness.fitted.n < FEW_MODELS]
    sizes = sorted({one.robustness.fitted.n for one in few if one.robustness})
    if few:
        yield (
            f"The line goes through few models ({', '.join(map(str, sizes))}) on {_names(few)}: where it lies is "
            "unsure, and so is every ρ there, as the intervals tell."
        )


def _loose(study: Study) -> Iterator[str]:
    for shift in study.shifts:
        if shift.robustness and shift.robustness.fitted.r2 < LOOSE:
            yield (
                f"On {shift.name} clean accuracy foretells little (R² = {shift.robustness.fitted.r2:.2f}): ρ is the "
                "distance from a line that hardly holds."
            )


def _small(study: Study) -> Iterator[str]:
    for shift in study.shifts:
        width = half_width(shift)
        if width is not None and width > WIDE:
            sizes = {one.y.n for one in shift.points.models}
            n = ", ".join(f"{one:,}" for one in sorted(one for one in sizes if one is not None))
            yield (
                f"On {shift.name} there are few images (n = {n}): an accuracy is known to about ±{100 * width:.0f} "
                "points, and smaller differences between models need pairs of answers to be seen."
            )


def _other_images(study: Study) -> Iterator[str]:
    other = [one for one in study.shifts if one.natural and not one.points.same_images]
    if other:
        yield (
            f"The two sides of {_names(other)} are different images: what is lost may come from harder images as well "
            "as from the shift."
        )


def _attacks(study: Study) -> Iterator[str]:
    """What attacks found out about themselves, and that they are a lower bound of what an attacker can do."""
    found: dict[str, list[str]] = {}
    attacked = False
    for model in study.models:
        for cell in model.cells:
            if "attack" in cell.condition:
                attacked = True
                for line in study.store.warnings(cell):
                    found.setdefault(f"{cell.condition_name}: {line}", []).append(model.name)
    for line, models in found.items():
        yield f"{named(models)} on {line}"
    if attacked or any(one.kind == "adversarial" for one in study.shifts):
        yield "An accuracy under an attack is what this attack leaves: a stronger one may leave less."


def _unknown(study: Study) -> Iterator[str]:
    unknown = [model.name for model in study.models if not model.origin.category]
    if unknown and len(unknown) < len(study.models):
        yield f"The category of {named(unknown)} is unknown: no line goes through them."


def _imported(study: Study) -> Iterator[str]:
    if study.sources:
        yield (
            "Imported accuracies come without the answers behind them: models can’t be compared image by image, and "
            "there is no calibration of theirs."
        )
        if any(one.n is None for some in study.conditions for one in some.accuracies.values()):
            yield "Some imported accuracies come without the number of images, so without an interval."


def _left_out(study: Study) -> Iterator[str]:
    lines: dict[str, list[StudyShift]] = {}
    for shift in study.shifts:
        for line in shift.points.notes:
            lines.setdefault(line, []).append(shift)
    for line, shifts in lines.items():
        yield line if any(shift.name in line for shift in shifts) else f"{_names(shifts)}: {line}"
