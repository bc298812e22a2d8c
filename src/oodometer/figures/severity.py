"""Accuracy at every severity of the corruptions, in the mean, of a few models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oodometer.analysis.text import plural
from oodometer.core.estimate import Estimate
from oodometer.figures.curves import CurvePanel, draw_curves, few_of, say_few
from oodometer.figures.kinds import Kind
from oodometer.figures.options import FigureOptions
from oodometer.figures.selection import grid_of
from oodometer.figures.style import short
from oodometer.study import Study
from oodometer.study.corruption_grid import grids_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NEEDS = "corruptions at several severities"


def draw_severity(study: Study, options: FigureOptions) -> Figure:
    """A curve for each of a few models over all corruptions of a family; at 0 the clean accuracy, where it is known."""
    grid = grid_of(study, options)
    curves: dict[str, list[tuple[float, Estimate]]] = {}
    known = [name for name in grid.models if grid.mean(name)]
    for model in few_of(known, options):
        found = [(float(one), grid.over_corruptions(model, one)) for one in grid.severities]
        if model in grid.clean:
            found.insert(0, (0.0, grid.clean[model]))
        curves[model] = [(at, one) for at, one in found if one is not None]
    title = f"{short(grid.family, 24)}, mean of {plural(len(grid.averaged), 'corruption')}"
    panel = CurvePanel(title, curves, "severity (0: clean)", "accuracy (%)", x_percent=False)
    figure = draw_curves([panel], options)
    say_few(figure, list(curves), known, options)
    return figure


SEVERITY = Kind(
    about="accuracy at every severity, in the mean over corruptions, of a few models",
    after="the severities of Hendrycks 2019: 6",
    needs=NEEDS,
    draw=draw_severity,
    lacking=lambda study: "" if any(grid.averaged and len(grid.severities) > 1 for grid in grids_of(study)) else NEEDS,
    needs_shift=False,
)
