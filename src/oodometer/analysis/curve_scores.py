"""Curves as numbers: accuracy in bins of confidence, and among the most confident."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from oodometer.analysis.intervals import IntervalOptions
from oodometer.analysis.metric_request import Asked
from oodometer.analysis.score_table import LeftOut, Score, about, or_left_out
from oodometer.analysis.temperature_scaling import Scaled
from oodometer.core.estimate import Estimate
from oodometer.core.predictions import Predictions
from oodometer.metrics.metric import Metric, columns_of
from oodometer.metrics.reliability import DEFAULT_BINS, reliability_curve
from oodometer.metrics.selective import response_rate_accuracy
from oodometer.stats.intervals import share_of
from oodometer.store.cells import Cell
from oodometer.store.index import Index

RELIABILITY, RESPONSE = "reliability", "response-curve"
RATES = np.arange(1, 21) / 20
"""The response rates at which the curve is given."""

ANSWERS = Metric("reliability, response-curve", "", ("confidence", "rank"), reliability_curve)
"""What both are made of."""

BINNED = f"accuracy in each of {DEFAULT_BINS} bins of equal width"
ANSWERED = "accuracy among the most confident images"


def curve_scores(index: Index, cells: Sequence[Cell], asked: Asked) -> Iterator[Score | LeftOut]:
    """``reliability[MEAN CONFIDENCE]`` of each bin, and ``response-curve[RATE]``, of every cell of a model."""
    scaled = Scaled(index, cells, asked.options.temperature)
    for cell in cells:
        found = _of_cell(index, cell, scaled, asked)
        yield from or_left_out(found, (RELIABILITY, RESPONSE), f"{cell.model_name} on {cell.condition_name}")


def _of_cell(index: Index, cell: Cell, scaled: Scaled, asked: Asked) -> Iterator[Score]:
    rows = scaled.read(cell)
    of_cell = about(index, [cell], missing=cell.n_rows - len(rows))
    note = scaled.note(cell)
    if asked.wants(RELIABILITY):
        for mean, estimate in reliability_of(rows, asked.how):
            yield of_cell.score(
                f"{RELIABILITY}[{mean:.4f}]", estimate, f"{BINNED}; in brackets its mean confidence{note}"
            )
    if asked.wants(RESPONSE):
        for rate, estimate in response_of(rows, asked.how):
            yield of_cell.score(f"{RESPONSE}[{rate:.2f}]", estimate, f"{ANSWERED}; in brackets their share{note}")


def reliability_of(rows: Predictions, how: IntervalOptions) -> list[tuple[float, Estimate]]:
    """Of each bin of confidence that holds an image: the mean confidence, and the accuracy."""
    confidence, rank = columns_of(ANSWERS, rows)
    curve = reliability_curve(confidence, rank == 0)
    bins = zip(curve.confidence, curve.right, curve.n, strict=True)
    return [(float(mean), _share(right, int(n), how)) for mean, right, n in bins]


def response_of(rows: Predictions, how: IntervalOptions) -> list[tuple[float, Estimate]]:
    """Each response rate, and the accuracy among as many of the images, the most confident ones."""
    confidence, rank = columns_of(ANSWERS, rows)
    accuracy = response_rate_accuracy(confidence, rank == 0).accuracy
    sizes = [max(round(rate * len(accuracy)), 1) for rate in RATES]
    return [(float(rate), _share(accuracy[n - 1] * n, n, how)) for rate, n in zip(RATES, sizes, strict=True)]


def _share(right: float, n: int, how: IntervalOptions) -> Estimate:
    # Of images that are equally confident a part may count; the nearest whole number is what an interval takes.
    return share_of(round(right), n, interval=how.of_counts, level=how.level)
