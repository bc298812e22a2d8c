"""Accuracy when only the most confident images are answered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oodometer.report.curve_scores import reliability_of, response_of
from oodometer.report.estimates import How
from oodometer.report.figures.chosen import cells_of_sides, predictions, shifts_of
from oodometer.report.figures.curves import MOST_CURVES, Curve, CurvePanel, draw_curves, few_of
from oodometer.report.figures.kinds import Kind
from oodometer.report.figures.options import FigureOptions
from oodometer.report.figures.style import short
from oodometer.report.study import Study, StudyShift

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_DIAGRAMS = 3
"""Models in one reliability diagram: their curves cross."""

HALF_WIDTH = 34
"""Letters of a title."""


def draw_response(study: Study, options: FigureOptions) -> Figure:
    """A curve for each of a few models under the shift; in two columns beside those on the clean set."""
    shift = shifts_of(study, options, most=1)[0]
    return draw_curves(
        [
            CurvePanel(short(title, HALF_WIDTH), curves, "response rate (%)", "accuracy among the answered (%)")
            for title, curves in _sides(study, shift, options, response=True)
        ],
        options,
    )


def draw_reliability(study: Study, options: FigureOptions) -> Figure:
    """Accuracy in bins of confidence, likewise."""
    shift = shifts_of(study, options, most=1)[0]
    return draw_curves(
        [
            CurvePanel(short(title, HALF_WIDTH), curves, "confidence (%)", "accuracy (%)", diagonal=True, bars=True)
            for title, curves in _sides(study, shift, options, response=False)
        ],
        options,
    )


def _sides(
    study: Study, shift: StudyShift, options: FigureOptions, *, response: bool
) -> list[tuple[str, dict[str, Curve]]]:
    """The name of each side that is shown, and the curves of a few models there."""
    cells = cells_of_sides(study, shift, options)
    known = [model.name for model in study.models if model.name in cells]
    names = few_of(known, options, MOST_CURVES if response else MOST_DIAGRAMS)
    how = How(level=study.options.resampling.level)
    of = response_of if response else reliability_of
    sides = [(shift.points.x[0], 0), (shift.points.y, 1)] if options.columns > 1 else [(shift.points.y, 1)]
    return [
        (title, {name: tuple(of(study.store.read(cells[name][side]), how)) for name in names}) for title, side in sides
    ]


RESPONSE = Kind(
    about="accuracy among the most confident answers of a few models under a shift; two columns: and clean",
    after="Hendrycks 2021 (natural adversarial): 13",
    needs="predictions under a shift of one condition",
    draw=draw_response,
    lacking=predictions,
)

RELIABILITY = Kind(
    about="accuracy in bins of confidence of a few models under a shift; two columns: and clean",
    after="Hendrycks 2021 (natural adversarial): the calibration behind 14, 15",
    needs="predictions under a shift of one condition",
    draw=draw_reliability,
    lacking=predictions,
)
