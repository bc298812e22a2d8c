"""Error, accuracy or AUPR against the number of parameters, models of one make joined by a line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from oodometer.analysis.points import named
from oodometer.core.condition import MEASURES, Measure
from oodometer.core.errors import StoreError, UsageError
from oodometer.core.estimate import Estimate
from oodometer.figures.aupr import auprs
from oodometer.figures.category_styles import MOST, Looks, draw_marks, looks_for, ring
from oodometer.figures.kinds import Kind
from oodometer.figures.label_placement import Obstacles, write_names
from oodometer.figures.legends import legend_above
from oodometer.figures.options import FigureOptions
from oodometer.figures.percent_axes import Span, set_percent_axis, span_of
from oodometer.figures.scatter import grid_of
from oodometer.figures.selection import that_fit, to_name
from oodometer.figures.size_axis import set_size_axis
from oodometer.figures.size_groups import Group, draw_groups, group_legend, groups_of
from oodometer.figures.style import INK, axis_text, new_figure, note, width_of
from oodometer.report.tables.corruptions import error_of
from oodometer.study import CLEAN_NAMES, Study
from oodometer.study.kinds import is_by_top1

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CHANCE = (0, (3, 2))
FEW = 12
"""Models that are all named where nobody says which."""

NOBODY_SAYS = "nobody says their number of parameters: a card does, or a column 'parameters' of --categories CSV"


@dataclass(frozen=True)
class Panel:
    """One number of every model, shares; ``guide`` is what chance reaches."""

    name: str
    said: str
    values: Mapping[str, Estimate]
    guide: float | None = None


@dataclass(frozen=True)
class Shown:
    """What all panels have in common.

    Args:
        sizes: The number of parameters of each model that is shown.
        categories: And what it is.
        groups: The models that lines join.
        side: Inches of a panel's width.
    """

    sizes: Mapping[str, float]
    categories: Mapping[str, str]
    looks: Looks
    groups: Sequence[Group]
    side: float

    def of(self, panel: Panel) -> dict[str, Estimate]:
        """The models of a panel that are shown."""
        return {name: panel.values[name] for name in self.sizes if name in panel.values}


def draw_size(study: Study, options: FigureOptions) -> Figure:
    """A panel for each condition, and one for images of no class where they are named."""
    panels = [_of_shift(study, name, options) for name in _names(study, options)]
    panels += [_of_outside(study, options.ood, options)] if options.ood else []
    across, down = grid_of(len(panels), options.columns)
    side = width_of(options.columns) / across
    shown = _shown(study, panels, options, side)
    figure = new_figure(options.columns, down * min(0.8 * side, 3.4) + 0.5)
    cells = figure.subplots(down, across, squeeze=False).ravel()
    for axes in cells[len(panels) :]:
        axes.remove()
    for axes, panel in zip(cells, panels, strict=False):
        _draw_panel(axes, panel, shown)
    legend_above(figure, *_entries(shown, panels))
    that_fit(list(shown.sizes), options.label, "--label")
    for axes, panel in zip(cells, panels, strict=False):
        _write(axes, panel, shown, options.label)
    unknown = [model.name for model in study.models if not model.origin.parameters and _is_in(panels, model.name)]
    if unknown := to_name(unknown, options.models, len(unknown)):
        note(figure, f"left out: {named(unknown)}; {NOBODY_SAYS}")
    return figure


def _shown(study: Study, panels: Sequence[Panel], options: FigureOptions, side: float) -> Shown:
    """The models of the panels whose size is known, of those that are asked for."""
    here = [model for model in study.models if _is_in(panels, model.name)]
    known = {model.name: model.origin.parameters for model in here if model.origin.parameters}
    if not known:
        raise StoreError(f"{study.address}: no model can be shown by size: {NOBODY_SAYS}")
    sizes = {name: known[name] for name in that_fit(list(known), options.models)}
    categories = {model.name: model.origin.category for model in here if model.name in sizes}
    looks = looks_for(study, categories.items())
    groups = groups_of(study, sizes, options)
    return Shown({name: float(size) for name, size in sizes.items()}, categories, looks, groups, side)


def _is_in(panels: Sequence[Panel], model: str) -> bool:
    return any(model in panel.values for panel in panels)


def _names(study: Study, options: FigureOptions) -> Sequence[str]:
    """What is asked about, or the only condition that there may be meant."""
    if options.shifts or options.ood:
        return options.shifts
    shifted = [condition.name for condition in study.conditions if condition.name not in CLEAN_NAMES] or [
        study.conditions[0].name
    ]
    if len(shifted) != 1:
        raise UsageError("say what is shown against size, with --shift NAME or --ood CONDITION")
    return shifted


def conditions_alone(study: Study) -> set[str]:
    """The conditions that are shown by their own accuracies; what is judged by mAP is not, nor the mean of a family."""
    return {condition.name for condition in study.conditions if is_by_top1(condition.condition)}


def _of_shift(study: Study, name: str, options: FigureOptions) -> Panel:
    """The accuracies, or errors, on a condition or under a shift."""
    accuracies, measure = _accuracies(study, name)
    if measure != "top-1" or options.measure == "accuracy":
        return Panel(name, f"{MEASURES[measure]} (%)", accuracies)
    return Panel(name, "error (%)", {model: error_of(accuracy) for model, accuracy in accuracies.items()})


def _accuracies(study: Study, name: str) -> tuple[Mapping[str, Estimate], Measure]:
    if name in conditions_alone(study):
        return study.condition(name).accuracies, "top-1"
    points = study.shift(name).points
    return {point.model: point.y for point in points.models}, points.measure


def _of_outside(study: Study, name: str, options: FigureOptions) -> Panel:
    """AUPR on images of no class."""
    values, chance, why = auprs(study, name, options)
    if not values:
        raise StoreError(f"{study.address}: no AUPR on {name}: {why or 'no model was run on it'}")
    return Panel(name, "AUPR (%)", values, chance)


def _draw_panel(axes: Axes, panel: Panel, shown: Shown) -> None:
    """The models with their intervals, and the lines that join them."""
    here = shown.of(panel)
    for category in dict.fromkeys(shown.categories[name] for name in here):
        _draw_models(axes, [name for name in here if shown.categories[name] == category], here, shown)
    draw_groups(axes, shown.groups, shown.sizes, {name: 100 * estimate.value for name, estimate in here.items()})
    ends = [end for estimate in here.values() for end in (*_ends(estimate), 100 * estimate.value)]
    if panel.guide is not None:
        axes.axhline(100 * panel.guide, color=INK, linestyle=CHANCE, linewidth=0.8, zorder=1, gid="guide")
        ends.append(100 * panel.guide)
    set_size_axis(axes, list(shown.sizes.values()), shown.side)
    span = span_of(ends, "linear")
    set_percent_axis(axes, "y", Span(max(span.low, 0.0), min(span.high, 102.0), "linear"), apart=0.12)
    axes.set_xlabel("parameters")
    axes.set_ylabel(axis_text(panel.name, panel.said, 0.7 * shown.side))


def _draw_models(axes: Axes, some: Sequence[str], here: Mapping[str, Estimate], shown: Shown) -> None:
    """The models of a category among all that are here."""
    look = shown.looks.of(shown.categories[some[0]])
    x, y = np.array([shown.sizes[name] for name in some]), 100 * np.array([here[name].value for name in some])
    low, high = np.array([_ends(here[name]) for name in some]).T
    axes.vlines(x, low, high, color=look.colour, linewidth=0.6, alpha=0.55 if len(here) <= MOST else 0.3, zorder=3)
    draw_marks(axes, x, y, look, n=len(here))


def _ends(estimate: Estimate) -> tuple[float, float]:
    """Of its interval in percent; the value itself where there is none."""
    low, high = (estimate.value if end is None else end for end in (estimate.low, estimate.high))
    return 100 * low, 100 * high


def _entries(shown: Shown, panels: Sequence[Panel]) -> tuple[list[Any], list[str]]:
    """The legend: categories, what lines join, and chance."""
    from matplotlib.lines import Line2D

    handles, labels = shown.looks.legend()
    lines, names = group_legend(shown.groups)
    if any(panel.guide is not None for panel in panels):
        lines.append(Line2D([], [], color=INK, linestyle=CHANCE, linewidth=0.8))
        names.append("chance")
    return [*handles, *lines], [*labels, *names]


def _write(axes: Axes, panel: Panel, shown: Shown, label: Sequence[str]) -> None:
    """Names beside marks: those that are asked for, or all where they are few."""
    here = shown.of(panel)
    chosen = to_name(list(here), label, FEW)
    if not chosen:
        return
    places = {name: (shown.sizes[name], 100 * estimate.value) for name, estimate in here.items()}
    bars = np.array([[x, x, *_ends(here[name])] for name, (x, _) in places.items()])
    lines = [np.array([places[name] for name in group.models if name in places]) for group in shown.groups]
    joined = tuple(line for line in lines if len(line) > 1)
    obstacles = Obstacles(np.array(list(places.values())), bars if len(here) <= MOST else None, joined)
    written = write_names(axes, chosen, np.array([places[name] for name in chosen]), obstacles)
    if len(chosen) < len(places):
        ring(axes, [name.xy for name in written], n=len(places))


def lacking_sizes(study: Study) -> str:
    """Why no model can be shown by size: empty where one can."""
    known = any(model.origin.parameters for model in study.models)
    return "" if known else "the number of parameters of models, from their cards or a column of --categories"


SIZE = Kind(
    about="error, accuracy or AUPR against the number of parameters, with intervals; --join draws lines",
    after="Hendrycks 2021 (many faces): 6a; Hendrycks 2021 (natural adversarial): 10, 11",
    needs="models whose number of parameters is known",
    draw=draw_size,
    lacking=lacking_sizes,
    needs_shift=False,
    alone=conditions_alone,
)
