"""Curves as numbers: accuracy in bins of confidence, and among the most confident."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from oodometer.core.estimate import Estimate
from oodometer.metrics.metric import Metric, columns_of
from oodometer.metrics.reliability import DEFAULT_BINS, reliability_curve
from oodometer.metrics.selective import response_rate_accuracy
from oodometer.report.asked import Asked
from oodometer.report.scaled import Scaled
from oodometer.report.scores import LeftOut, Score, about, or_left_out
from oodometer.stats.intervals import share_of
from oodometer.store.cells import Cell
from oodometer.store.store import Store

RELIABILITY, RESPONSE = "reliability", "response-curve"
RATES = np.arange(1, 21) / 20
"""The response rates at which the curve is given."""

ANSWERS = Metric("reliability, response-curve", "", ("confidence", "rank"), reliability_curve)
"""What both are made of."""


def curve_scores(store: Store, cells: Sequence[Cell], asked: Asked) -> Iterator[Score | LeftOut]:
    """``reliability[MEAN CONFIDENCE]`` of each bin, and ``response-curve[RATE]``, of every cell of a model."""
    scaled = Scaled(store, cells, asked.options.temperature)
    for cell in cells:
        found = _of_cell(store, cell, scaled, asked)
        yield from or_left_out(found, (RELIABILITY, RESPONSE), f"{cell.model_name} on {cell.condition_name}")


def _of_cell(store: Store, cell: Cell, scaled: Scaled, asked: Asked) -> Iterator[Score]:
    rows = scaled.read(cell)
    confidence, rank = columns_of(ANSWERS, rows)
    of_cell = about(store, [cell], missing=cell.n_rows - len(rows))
    note = scaled.note(cell)

    def share(right: float, n: int) -> Estimate:
        # Of images that are equally confident a part may count; the nearest whole number is what an interval takes.
        return share_of(round(right), n, interval=asked.how.of_counts, level=asked.how.level)

    if asked.wants(RELIABILITY):
        curve = reliability_curve(confidence, rank == 0)
        convention = f"accuracy in each of {DEFAULT_BINS} bins of equal width; in brackets its mean confidence{note}"
        for mean, right, n in zip(curve.confidence, curve.right, curve.n, strict=True):
            yield of_cell.score(f"{RELIABILITY}[{mean:.4f}]", share(right, int(n)), convention)
    if asked.wants(RESPONSE):
        accuracy = response_rate_accuracy(confidence, rank == 0).accuracy
        convention = f"accuracy among the most confident images; in brackets their share{note}"
        for rate in RATES:
            n = max(round(rate * len(accuracy)), 1)
            yield of_cell.score(f"{RESPONSE}[{rate:.2f}]", share(accuracy[n - 1] * n, n), convention)
