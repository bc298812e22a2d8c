"""What the drops of a study are made of, under each natural shift."""

from __future__ import annotations

from dataclasses import replace

from oodometer.analysis.explain import DEFAULT, Explanation, explain_points
from oodometer.core.errors import OodometerError
from oodometer.study.study import Study, StudyShift


def with_parts(study: Study) -> list[StudyShift]:
    """The natural shifts to other images, which are those that have three gaps."""
    return [
        shift
        for shift in study.shifts
        if shift.natural and not shift.points.same_images and shift.points.measure == "top-1"
    ]


def explained_drops(study: Study) -> tuple[list[Explanation], list[str]]:
    """An explanation for each natural shift to other images; and which shifts have none, and why."""
    found: list[Explanation] = []
    notes: list[str] = []
    options = replace(DEFAULT, resampling=study.options.resampling)
    for shift in with_parts(study):
        try:
            found.append(explain_points(shift.points, options=options))
        except OodometerError as error:
            notes.append(f"{shift.name}: {error}")
    return found, notes
