"""Clean error and mCE side by side, a bar of each for every model: what is gained in robustness beside accuracy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oodometer.core.errors import StoreError
from oodometer.figures.bar_rows import MOST_ROWS, Bars, draw_rows, rows_of
from oodometer.figures.corruption_errors import corruption_errors_of, lacking_corruptions, say_what_it_is
from oodometer.figures.kinds import Kind
from oodometer.figures.options import FigureOptions
from oodometer.figures.selection import at_most
from oodometer.figures.style import short
from oodometer.report.tables.corruptions import error_of
from oodometer.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_errors(study: Study, options: FigureOptions) -> Figure:
    """Two panels of bars, the models with the lowest mCE last."""
    found = corruption_errors_of(study, options)
    clean = {name: error_of(one) for name, one in found.clean.items() if name in found.mean}
    if not clean:
        raise StoreError(f"{found.family}: no clean accuracy of the models; run --on clean")
    rows = at_most(rows_of(study, list(found.mean), found.mean), MOST_ROWS)
    name = "mCE" if found.normalised else "mean error"
    panels = [Bars("clean error (%)", clean), Bars(f"{short(found.family, 20)} {name} (%)", found.mean)]
    figure = draw_rows(study, rows, panels, options)
    say_what_it_is(figure, found)
    return figure


ERRORS = Kind(
    about="clean error and mCE, a bar of each for every model",
    after="Hendrycks 2019: 4",
    needs="corruptions at all five severities; ImageNet-C, or a --normaliser",
    draw=draw_errors,
    lacking=lacking_corruptions,
    needs_shift=False,
)
