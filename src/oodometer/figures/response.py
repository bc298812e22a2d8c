"""Accuracy when only the most confident images are answered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from oodometer.analysis.curve_scores import reliability_of, response_of
from oodometer.analysis.intervals import IntervalOptions
from oodometer.core.predictions import Predictions
from oodometer.figures.curves import MOST_CURVES, Curve, CurvePanel, draw_curves, few_of, say_few
from oodometer.figures.kinds import Kind
from oodometer.figures.options import FigureOptions
from oodometer.figures.selection import cells_of_sides, predictions, shifts_of
from oodometer.figures.style import short
from oodometer.study import Study
from oodometer.study.evidence import answers

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_DIAGRAMS = 3
"""Models in one reliability diagram: their curves cross."""

HALF_WIDTH = 34
"""Letters of a title."""


def draw_response(study: Study, options: FigureOptions) -> Figure:
    """A curve for each of a few models under the shift; in two columns beside those on the clean set."""

    def panel(title: str, curves: dict[str, Curve]) -> CurvePanel:
        return CurvePanel(title, curves, "response rate (%)", "accuracy among the answered (%)")

    return _draw(study, options, Wanted(response_of, MOST_CURVES, panel))


def draw_reliability(study: Study, options: FigureOptions) -> Figure:
    """Accuracy in bins of confidence, likewise."""

    def panel(title: str, curves: dict[str, Curve]) -> CurvePanel:
        return CurvePanel(title, curves, "confidence (%)", "accuracy (%)", diagonal=True, bars=True)

    return _draw(study, options, Wanted(reliability_of, MOST_DIAGRAMS, panel))


@dataclass(frozen=True)
class Wanted:
    """Curves of a kind: what they are, of how many models at most, and the panel that they make."""

    curve: Callable[[Predictions, IntervalOptions], Curve]
    most: int
    panel: Callable[[str, dict[str, Curve]], CurvePanel]


def _draw(study: Study, options: FigureOptions, wanted: Wanted) -> Figure:
    shift = shifts_of(study, options, most=1)[0]
    cells = cells_of_sides(study, shift, options)
    known = [model.name for model in study.models if model.name in cells]
    names = few_of(known, options, wanted.most)
    how = IntervalOptions(level=study.options.resampling.level)
    sides = [(shift.points.x[0], 0), (shift.points.y, 1)]
    panels = []
    for title, side in sides if options.columns > 1 else sides[1:]:
        curves = {name: wanted.curve(answers(study, cells[name][side]), how) for name in names}
        panels.append(wanted.panel(short(title, HALF_WIDTH), curves))
    figure = draw_curves(panels, options)
    say_few(figure, names, known, options)
    return figure


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
