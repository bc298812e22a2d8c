"""The classwise calibration error of each cell whose logits were kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from oodometer.analysis.common_images import clusters_of
from oodometer.analysis.metric_request import Asked
from oodometer.analysis.score_table import LeftOut, Score, about, or_left_out
from oodometer.analysis.temperature_scaling import Scaled
from oodometer.core.errors import OodometerError
from oodometer.metrics.classwise_calibration import classwise_calibration_estimate
from oodometer.metrics.probabilities import probabilities_of
from oodometer.metrics.reliability import DEFAULT_BINS
from oodometer.store.cells import Cell
from oodometer.store.index import Index

NAME = "classwise-ece"
CONVENTION = f"mean over all classes of L1, {DEFAULT_BINS} bins of equal width of the class's probability"


def classwise_scores(index: Index, cells: Sequence[Cell], asked: Asked) -> Iterator[Score | LeftOut]:
    """The error of each cell; its interval is an inverted test, whatever is asked for."""
    scaled = Scaled(index, cells, asked.options.temperature)
    for cell in cells:
        yield from or_left_out(_of_cell(index, cell, scaled, asked), (NAME,))


def _of_cell(index: Index, cell: Cell, scaled: Scaled, asked: Asked) -> Iterator[Score]:
    rows, logits = scaled.with_logits(cell, "the error of every class")
    labelled = rows.label >= 0
    if not labelled.any():
        raise OodometerError("no labelled images, so it is undefined")
    by = asked.how.by
    clusters = clusters_of(index.images(cell), rows, by)[labelled] if by else None
    estimate = classwise_calibration_estimate(
        probabilities_of(logits[labelled]), rows.label[labelled], level=asked.how.level, clusters=clusters
    )
    of_cell = about(index, [cell], missing=cell.n_rows - len(rows))
    yield of_cell.score(NAME, estimate, CONVENTION + scaled.note(cell))
