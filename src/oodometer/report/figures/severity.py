"""Accuracy at every severity of the corruptions, in the mean, of a few models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oodometer.core.errors import StoreError, UsageError
from oodometer.core.estimate import Estimate
from oodometer.report.corruption_grid import CorruptionGrid, grids_of
from oodometer.report.figures.corruption_errors import lacking_corruptions
from oodometer.report.figures.curves import CurvePanel, draw_curves, few_of, say_few
from oodometer.report.figures.kinds import Kind
from oodometer.report.figures.options import FigureOptions
from oodometer.report.figures.style import short
from oodometer.report.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_severity(study: Study, options: FigureOptions) -> Figure:
    """A curve for each of a few models over all corruptions of a family; at 0 the clean accuracy, where it is known."""
    grid = _grid(study, options)
    curves: dict[str, list[tuple[float, Estimate]]] = {}
    known = [name for name in grid.models if grid.mean(name)]
    for model in few_of(known, options):
        found = [(float(one), grid.over_corruptions(model, one)) for one in grid.severities]
        if model in grid.clean:
            found.insert(0, (0.0, grid.clean[model]))
        curves[model] = [(at, one) for at, one in found if one is not None]
    title = f"{short(grid.family, 24)}, mean of {len(grid.averaged)} corruptions"
    panel = CurvePanel(title, curves, "severity (0: clean)", "accuracy (%)", x_percent=False)
    figure = draw_curves([panel], options)
    say_few(figure, list(curves), known, options)
    return figure


def _grid(study: Study, options: FigureOptions) -> CorruptionGrid:
    grids = {grid.family: grid for grid in grids_of(study)}
    if not grids:
        raise StoreError(f"{study.store}: no corruptions were measured")
    wanted = options.shifts[0].partition("~")[0] if options.shifts else None
    if wanted is None and len(grids) > 1:
        raise UsageError(f"several families of corruptions; name one with --shift: {', '.join(grids)}")
    if wanted is not None and wanted not in grids:
        raise UsageError(f"no family of corruptions named {wanted!r}; there are {', '.join(grids)}")
    return grids[wanted] if wanted is not None else next(iter(grids.values()))


SEVERITY = Kind(
    about="accuracy at every severity, in the mean over corruptions, of a few models",
    after="the severities of Hendrycks 2019: 6",
    needs="corruptions at several severities",
    draw=draw_severity,
    lacking=lacking_corruptions,
    needs_shift=False,
)
