"""Calibration error and AURRA under a shift, a bar for each model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from oodometer.analysis.intervals import IntervalOptions
from oodometer.analysis.metric_request import Asked, ScoreOptions
from oodometer.analysis.score_table import Score
from oodometer.core.errors import StoreError
from oodometer.core.estimate import Estimate
from oodometer.figures.bar_rows import MOST_ROWS, Bars, draw_rows, rows_of
from oodometer.figures.kinds import Kind
from oodometer.figures.options import FigureOptions
from oodometer.figures.selection import at_most, cells_of_sides, predictions, shifts_of
from oodometer.figures.style import note
from oodometer.metrics.metric import metrics
from oodometer.study import Study
from oodometer.study.evidence import scores_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NUMBERS = {"rms-calibration": "ℓ₂ calibration error (%)", "aurra": "AURRA (%)"}

CONVENTION = (
    "calibration: the root mean square over bins of 100 images, every bin counted; the paper's script leaves the last "
    "one out ('score --metrics rms-calibration:published')"
)


def draw_calibration(study: Study, options: FigureOptions) -> Figure:
    """Two panels: how far confidences are from the truth, and how well they tell right answers from wrong ones."""
    shift = shifts_of(study, options, most=1)[0]
    cells = cells_of_sides(study, shift, options)
    resampling = study.options.resampling
    how = IntervalOptions(level=resampling.level, draws=resampling.draws, seed=resampling.seed)
    asked = Asked(tuple(NUMBERS), how, ScoreOptions(draws=how.draws, seed=how.seed))
    found: dict[str, dict[str, Estimate]] = {name: {} for name in NUMBERS}
    for model, (_, cell) in cells.items():
        for _, scores in scores_of(study, [cell], [metrics.get(name) for name in NUMBERS], asked):
            for one in scores:
                if isinstance(one, Score):
                    found[one.metric][model] = one.estimate
    if not found["aurra"]:
        raise StoreError(f"{shift.name}: no confidences of any model, only classes")
    rows = at_most(rows_of(study, list(found["aurra"]), found["aurra"]), MOST_ROWS)
    figure = draw_rows(study, rows, [Bars(title, found[name]) for name, title in NUMBERS.items()], options)
    note(figure, CONVENTION)
    return figure


CALIBRATION = Kind(
    about="calibration error and AURRA under a shift, a bar for each model",
    after="Hendrycks 2021 (natural adversarial): 14, 15",
    needs="predictions under a shift of one condition",
    draw=draw_calibration,
    lacking=predictions,
)
