"""A map of who fails on the same images: error consistency of every two models, and of people beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from oodometer.analysis.consistency import Consistencies
from oodometer.core.errors import StoreError
from oodometer.figures.kinds import Kind
from oodometer.figures.options import FigureOptions
from oodometer.figures.selection import at_most, predictions, that_fit
from oodometer.figures.style import INK, LETTERS, SMALL, TALLEST, new_figure, note, short, short_all, width_of
from oodometer.study import Study
from oodometer.study.evidence import consistencies
from oodometer.study.hard_conditions import cells_of_most

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST = 60
"""Rows of a page that can still be read."""
ROW, HEAD = 0.125, 0.75
"""Inches: the least height of a row; title, numbers of the columns and the key."""
ROOM_FOR_A_NUMBER, ROOM_FOR_A_TICK = 0.19, 0.16
"""Inches of a cell, and between numbers above the columns."""


def draw_consistency(study: Study, options: FigureOptions) -> Figure:
    """The map of one condition, those that fail alike beside each other."""
    condition = study.condition(options.shifts[0]) if options.shifts else study.conditions[0]
    cells = cells_of_most(study, condition) if condition.record else []
    if not cells:
        raise StoreError(f"{study.address}: no predictions on {condition.name}, only accuracies of a table")
    chosen = set(that_fit([cell.model_name for cell in cells], options.models))
    found = consistencies(study, [cell for cell in cells if cell.model_name in chosen], options.people)
    names = [rater.name for rater in found.raters]
    at_most(names, MOST)
    width = width_of(options.columns)
    letters = int(min(0.32 * width, 1.8) * LETTERS)
    order = _alike_together(found)
    side = min(width - 1.0, 4.2)
    figure = new_figure(
        options.columns, min(max(ROW * len(names), 0.75 * side * min(1.0, len(names) / 6)) + HEAD, TALLEST)
    )
    axes = figure.subplots()
    shown = found.matrix()[np.ix_(order, order)]
    np.fill_diagonal(shown, np.nan)
    image = axes.imshow(100 * shown, cmap="Blues", vmin=0, vmax=100, aspect="auto", interpolation="nearest")
    _name(axes, short_all([names[at] for at in order], letters), width - letters / LETTERS)
    if (width - letters / LETTERS) / len(names) >= ROOM_FOR_A_NUMBER:
        _write(axes, 100 * shown)
    axes.set_title(short(f"{found.condition}: error consistency κ (%)", int(width * LETTERS)))
    key = figure.colorbar(image, ax=axes, location="bottom", aspect=40, pad=0.02)
    key.outline.set_visible(False)
    for line in (*found.notes, *_means(found)):
        note(figure, line)
    return figure


def _alike_together(found: Consistencies) -> list[int]:
    """The raters in an order in which those that fail alike are neighbours: average linkage of 1 − κ."""
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    if len(found.raters) < 3:
        return list(range(len(found.raters)))
    apart = 1 - np.nan_to_num(found.matrix(), nan=0.0)
    np.fill_diagonal(apart, 0.0)
    return [int(at) for at in leaves_list(linkage(squareform(apart), "average"))]


def _name(axes: Axes, names: list[str], inches: float) -> None:
    """Names beside the rows with their numbers, and the numbers above the columns, as many as there is room for."""
    n = len(names)
    step = max(1, int(np.ceil(ROOM_FOR_A_TICK * n / inches)))
    axes.set_yticks(range(n), [f"{name}  {at}" for at, name in enumerate(names, start=1)], fontsize=SMALL)
    axes.set_xticks(range(0, n, step), [str(at + 1) for at in range(0, n, step)], fontsize=SMALL)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _write(axes: Axes, values: np.ndarray) -> None:
    """Each number in its cell."""
    for (row, column), value in np.ndenumerate(values):
        if not np.isnan(value):
            ink = "white" if value > 60 else INK
            axes.text(column, row, f"{value:.0f}".replace("-", "−"), ha="center", va="center", color=ink, fontsize=6)


def _means(found: Consistencies) -> list[str]:
    """The mean of each group of pairs, in words."""
    return [f"mean κ of pairs of {group}: {mean:.3f} on {mean.n} images" for group, mean in found.means.items()]


CONSISTENCY = Kind(
    about="who fails on the same images: a map of the error consistency of every two models, and --people",
    after="Geirhos 2020: its measure, of every two",
    needs="predictions of two models on one condition",
    draw=draw_consistency,
    lacking=predictions,
    needs_shift=False,
    alone=lambda study: [condition.name for condition in study.conditions],
)
