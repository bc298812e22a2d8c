"""Effective robustness of every model, by category: the lowest first, each with its interval."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from oodometer.analysis.robustness import ModelRobustness
from oodometer.core.errors import UsageError
from oodometer.figures.category_styles import area_of, looks_for
from oodometer.figures.kinds import Kind
from oodometer.figures.options import FigureOptions
from oodometer.figures.points_axes import ends_of
from oodometer.figures.selection import enough_for_a_line, line_of, shifts_of, that_fit
from oodometer.figures.style import SMALL, SOFT, TEXT, new_figure, short
from oodometer.report.palette import UNKNOWN
from oodometer.study import Study

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FEW = 30
"""Models that are all named."""

GAP = 0.8
"""Between categories, in rows."""

NAMED_ROW = 0.16
LABEL_INCHES = 0.14
MOST_INCHES = 5.0
"""Inches of a row with a name, of the name of a category, and of all rows without names."""


def draw_effective(study: Study, options: FigureOptions) -> Figure:
    """A row for each model, those of a category together; their names where there is room."""
    shift = shifts_of(study, options, most=1)[0]
    models = line_of(shift).models
    shown = set(that_fit([one.model for one in models], options.models))
    some = [one for one in models if one.model in shown and one.x[0].value >= options.above]
    if not some:
        raise UsageError(f"{shift.name}: no model has a clean accuracy of {options.above:g} or more")
    looks = looks_for(study, ((one.model, one.category) for one in some))
    groups = {
        name: sorted((one for one in some if looks.shown[one.category] == name), key=lambda one: one.rho.value)
        for name in looks.looks
    }
    named = len(some) <= FEW
    row = NAMED_ROW if named else min(0.04, MOST_INCHES / len(some))
    rows = _rows(groups, math.ceil(LABEL_INCHES / row))
    last = max(max(one) for one in rows.values())
    figure = new_figure(options.columns, 0.75 + row * (last + 2))
    axes = figure.subplots()
    axes.axvline(0, color=SOFT, linewidth=0.8, zorder=1)
    for name, group in groups.items():
        look, y = looks.looks[name], rows[name]
        low, high = np.array([ends_of(one.rho) for one in group]).T
        axes.hlines(y, low, high, color=look.colour, linewidth=0.7, alpha=0.6 if named else 0.45, zorder=3)
        axes.scatter(
            100 * np.array([one.rho.value for one in group]),
            y,
            s=area_of(look, 1 if named else 300),
            marker=look.marker,
            color=look.colour,
            edgecolors="white",
            linewidths=0.25,
            zorder=4,
            gid="models",
        )
    _write_rows(axes, groups, rows, named=named)
    axes.set_ylim(last + 1, -1)
    what = f"effective robustness ρ (points) on {short(shift.points.y, 40)}"
    figure.supxlabel(what if options.columns > 1 else what.replace(" on ", "\non "), fontsize=TEXT)
    axes.grid(visible=False, axis="y")
    axes.spines["left"].set_visible(False)
    return figure


def _rows(groups: Mapping[str, Sequence[ModelRobustness]], least: int) -> dict[str, list[float]]:
    """The places of the models of each category, from the top; a category takes ``least`` rows for its name."""
    at, found = 0.0, {}
    for name, group in groups.items():
        room = max(least - len(group), 0) / 2
        found[name] = [at + room + place for place in range(len(group))]
        at += max(len(group), least) + GAP
    return found


def _write_rows(
    axes: Axes, groups: Mapping[str, Sequence[ModelRobustness]], rows: Mapping[str, Sequence[float]], *, named: bool
) -> None:
    """Names of models, or of categories in the middle of their rows."""
    if named:
        labels = [
            (at, short(one.model, 30))
            for name, group in groups.items()
            for at, one in zip(rows[name], group, strict=True)
        ]
    else:
        labels = []
        for name, group in groups.items():
            words = short(name.replace("_", " ") or UNKNOWN, 22)
            labels.append(
                (
                    float(np.mean(rows[name])),
                    f"{words} ({len(group)})",
                )
            )
    axes.set_yticks([at for at, _ in labels], [words for _, words in labels], fontsize=SMALL)
    axes.tick_params(axis="y", length=0)


EFFECTIVE = Kind(
    about="effective robustness of every model with its interval, by category",
    after="Taori 2020: section 4.1, appendix H",
    needs="models on both sides of a shift, enough of them for a line",
    draw=draw_effective,
    lacking=enough_for_a_line,
    about_lines=True,
)
