"""Accuracy under a shift against clean accuracy: every model with its interval, y = x, the line with its band."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from oodometer.analysis.points import Point, named
from oodometer.analysis.robustness import Robustness
from oodometer.analysis.robustness_line import lines_of
from oodometer.core.condition import MEASURES
from oodometer.core.errors import UsageError
from oodometer.core.estimate import Estimate
from oodometer.figures.category_styles import MOST, Looks, draw_marks, looks_for
from oodometer.figures.hypothetical import draw_hypothetical, hypothetical_legend
from oodometer.figures.kinds import Kind
from oodometer.figures.legends import legend_above
from oodometer.figures.line_words import say_line
from oodometer.figures.options import FigureOptions
from oodometer.figures.people import draw_people, people_legend, people_under
from oodometer.figures.percent_axes import Span, on_scale, set_percent_axis, span_of
from oodometer.figures.scatter_names import write_models
from oodometer.figures.scatter_panel import Panel
from oodometer.figures.selection import enough_conditions, shifts_of, shown_points, that_fit
from oodometer.figures.style import LINE, SOFT, axis_text, new_figure, note, short, width_of
from oodometer.figures.top_models import Top, about_rivals, highest, top_legend
from oodometer.stats.scales import from_scale
from oodometer.study import Study, StudyShift

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

IDEAL_IN_VIEW = 0.2
"""Of the width: how much of y = x is to be seen, where all models are far below it."""


def draw_scatter(study: Study, options: FigureOptions) -> Figure:
    """One panel for each shift, with one legend."""
    shifts = shifts_of(study, options)
    across, _ = grid_of(len(shifts), options.columns)
    side = width_of(options.columns) / across
    if options.hypothetical and len(shifts) > 1:
        raise UsageError("a hypothetical model is under one shift; name one with --shift")
    return draw_panels(study, [_panel(study, shift, options, side, n=len(shifts)) for shift in shifts], options)


def _panel(study: Study, shift: StudyShift, options: FigureOptions, side: float, *, n: int) -> Panel:
    """What is shown of one of ``n`` shifts."""
    points = shown_points(shift, options)
    return Panel(
        shift,
        points,
        study.options.scale,
        short(shift.points.y, int(15 * side)) if n > 1 else "",
        side,
        people_under(study, shift),
        highest(shift, {point.model for point in points}, options.mark_top) if options.mark_top else Top(),
        options.hypothetical,
    )


def draw_panels(study: Study, panels: Sequence[Panel], options: FigureOptions) -> Figure:
    """The panels beside and above each other, with one legend."""
    across, down = grid_of(len(panels), options.columns)
    figure = new_figure(options.columns, down * min(0.9 * panels[0].side, 4.2) + 0.5)
    cells = figure.subplots(down, across, squeeze=False).ravel()
    looks = looks_for(study, ((point.model, point.origin.category) for panel in panels for point in panel.points))
    for axes, panel in zip(cells, panels, strict=False):
        draw_panel(axes, panel, looks)
    for axes in cells[len(panels) :]:
        axes.remove()
    legend_above(figure, *entries(panels, looks))
    that_fit([point.model for panel in panels for point in panel.points], options.label, "--label")
    for axes, panel in zip(cells, panels, strict=False):
        write_models(axes, panel, options.label)
    return figure


def grid_of(n: int, columns: int) -> tuple[int, int]:
    """How many panels go beside each other and above each other.

    >>> grid_of(1, 2), grid_of(4, 2), grid_of(3, 2), grid_of(2, 1)
    ((1, 1), (2, 2), (3, 1), (1, 2))
    """
    most = 1 if columns == 1 else 2 if n in (1, 2, 4) else 3
    across = min(most, n)
    return across, -(-n // across)


def draw_panel(axes: Axes, panel: Panel, looks: Looks) -> None:
    """One shift: its models, its line and y = x."""
    shift = panel.shift
    if len(shift.points.x) > 1:
        raise UsageError(f"{shift.name}: a plane over several clean sets can't be drawn; name one")
    x, y = _spans(panel)
    ends = np.array([max(x.low, y.low), min(x.high, y.high)])
    if ends[0] < ends[1]:
        axes.plot(ends, ends, color=SOFT, linestyle=(0, (4, 3)), linewidth=0.8, zorder=1, gid="ideal")
    if shift.robustness is not None:
        draw_line(axes, shift.robustness)
    draw_people(axes, panel.people, "y", y)
    counts = Counter(point.origin.category for point in panel.points)
    for category, _ in counts.most_common():  # the rare ones on top
        some = [point for point in panel.points if point.origin.category == category]
        _draw_points(axes, some, looks, (x, y), n=len(panel.points))
    if panel.hypothetical:
        draw_hypothetical(axes, panel.hypothetical, shift.robustness)
    apart = max(0.26 / panel.side, 0.07)
    set_percent_axis(axes, "x", x, apart=apart)
    set_percent_axis(axes, "y", y, apart=apart)
    said = f"{MEASURES[shift.points.measure]} (%)"
    axes.set_xlabel(axis_text(shift.points.x[0], said, panel.side))
    axes.set_ylabel(said if panel.title else axis_text(shift.points.y, said, 0.7 * panel.side))
    if panel.title:
        axes.set_title(panel.title)
    _note(axes, panel)
    say_line(axes, panel, (x, y))


def _note(axes: Axes, panel: Panel) -> None:
    """Say which models have no place on the scale, and what the frames can't tell."""
    figure = axes.get_figure(root=True)
    if said := about_rivals(panel.shift.points.y, panel.top):
        note(figure, said)
    out = [one.model for one in panel.points if {one.x[0].value, one.y.value} & {0.0, 1.0}]
    if out and panel.scale != "linear":
        note(figure, f"at 0 or 100 %, and so drawn at the edge of {panel.shift.points.y}: {named(out)}")


