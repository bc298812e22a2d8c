"""CE of a few models, corruption by corruption."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from oodometer.core.errors import StoreError
from oodometer.figures.category_styles import AREAS, mark
from oodometer.figures.corruption_errors import corruption_errors_of, lacking_corruptions
from oodometer.figures.curves import few_of, say_few
from oodometer.figures.kinds import Kind
from oodometer.figures.legends import legend_above
from oodometer.figures.options import FigureOptions
from oodometer.figures.points_axes import ends_of
from oodometer.figures.style import SMALL, new_figure
from oodometer.report.palette import LOOKS, OTHERS
from oodometer.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROW = 0.21
"""Inches of a corruption."""

MARK = 15.0
"""The area of a mark in square points."""


def draw_ce(study: Study, options: FigureOptions) -> Figure:
    """A row for each corruption, a mark in it for each model."""
    found = corruption_errors_of(study, options)
    if not found.each:
        raise StoreError(f"{found.family}: CE is an error divided by that of another model; name one with --normaliser")
    known = sorted(found.mean, key=lambda name: found.mean[name].value)
    models = few_of(known, options)
    looks = dict(zip(models, dict.fromkeys((*LOOKS.values(), *OTHERS)), strict=False))
    names = found.corruptions
    figure = new_figure(options.columns, ROW * len(names) + 0.5 + 0.17 * (1 + len(models) // 2))
    say_few(figure, models, known, options)
    axes = figure.subplots()
    for place, (model, look) in enumerate(looks.items()):
        rows = [at for at, name in enumerate(names) if (model, name) in found.each]
        values = [found.each[model, names[at]] for at in rows]
        # A little below each other, so that equal ones are all seen.
        y = np.array(rows) + 0.5 * ((place + 0.5) / len(models) - 0.5)
        low, high = np.array([ends_of(one) for one in values]).T
        axes.hlines(y, low, high, color=look.colour, linewidth=0.6, alpha=0.6, zorder=3)
        axes.scatter(
            100 * np.array([one.value for one in values]),
            y,
            s=MARK * AREAS.get(look.marker, 1.0),
            marker=look.marker,
            color=look.colour,
            edgecolors="white",
            linewidths=0.3,
            zorder=4,
            gid="models",
        )
    axes.set_yticks(range(len(names)), [name.replace("_", " ") for name in names], fontsize=SMALL)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("corruption error CE (%)")
    legend_above(figure, [mark(look) for look in looks.values()], models)
    return figure


CE = Kind(
    about="corruption error of a few models, corruption by corruption",
    after="Hendrycks 2019: 3",
    needs="corruptions at all five severities; ImageNet-C, or a --normaliser",
    draw=draw_ce,
    lacking=lacking_corruptions,
    needs_shift=False,
)
