"""What the drops of a study are made of, under each natural shift."""

from __future__ import annotations

from dataclasses import replace

from oodometer.analysis.explain import DEFAULT, Explanation, explain_points
from oodometer.core.errors import OodometerError
from oodometer.study.study import Study


def explained_drops(study: Study) -> tuple[list[Explanation], list[str]]:
    """An explanation for each natural shift to other images; and which shifts have none, and why."""
    found: list[Explanation] = []
    notes: list[str] = []
    options = replace(DEFAULT, resampling=study.options.resampling)
    for shift in study.shifts:
        points = shift.points
        if not shift.natural or points.same_images or points.measure != "top-1":
            continue
        try:
            found.append(explain_points(points, options=options))
        except OodometerError as error:
            notes.append(f"{shift.name}: {error}")
    return found, notes
