"""Accuracy under a shift, a bar for each model, each under the model that it was made from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oodometer.core.condition import MEASURES
from oodometer.figures.bar_rows import MOST_ROWS, Bars, draw_rows, rows_of
from oodometer.figures.kinds import Kind
from oodometer.figures.options import FigureOptions
from oodometer.figures.people import people_on_clean, people_under
from oodometer.figures.selection import at_most, shifts_of, shown_points, that_fit
from oodometer.figures.style import short
from oodometer.study import Study, StudyCondition

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_accuracy(study: Study, options: FigureOptions) -> Figure:
    """Bars of the accuracy under the shift; in two columns beside those on the clean set."""
    if alone := the_only_condition(study):
        return _draw_alone(study, study.condition(alone.pop()), options)
    shift = shifts_of(study, options, most=1)[0]
    points = {point.model: point for point in shown_points(shift, options)}
    shifted = {name: point.y for name, point in points.items()}
    said = f"{MEASURES[shift.points.measure]} (%)"
    panels = [Bars(f"{short(shift.points.y, 26)} {said}", shifted, people=people_under(study, shift))]
    if options.columns > 1:
        clean = {name: point.x[0] for name, point in points.items()}
        panels.insert(0, Bars(f"{short(shift.points.x[0], 26)} {said}", clean, people=people_on_clean(study, shift)))
    rows = rows_of(study, list(points), shifted)
    return draw_rows(study, at_most(rows, MOST_ROWS), panels, options)


def _draw_alone(study: Study, condition: StudyCondition, options: FigureOptions) -> Figure:
    """Bars of the accuracy on a condition that there is nothing to compare with."""
    shown = that_fit(list(condition.accuracies), options.models)
    rows = rows_of(study, shown, condition.accuracies)
    bars = Bars(f"{short(condition.name, 26)} accuracy (%)", condition.accuracies, people=condition.people)
    return draw_rows(study, at_most(rows, MOST_ROWS), [bars], options)


def the_only_condition(study: Study) -> set[str]:
    """Its name, where nothing else was measured."""
    return {study.conditions[0].name} if len(study.conditions) == 1 else set()


ACCURACY = Kind(
    about="accuracy under a shift, a bar for each model, each under the one it was made from; two columns: and clean",
    after="Hendrycks 2021 (natural adversarial): 8, 9, 10",
    needs="accuracies of models",
    draw=draw_accuracy,
    lacking=lambda study: "" if study.conditions else "accuracies: images that have labels",
    alone=the_only_condition,
)
