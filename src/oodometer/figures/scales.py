"""The same shift on linear and on probit axes: on which of them the models lie on a line."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from oodometer.analysis.robustness import robustness_of
from oodometer.figures.kinds import Kind
from oodometer.figures.options import FigureOptions
from oodometer.figures.scatter import draw_panels, grid_of
from oodometer.figures.scatter_panel import Panel
from oodometer.figures.selection import enough_for_a_line, line_of, shifts_of, shown_points
from oodometer.figures.style import width_of
from oodometer.stats.scales import Scale
from oodometer.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCALES_SHOWN: tuple[Scale, ...] = ("linear", "probit")


def draw_scales(study: Study, options: FigureOptions) -> Figure:
    """Two panels, each with the line that is straight on its axes, and how far off such a line is."""
    shift = shifts_of(study, options, most=1)[0]
    line = line_of(shift)
    errors = dict(line.scales)
    points = shown_points(shift, options)
    side = width_of(options.columns) / grid_of(len(SCALES_SHOWN), options.columns)[0]
    panels = []
    for scale in SCALES_SHOWN:
        fitted = robustness_of(shift.points, replace(study.options, scale=scale, knee=line.fitted.knee))
        said = f" (off by {100 * errors[scale]:.1f} points)" if scale in errors else ""
        panels.append(Panel(replace(shift, robustness=fitted), points, scale, f"{scale} axes{said}", side))
    return draw_panels(study, panels, options)


SCALES = Kind(
    about="a shift on linear and on probit axes, each with the line that is straight there",
    after="Recht 2019: 6",
    needs="models on both sides of a shift",
    draw=draw_scales,
    lacking=enough_for_a_line,
    about_lines=True,
)
