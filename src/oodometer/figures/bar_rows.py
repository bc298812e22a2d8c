"""Numbers of models as bars, a row for each model: one panel for each number, names once on the left."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from oodometer.core.estimate import Estimate
from oodometer.figures.category_styles import AREAS, Looks, looks_for
from oodometer.figures.label_placement import VEIL
from oodometer.figures.legends import legend_above
from oodometer.figures.options import FigureOptions
from oodometer.figures.people import People, draw_people, people_legend
from oodometer.figures.style import INK, LETTERS, SMALL, SOFT, TALLEST, new_figure, short_all, width_of
from oodometer.study import Study

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROW = 0.17
"""Inches of a row: a name of 7 points with some air."""

ROOM = 1.24
"""Longest bar to the end of the axis: room for the number beside it."""

LETTERS_SMALL = 17.0
"""Letters of a name in an inch."""

MOST_ROWS = int((TALLEST - 1.0) / ROW)
"""What fits on a page."""


@dataclass(frozen=True)
class Bars:
    """One number of every model.

    Args:
        title: What it is, with its unit.
        values: By model, shares; a model without one has no bar.
        guide: A share that a dashed line marks.
        people: What people reach.
    """

    title: str
    values: Mapping[str, Estimate]
    guide: float | None = None
    people: People = field(default_factory=dict)


@dataclass(frozen=True)
class Row:
    """A model in its row; ``indent`` where it stands under its parent."""

    model: str
    category: str
    indent: bool = False


def rows_of(study: Study, models: Sequence[str], order: Mapping[str, Estimate]) -> list[Row]:
    """The models with the highest number first, and each under its parent where that is among them."""
    origins = {model.name: model.origin for model in study.models}
    ranked = sorted(models, key=lambda name: -order[name].value if name in order else np.inf)
    known = set(models)
    roots = [name for name in ranked if origins[name].parent not in known or origins[name].parent == name]
    rows: list[Row] = []

    def add(name: str, *, indent: bool) -> None:
        if any(row.model == name for row in rows):
            return
        rows.append(Row(name, origins[name].category, indent))
        for child in ranked:
            if origins[child].parent == name and child != name:
                add(child, indent=True)

    for name in roots:
        add(name, indent=False)
    for name in ranked:  # parents of each other have no root
        add(name, indent=False)
    return rows


def draw_rows(study: Study, rows: Sequence[Row], panels: Sequence[Bars], options: FigureOptions) -> Figure:
    """A panel of bars for each number."""
    looks = looks_for(study, ((row.model, row.category) for row in rows))
    several = len(looks.looks) > 1
    handles, labels = people_legend([panel.people for panel in panels])
    longest = int(LETTERS_SMALL * 0.5 * width_of(options.columns))
    names = short_all([row.model for row in rows], longest)
    names = [("↳ " if row.indent else "") + name for row, name in zip(rows, names, strict=True)]
    inches = (width_of(options.columns) - max(map(len, names)) / LETTERS_SMALL - 0.2) / len(panels)
    titles = [textwrap.fill(panel.title, max(int(inches * LETTERS), 8), break_on_hyphens=False) for panel in panels]
    lines = 1 + max(title.count("\n") for title in titles)
    figure = new_figure(options.columns, ROW * len(rows) + 0.45 + 0.16 * lines + (0.25 if several or labels else 0))
    cells = figure.subplots(1, len(panels), sharey=True, squeeze=False).ravel()
    for axes, panel, title in zip(cells, panels, titles, strict=True):
        _draw_bars(axes, rows, panel, looks)
        axes.set_title(title)
        ticks = _ticks(axes.get_xlim(), inches)
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    cells[0].set_yticks(range(len(rows)), names, fontsize=SMALL)
    cells[0].set_ylim(len(rows) - 0.4, -0.6)
    if several:
        _mark_rows(cells[0], rows, looks)
        handles, labels = [*looks.legend()[0], *handles], [*looks.legend()[1], *labels]
    legend_above(figure, handles, labels)
    return figure


def _ticks(limits: tuple[float, float], inches: float) -> list[float]:
    """Round numbers that fit; a share ends at 100."""
    from matplotlib.ticker import MaxNLocator

    ticks = MaxNLocator(max(int(3 * inches), 2), steps=[1, 2, 2.5, 5, 10]).tick_values(*limits)
    inside = [float(tick) + 0.0 for tick in ticks if limits[0] <= tick <= limits[1]]
    # Of a ratio, as mCE is, there may be bars beyond 100; else the room for numbers is no part of the scale.
    return [tick for tick in inside if tick <= 100 or limits[1] > 100 * ROOM]


def _draw_bars(axes: Axes, rows: Sequence[Row], panel: Bars, looks: Looks) -> None:
    from matplotlib.colors import to_rgb

    dashed = panel.guide is not None or panel.people
    for place, row in enumerate(rows):
        one = panel.values.get(row.model)
        if one is None:
            axes.text(0, place, " not measured", fontsize=SMALL - 1, color=SOFT, va="center", style="italic")
            continue
        pale = 0.75 * np.array(to_rgb(looks.of(row.category).colour)) + 0.25
        axes.barh(place, 100 * one.value, height=0.68, color=tuple(pale), zorder=2, gid="bar")
        if one.low is not None and one.high is not None:
            axes.hlines(place, 100 * one.low, 100 * one.high, color=INK, linewidth=0.9, zorder=3, gid="interval")
        end = 100 * max(one.value, one.value if one.high is None else one.high)
        axes.annotate(
            f"{100 * one.value:.1f}",
            (end, place),
            xytext=(2, 0),
            textcoords="offset points",
            va="center",
            fontsize=SMALL - 1,
            bbox=VEIL if dashed else None,
            zorder=5,
            gid="number",
        )
    shown = [panel.values[row.model] for row in rows if row.model in panel.values]
    ends = _ends(shown)
    beyond = max([1.02 * end for end in _ends(list(panel.people.values()))], default=0.0)
    lows = [100 * one.low for one in shown if one.low is not None]
    axes.set_xlim(1.05 * min([0.0, *lows]), max(ROOM * max([*ends, 100 * (panel.guide or 0)]), beyond) or 1.0)
    if panel.guide is not None:
        axes.axvline(100 * panel.guide, color=INK, linestyle=(0, (3, 2)), linewidth=0.8, zorder=4, gid="guide")
    draw_people(axes, panel.people, "x")
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)


def _ends(estimates: Sequence[Estimate]) -> list[float]:
    """Values and upper ends of intervals, percent."""
    return [100 * end for one in estimates for end in (one.value, one.high) if end is not None]


def _mark_rows(axes: Axes, rows: Sequence[Row], looks: Looks) -> None:
    """The mark of each model's category between its name and its bar, since colour alone says nothing in grey."""
    from matplotlib.transforms import ScaledTranslation

    axes.tick_params(axis="y", pad=11)
    aside = axes.get_yaxis_transform() + ScaledTranslation(-6 / 72, 0, axes.figure.dpi_scale_trans)
    for place, row in enumerate(rows):
        look = looks.of(row.category)
        axes.plot(
            0,
            place,
            marker=look.marker,
            color=look.colour,
            markersize=3.6 * AREAS.get(look.marker, 1.0) ** 0.5,
            markeredgewidth=0,
            transform=aside,
            clip_on=False,
            gid="category",
        )
