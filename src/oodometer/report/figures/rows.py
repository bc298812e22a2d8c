"""Numbers of models as bars, a row for each model: one panel for each number, names once on the left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from oodometer.core.estimate import Estimate
from oodometer.report.figures.looks import Looks, looks_for
from oodometer.report.figures.options import FigureOptions
from oodometer.report.figures.style import INK, SMALL, SOFT, TALLEST, new_figure, short, width_of
from oodometer.report.study import Study

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROW = 0.17
"""Inches of a row: a name of 7 points with some air."""

MOST_ROWS = int((TALLEST - 1.0) / ROW)
"""What fits on a page."""


@dataclass(frozen=True)
class Bars:
    """One number of every model.

    Args:
        title: What it is, with its unit.
        values: By model, shares; a model without one has no bar.
        guide: A share that a dashed line marks, and in ``guide_name`` what it is.
    """

    title: str
    values: Mapping[str, Estimate]
    guide: float | None = None
    guide_name: str = ""


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
    legend = len(looks.looks) > 1
    figure = new_figure(options.columns, ROW * len(rows) + 0.65 + (0.25 if legend else 0))
    cells = figure.subplots(1, len(panels), sharey=True, squeeze=False).ravel()
    for axes, panel in zip(cells, panels, strict=True):
        _draw_bars(axes, rows, panel, looks)
    longest = int(13 * (0.45 * width_of(options.columns)))
    names = [("    " if row.indent else "") + short(row.model, longest) for row in rows]
    cells[0].set_yticks(range(len(rows)), names, fontsize=SMALL)
    cells[0].set_ylim(len(rows) - 0.4, -0.6)
    if legend:
        from oodometer.report.figures.legends import legend_above

        legend_above(figure, *looks.legend())
    return figure


def _draw_bars(axes: Axes, rows: Sequence[Row], panel: Bars, looks: Looks) -> None:
    for place, row in enumerate(rows):
        one = panel.values.get(row.model)
        if one is None:
            axes.text(0, place, " not measured", fontsize=SMALL - 1, color=SOFT, va="center", style="italic")
            continue
        axes.barh(
            place, 100 * one.value, height=0.68, color=looks.of(row.category).colour, alpha=0.8, zorder=2, gid="bar"
        )
        if one.low is not None and one.high is not None:
            axes.hlines(place, 100 * one.low, 100 * one.high, color=INK, linewidth=0.9, zorder=3)
    ends = [100 * end for one in panel.values.values() for end in (one.value, one.high) if end is not None]
    high = max([*ends, 100 * (panel.guide or 0)])
    low = min([0.0, *(100 * one.low for one in panel.values.values() if one.low is not None)])
    axes.set_xlim(low * 1.05, high * 1.24 or 1.0)  # with room for the numbers
    for place, row in enumerate(rows):
        if (one := panel.values.get(row.model)) is not None:
            end = 100 * max(one.value, one.high if one.high is not None else one.value)
            axes.annotate(
                f"{100 * one.value:.1f}",
                (end, place),
                xytext=(2, 0),
                textcoords="offset points",
                va="center",
                fontsize=SMALL - 1,
                gid="number",
            )
    if panel.guide is not None:
        axes.axvline(100 * panel.guide, color=INK, linestyle=(0, (3, 2)), linewidth=0.8, zorder=4, gid="guide")
    axes.set_title(panel.title)
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
