"""Effective against relative robustness: which interventions help beyond their accuracy, and which help at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oodometer.core.errors import StoreError
from oodometer.figures.category_styles import looks_for
from oodometer.figures.kinds import Kind
from oodometer.figures.legends import legend_above
from oodometer.figures.options import FigureOptions
from oodometer.figures.points_axes import Mark, draw_differences, write_marks
from oodometer.figures.scatter import grid_of
from oodometer.figures.selection import enough_for_a_line, line_of, shifts_of, that_fit
from oodometer.figures.style import SMALL, SOFT, new_figure, short, width_of
from oodometer.study import Study, StudyShift

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CORNERS = (
    (0.985, 0.985, "right", "top", "robust: ρ > 0, τ > 0"),
    (0.015, 0.985, "left", "top", "better, as its accuracy\nleads to expect"),
    (0.985, 0.015, "right", "bottom", "beyond the line,\nbut worse than its parent"),
    (0.015, 0.015, "left", "bottom", "neither"),
)
"""What each quadrant means, in its corner."""


def draw_quadrants(study: Study, options: FigureOptions) -> Figure:
    """One panel for each shift: ρ of every model that has a parent against its τ."""
    shifts = shifts_of(study, options)
    marks = [marks_of(shift, options) for shift in shifts]
    across, down = grid_of(len(shifts), options.columns)
    side = width_of(options.columns) / across
    figure = new_figure(options.columns, down * min(0.9 * side, 4.2) + 0.3)
    looks = looks_for(study, ((one.model, one.category) for some in marks for one in some))
    cells = figure.subplots(down, across, squeeze=False).ravel()
    for axes, shift, some in zip(cells, shifts, marks, strict=False):
        draw_differences(axes, some, looks, room=0.16)
        axes.set_xlabel("effective robustness ρ (points)")
        axes.set_ylabel("relative robustness τ (points)")
        axes.set_title(short(shift.points.y, int(15 * side)))
        _name_corners(axes)
    for axes in cells[len(shifts) :]:
        axes.remove()
    legend_above(figure, *looks.legend())
    that_fit([one.model for some in marks for one in some], options.label, "--label")
    for axes, some in zip(cells, marks, strict=False):
        write_marks(axes, some, options.label)
    return figure


def marks_of(shift: StudyShift, options: FigureOptions) -> list[Mark]:
    """ρ and τ of every model of which both are known."""
    models = line_of(shift).models
    shown = set(that_fit([one.model for one in models], options.models))
    found = [
        Mark(one.model, one.category, one.rho, one.tau)
        for one in models
        if one.tau is not None and one.model in shown and one.x[0].value >= options.above
    ]
    if not found:
        raise StoreError(
            f"{shift.name}: no τ, because no model has its parent among those measured; "
            "cards name it, or --categories CSV with a column parent"
        )
    return found


def _name_corners(axes: Axes) -> None:
    for x, y, ha, va, words in CORNERS:
        axes.text(
            x,
            y,
            words,
            transform=axes.transAxes,
            ha=ha,
            va=va,
            fontsize=SMALL - 1,
            color=SOFT,
            style="italic",
            gid="corner",
        )


def _lacking(study: Study) -> str:
    """Models whose parents are there too."""
    names = {model.name for model in study.models}
    known = any(model.origin.parent in names for model in study.models)
    return (
        enough_for_a_line(study)
        if known
        else "models with their parents (in cards, or --categories CSV with a column parent)"
    )


QUADRANTS = Kind(
    about="effective against relative robustness of every model that has a parent; a panel for each shift",
    after="Taori 2020: section 2, appendix figure 10",
    needs="models on both sides of a shift, and the parents of some of them",
    draw=draw_quadrants,
    lacking=_lacking,
    about_lines=True,
)