def _spans(panel: Panel) -> tuple[Span, Span]:
    """The parts of both axes that show all models with their intervals, and something of y = x."""
    models, scale = panel.points, panel.scale
    also = [[100 * share] for share in panel.hypothetical] if panel.hypothetical else [[], []]
    x = span_of([*_ends([point.x[0] for point in models]), *also[0]], scale)
    y = span_of([*_ends([*(point.y for point in models), *panel.people.values()]), *also[1]], scale)
    ends = on_scale(np.array([x.low, x.high]), scale)
    wanted = 100 * from_scale(ends[0] + IDEAL_IN_VIEW * (ends[1] - ends[0]), scale)
    return x, Span(y.low, max(y.high, float(wanted)), scale)


def _ends(estimates: Sequence[Estimate]) -> np.ndarray:
    """Values and ends of intervals, percent."""
    return 100 * np.array([end for one in estimates for end in (one.value, one.low, one.high) if end is not None])


def draw_line(axes: Axes, found: Robustness) -> None:
    """The line, or the two of them, over the models that they judge, and the band where each may lie."""
    for part, line in lines_of(found.fitted, found.band):
        x, low, high = 100 * part.T
        axes.fill_between(x, low, high, color=LINE, alpha=0.18, linewidth=0, zorder=2, gid="band")
        axes.plot(x, 100 * line, color=LINE, linewidth=1.1, zorder=2.5, gid="line")


def _draw_points(axes: Axes, points: Sequence[Point], looks: Looks, spans: tuple[Span, Span], *, n: int) -> None:
    """The models of a category, each with the intervals of both accuracies; ``n`` of all categories."""
    look = looks.of(points[0].origin.category)
    sides = [point.x[0] for point in points], [point.y for point in points]
    x, y = (span.clip(100 * np.array([one.value for one in side])) for side, span in zip(sides, spans, strict=True))
    reach = [_reach(side, span) for side, span in zip(sides, spans, strict=True)]
    few = n <= MOST
    axes.errorbar(
        x, y, xerr=reach[0], yerr=reach[1], fmt="none", ecolor=look.colour, elinewidth=0.6 if few else 0.4,
        alpha=0.55 if few else 0.3, zorder=3,
    )  # fmt: skip
    draw_marks(axes, x, y, look, n=n)


def _reach(estimates: Sequence[Estimate], span: Span) -> np.ndarray:
    """How far each interval reaches below and above what is drawn, (2, n) in percent; nowhere where there is none."""
    value = span.clip(100 * np.array([one.value for one in estimates]))
    low = span.clip(100 * np.array([one.value if one.low is None else one.low for one in estimates]))
    high = span.clip(100 * np.array([one.value if one.high is None else one.high for one in estimates]))
    return np.asarray(np.maximum(np.stack([value - low, high - value]), 0))


def entries(panels: Sequence[Panel], looks: Looks) -> tuple[list[Any], list[str]]:
    """The legend: categories with their numbers of models, y = x, the line, and what else is drawn."""
    from matplotlib.lines import Line2D

    handles, labels = looks.legend()
    handles.append(Line2D([], [], color=SOFT, linestyle=(0, (4, 3)), linewidth=0.8))
    labels.append("y = x")
    lines = [panel.shift.robustness for panel in panels if panel.shift.robustness is not None]
    if lines:
        handles.append(Line2D([], [], color=LINE, linewidth=1.1))
        labels.append("linear fit" if len({one.fitted.scale for one in lines}) > 1 else f"{lines[0].fitted.scale} fit")
    more = [people_legend([panel.people for panel in panels]), top_legend([panel.top for panel in panels])]
    more += [hypothetical_legend()] if any(panel.hypothetical for panel in panels) else []
    for some in more:
        handles += some[0]
        labels += some[1]
    return handles, labels


SCATTER = Kind(
    about="accuracy under a shift against clean accuracy, with intervals, y = x and the line; a panel for each shift",
    after="Taori 2020: 1 to 4, 5 left; Recht 2019: 1, 2; Hendrycks 2021 (many faces): 4",
    needs="models on both sides of a shift",
    draw=draw_scatter,
    lacking=enough_conditions,
    about_lines=True,
)
