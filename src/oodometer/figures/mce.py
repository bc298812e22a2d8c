"""mCE and relative mCE against clean accuracy: whether what is more accurate is also more robust to corruptions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from oodometer.core.errors import StoreError
from oodometer.core.estimate import Estimate
from oodometer.figures.category_styles import MOST, area_of, mark
from oodometer.figures.corruption_errors import corruption_errors_of, lacking_corruptions, say_what_it_is
from oodometer.figures.kinds import Kind
from oodometer.figures.label_placement import Obstacles, write_names
from oodometer.figures.legends import legend_above
from oodometer.figures.options import FigureOptions
from oodometer.figures.points_axes import FEW, ends_of
from oodometer.figures.selection import that_fit
from oodometer.figures.style import SOFT, new_figure, short, width_of
from oodometer.report.palette import LOOKS, Look
from oodometer.study import Study

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SERIES = (LOOKS["standard"], LOOKS["robust intervention"])
"""Of mCE, and of relative mCE."""


def draw_mce(study: Study, options: FigureOptions) -> Figure:
    """A mark for the mCE of each model, and one for its relative mCE where that is defined."""
    from matplotlib.ticker import MaxNLocator

    found = corruption_errors_of(study, options)
    models = [name for name in found.mean if name in found.clean]
    if not models:
        raise StoreError(f"{found.family}: no clean accuracy of the models; run --on clean")
    side = width_of(options.columns)
    figure = new_figure(options.columns, min(0.9 * side, 4.2) + 0.3)
    axes = figure.subplots()
    names = ("mCE" if found.normalised else "mean corruption error", "relative mCE")
    series = [(name, some, look) for name, some, look in zip(names, (found.mean, found.relative), SERIES, strict=True)]
    for _, some, look in series:
        _draw(axes, {name: some[name] for name in models if name in some}, found.clean, look, n=len(models))
    axes.set_xlabel("clean accuracy (%)")
    axes.set_ylabel(f"{short(found.family, 22)} {'mCE' if found.normalised else 'error'} (%)")
    axes.margins(0.07)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(7, steps=[1, 2, 5, 10], integer=True))
    shown = [(name, look) for name, some, look in series if some]
    legend_above(figure, [mark(look) for _, look in shown], [name for name, _ in shown])
    _write(axes, models, found.mean, found.relative, found.clean, options)
    say_what_it_is(figure, found)
    return figure


def _draw(axes: Axes, values: Mapping[str, Estimate], clean: Mapping[str, Estimate], look: Look, *, n: int) -> None:
    if not values:
        return
    x = 100 * np.array([clean[name].value for name in values])
    y = 100 * np.array([one.value for one in values.values()])
    low, high = np.array([ends_of(one) for one in values.values()]).T
    axes.vlines(x, low, high, color=look.colour, linewidth=0.6 if n <= MOST else 0.4, alpha=0.55, zorder=3)
    axes.scatter(
        x,
        y,
        s=area_of(look, n),
        marker=look.marker,
        color=look.colour,
        edgecolors="white",
        linewidths=0.35,
        zorder=4,
        gid="models",
    )


def _write(
    axes: Axes,
    models: list[str],
    mean: Mapping[str, Estimate],
    relative: Mapping[str, Estimate],
    clean: Mapping[str, Estimate],
    options: FigureOptions,
) -> None:
    """Names beside the mCE of models, and a thin line from it to the relative one."""
    if not options.label and len(models) > FEW:
        return
    chosen = that_fit(models, options.label, "--label")
    x = {name: 100 * clean[name].value for name in models}
    every = [(x[name], some[name]) for some in (mean, relative) for name in models if name in some]
    for name in chosen:
        if name in relative:
            ends = sorted((100 * mean[name].value, 100 * relative[name].value))
            axes.vlines(x[name], *ends, color=SOFT, linewidth=0.4, linestyle=":", zorder=2)
    at = np.array([(x[name], 100 * mean[name].value) for name in chosen])
    marks = np.array([(place, 100 * one.value) for place, one in every])
    bars = np.array([(place, place, *ends_of(one)) for place, one in every])
    write_names(axes, chosen, at, Obstacles(marks, bars if len(models) <= MOST else None))


MCE = Kind(
    about="mCE and relative mCE against clean accuracy; the mean corruption error, where there is no normaliser",
    after="Hendrycks 2019: 2",
    needs="corruptions at all five severities; ImageNet-C, or a --normaliser",
    draw=draw_mce,
    lacking=lacking_corruptions,
    needs_shift=False,
)
