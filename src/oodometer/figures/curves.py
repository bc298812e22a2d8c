"""Curves of a few models: response rates, reliability, severities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from oodometer.core.estimate import Estimate
from oodometer.figures.legends import legend_above
from oodometer.figures.options import FigureOptions
from oodometer.figures.points_axes import ends_of
from oodometer.figures.selection import that_fit
from oodometer.figures.style import new_figure, note, width_of
from oodometer.report.palette import LOOKS, OTHERS, Look

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_CURVES = 6
"""More can't be told apart."""

DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1.2, 1.2)), (0, (6, 1.5, 1.2, 1.5)), (0, (3, 1)), "-")

Curve = Sequence[tuple[float, Estimate]]
"""Places and the numbers there."""


@dataclass(frozen=True)
class CurvePanel:
    """The curves of some models.

    Args:
        curves: By model.
        x, y: What the axes are.
        x_percent: Whether the places are shares.
        diagonal: Whether y = x is drawn.
        bars: Whether each place has its interval as a bar, rather than all of them a band.
    """

    title: str
    curves: Mapping[str, Curve]
    x: str
    y: str
    x_percent: bool = True
    diagonal: bool = False
    bars: bool = False


def few_of(models: Sequence[str], options: FigureOptions, most: int = MOST_CURVES) -> list[str]:
    """The models that are asked for; of many a few, evenly from the first to the last."""
    chosen = that_fit(models, options.models)
    if len(chosen) <= most:
        return chosen
    return [chosen[round(place)] for place in np.linspace(0, len(chosen) - 1, most)]


def say_few(figure: Figure, shown: Sequence[str], known: Sequence[str], options: FigureOptions) -> None:
    """Note that there are more models than the figure shows."""
    n = len(that_fit(known, options.models))
    if len(shown) < n:
        note(figure, f"{len(shown)} of {n} models are drawn, evenly from the best to the worst; choose with --models")


def draw_curves(panels: Sequence[CurvePanel], options: FigureOptions) -> Figure:
    """The panels beside each other, with the models' names above."""
    from matplotlib.lines import Line2D

    names = list(dict.fromkeys(name for panel in panels for name in panel.curves))
    looks = dict(zip(names, dict.fromkeys((*LOOKS.values(), *OTHERS)), strict=False))
    side = width_of(options.columns) / len(panels)
    figure = new_figure(options.columns, min(0.85 * side, 3.4) + 0.17 * (1 + len(names) // 2))
    cells = figure.subplots(1, len(panels), sharey=True, squeeze=False).ravel()
    for axes, panel in zip(cells, panels, strict=True):
        for place, name in enumerate(names):
            if name in panel.curves:
                _draw_curve(axes, panel, name, looks[name], DASHES[place])
        _set_axes(axes, panel)
    low, high = cells[0].get_ylim()  # of all panels together
    cells[0].set_ylim(max(low, 0), min(high, 101))
    cells[0].set_ylabel(panels[0].y)
    handles = [
        Line2D([], [], color=look.colour, linestyle=DASHES[place], linewidth=1.2, marker=look.marker, markersize=3.2)
        for place, look in enumerate(looks.values())
    ]
    legend_above(figure, handles, names)
    return figure


def _draw_curve(axes: Axes, panel: CurvePanel, name: str, look: Look, dashes: Any) -> None:
    curve = panel.curves[name]
    x = np.array([at for at, _ in curve]) * (100 if panel.x_percent else 1)
    y = 100 * np.array([one.value for _, one in curve])
    low, high = np.array([ends_of(one) for _, one in curve]).T
    if panel.bars:
        axes.vlines(x, low, high, color=look.colour, linewidth=0.6, alpha=0.6, zorder=2, gid="interval")
    else:
        axes.fill_between(x, low, high, color=look.colour, alpha=0.13, linewidth=0, zorder=2, gid="band")
    axes.plot(
        x,
        y,
        color=look.colour,
        linestyle=dashes,
        linewidth=1.2,
        marker=look.marker,
        markersize=3.4,
        markeredgewidth=0,
        markevery=1 if panel.bars else max(len(x) // 5, 1),
        zorder=3,
        gid="curve",
    )


def _set_axes(axes: Axes, panel: CurvePanel) -> None:
    if panel.diagonal:
        axes.plot([0, 100], [0, 100], color="#6b6b6b", linestyle=(0, (4, 3)), linewidth=0.8, zorder=1, gid="ideal")
    if panel.x_percent:
        axes.set_xlim(0, 100)
        axes.set_xticks(range(0, 101, 20))
    else:
        axes.set_xticks(sorted({at for curve in panel.curves.values() for at, _ in curve}))
    axes.set_xlabel(panel.x)
    axes.set_title(panel.title)
