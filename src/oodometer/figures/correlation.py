"""Effective robustness under one shift against that under another: whether the cheap one predicts the costly one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oodometer.analysis.correlate import Ruled, correlation_of_pair
from oodometer.core.errors import OodometerError
from oodometer.core.estimate import Estimate
from oodometer.figures.category_styles import Looks, looks_for
from oodometer.figures.kinds import Kind
from oodometer.figures.legends import legend_above
from oodometer.figures.options import FigureOptions
from oodometer.figures.points_axes import Mark, draw_differences, write_marks
from oodometer.figures.scatter import draw_panel, entries
from oodometer.figures.scatter_names import write_models
from oodometer.figures.scatter_panel import Panel
from oodometer.figures.selection import enough_for_a_line, line_of, shifts_of, shown_points, that_fit
from oodometer.figures.style import SMALL, axis_text, new_figure, short, width_of
from oodometer.stats.correlation import FEWEST_MODELS
from oodometer.study import Study, StudyShift

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_correlation(study: Study, options: FigureOptions) -> Figure:
    """ρ under both shifts; in two columns with the scatter of the first on the left."""
    first, second = shifts_of(study, options, least=2, most=2)
    marks = marks_of(study, first, second, options)
    side = width_of(1)
    panel = Panel(first, shown_points(first, options), study.options.scale, short(first.points.y, 40), side)
    both = options.columns > 1
    of_models = {one.model: one.category for one in marks}
    if both:
        of_models |= {point.model: point.origin.category for point in panel.points}
    looks = looks_for(study, of_models.items())
    that_fit(list(of_models), options.label, "--label")
    figure = new_figure(options.columns, 0.9 * side + 0.5)
    cells = figure.subplots(1, options.columns, squeeze=False).ravel()
    _draw_marks(cells[-1], marks, looks, (first, second), titled=both)
    if both:
        draw_panel(cells[0], panel, looks)
    legend_above(figure, *(entries([panel], looks) if both else looks.legend()))
    if both:
        write_models(cells[0], panel, options.label)
    write_marks(cells[-1], marks, options.label)
    return figure


def marks_of(study: Study, first: StudyShift, second: StudyShift, options: FigureOptions) -> list[Mark]:
    """ρ under both of the models that neither line goes through, and whose category is known."""
    lines = line_of(first), line_of(second)
    every = not study.options.baseline
    members = set() if every else {one.model for line in lines for one in line.models if one.in_baseline}
    others = first.of_model, second.of_model
    shown = set(that_fit(list(dict.fromkeys([*others[0], *others[1]])), options.models))
    baseline = study.options.baseline
    found = [
        Mark(name, one.category, one.rho, others[1][name].rho)
        for name, one in others[0].items()
        if name in others[1]
        and name in shown
        and name not in members
        and (every or one.category not in ("", baseline))
        and one.x[0].value >= options.above
    ]
    if len(found) < FEWEST_MODELS:
        raise OodometerError(
            f"{first.name} and {second.name}: {len(found)} models that no line goes through were measured on both, "
            f"and a correlation needs {FEWEST_MODELS}; give --categories CSV, or draw the lines with --baseline all"
        )
    return found


def correlation_of(marks: list[Mark], shifts: tuple[StudyShift, StudyShift]) -> Estimate:
    """Pearson's r of the two, as `correlate` has it."""
    first, second = (Ruled(shift.points, shift.rules) for shift in shifts)
    found = correlation_of_pair(first, second, [one.model for one in marks], line_of(shifts[0]).level)
    if found is None:
        raise OodometerError(f"{shifts[0].name} and {shifts[1].name}: all models are equally far from the lines")
    return found


def _draw_marks(
    axes: Axes, marks: list[Mark], looks: Looks, shifts: tuple[StudyShift, StudyShift], *, titled: bool
) -> None:
    draw_differences(axes, marks, looks)
    r = correlation_of(marks, shifts)
    known = r.low is not None and r.high is not None
    interval = f" [{r.low:.2f}, {r.high:.2f}]" if known else ""
    axes.set_xlabel(axis_text(f"ρ on {shifts[0].points.y}", "(points)", 2.6))
    axes.set_ylabel(axis_text(f"ρ on {shifts[1].points.y}", "(points)", 2.4))
    if titled:
        axes.set_title("effective robustness on both")
    axes.text(
        0.985,
        0.02,
        f"r = {r.value:.2f}{interval}\nn = {r.n}".replace("-", "−"),
        transform=axes.transAxes,
        ha="right",
        va="bottom",
        fontsize=SMALL,
        gid="said",
    )


def _lacking(study: Study) -> str:
    if len(study.conditions) < 3:
        return "two shifts: three conditions at least"
    if lacking := enough_for_a_line(study):
        return lacking
    baseline = study.options.baseline
    n = sum(not baseline or model.origin.category not in ("", baseline) for model in study.models)
    if n >= FEWEST_MODELS:
        return ""
    return f"{FEWEST_MODELS} models that no line goes through, of other categories; there are {n}"


CORRELATION = Kind(
    about="effective robustness under one shift against that under another; two columns: and the scatter of the first",
    after="Taori 2020: 5",
    needs="two shifts, and four models that no line goes through (by their categories)",
    draw=draw_correlation,
    lacking=_lacking,
    about_lines=True,
)
