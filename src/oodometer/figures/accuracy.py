"""Accuracy under a shift, a bar for each model, each under the model that it was made from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oodometer.core.condition import MEASURES
from oodometer.figures.bar_rows import MOST_ROWS, Bars, draw_rows, rows_of
from oodometer.figures.kinds import Kind
from oodometer.figures.options import FigureOptions
from oodometer.figures.selection import at_most, enough_conditions, shifts_of, shown_points
from oodometer.figures.style import short
from oodometer.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_accuracy(study: Study, options: FigureOptions) -> Figure:
    """Bars of the accuracy under the shift; in two columns beside those on the clean set."""
    shift = shifts_of(study, options, most=1)[0]
    points = {point.model: point for point in shown_points(shift, options)}
    shifted = {name: point.y for name, point in points.items()}
    said = f"{MEASURES[shift.points.measure]} (%)"
    panels = [Bars(f"{short(shift.points.y, 26)} {said}", shifted)]
    if options.columns > 1:
        clean = {name: point.x[0] for name, point in points.items()}
        panels.insert(0, Bars(f"{short(shift.points.x[0], 26)} {said}", clean))
    rows = rows_of(study, list(points), shifted)
    return draw_rows(study, at_most(rows, MOST_ROWS), panels, options)


ACCURACY = Kind(
    about="accuracy under a shift, a bar for each model, each under the one it was made from; two columns: and clean",
    after="Hendrycks 2021 (natural adversarial): 8, 9, 10",
    needs="models on both sides of a shift",
    draw=draw_accuracy,
    lacking=enough_conditions,
)
