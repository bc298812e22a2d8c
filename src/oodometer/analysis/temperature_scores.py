"""The temperature of each model on each condition: by which factor it is too sure there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from oodometer.analysis.common_images import clusters_of
from oodometer.analysis.metric_request import Asked
from oodometer.analysis.score_table import LeftOut, Score, about
from oodometer.analysis.temperature_scaling import with_kept_logits
from oodometer.core.errors import OodometerError
from oodometer.metrics.temperature import temperature_of
from oodometer.store.cells import Cell
from oodometer.store.index import Index

NAME = "temperature"
CONVENTION = "divides the logits so that the labels of this condition are likeliest; above 1: too sure"


def temperature_scores(index: Index, cells: Sequence[Cell], asked: Asked) -> Iterator[Score | LeftOut]:
    """The temperature that is best for each cell, fitted on it alone."""
    for cell in cells:
        try:
            rows = with_kept_logits(index, cell)
            groups = clusters_of(index.images(cell), rows, asked.how.by) if asked.how.by else None
            estimate = temperature_of(rows, level=asked.how.level, groups=groups)
        except OodometerError as error:
            yield LeftOut((NAME,), str(error))
        else:
            of_cell = about(index, [cell], missing=cell.n_rows - len(rows))
            yield of_cell.score(NAME, estimate, CONVENTION)
