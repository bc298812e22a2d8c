"""Telling images that belong to none of the classes from those that do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from oodometer.analysis.common_images import clusters_of
from oodometer.analysis.intervals import counts_of
from oodometer.analysis.metric_request import Asked
from oodometer.analysis.named import cells_on, names_of_conditions, with_labels
from oodometer.analysis.score_table import LeftOut, Score, about, or_left_out
from oodometer.analysis.temperature_scaling import Scaled
from oodometer.core.errors import OodometerError, StoreError
from oodometer.core.predictions import Predictions
from oodometer.metrics.ood_detection import (
    SCORES,
    chance_aupr,
    detection_measures,
    detection_values,
    ranking_of,
    scores_of,
)
from oodometer.stats.bootstrap import Resampling, interval_of
from oodometer.store.cells import Cell
from oodometer.store.index import Index

IN_DISTRIBUTION = "clean"


def ood_scores(index: Index, cells: Sequence[Cell], asked: Asked) -> Iterator[Score | LeftOut]:
    """Every measure by every score that a prediction has, as ``MEASURE[SCORE]``.

    The interval is a percentile bootstrap over images or groups of them, whatever is asked for.
    """
    model, wanted = cells[0].model_name, asked.options.ood
    if wanted is None:
        raise OodometerError("say which condition is out of distribution, with --ood CONDITION")
    outside = cells_on(wanted, cells)
    if not outside:
        raise StoreError(f"{index}: {model} was not run on {wanted!r}")
    scaled = Scaled(index, cells, asked.options.temperature)
    for cell in outside:
        found = _detection(index, cells, cell, scaled, asked)
        yield from or_left_out(found, tuple(detection_measures))


def inside_of(index: Index, cells: Sequence[Cell], cell: Cell, ood: str) -> Cell:
    """The other side of the shift, where it was run as one; otherwise the clean images over the same classes."""
    pairs = [shift for shift in index.shifts if (shift.shifted.key == cell.condition.key)]
    standard = [one for one in cells if any((pair.standard.key == one.condition.key) for pair in pairs)]
    if len(standard) == 1:
        return standard[0]
    outside = cells_on(ood, cells)
    clean = [one for one in cells if one.condition_name == IN_DISTRIBUTION and one not in outside]
    found = with_labels(index, [one for one in clean if one.classes == cell.classes])
    where = f"{IN_DISTRIBUTION!r} over the same classes as {cell.condition_name!r}"
    if not found:
        raise StoreError(f"{index}: {cell.model_name} has no {where}; run it")
    if len(found) > 1:
        several = ", ".join(names_of_conditions(found))
        raise StoreError(
            f"{index}: {cell.model_name} has several data sets with {where}: {several}; keep each in a store of its own"
        )
    return found[0]


def _detection(index: Index, cells: Sequence[Cell], outside: Cell, scaled: Scaled, asked: Asked) -> Iterator[Score]:
    inside = inside_of(index, cells, outside, str(asked.options.ood))
    clean, ood = scaled.read(inside), scaled.read(outside)
    resampling = replace(asked.how.resampling, method="percentile")
    # Each kind is drawn from its own, so that the share of OOD images, which AUPR depends on, stays.
    draws_of = [
        _weights(index, cell, rows, asked.how.by, replace(resampling, seed=2 * resampling.seed + kind))
        for kind, (cell, rows) in enumerate([(inside, clean), (outside, ood)])
    ]
    weights, n = np.hstack(draws_of), len(clean) + len(ood)
    of_cell = about(index, [outside], missing=outside.n_rows - len(ood))
    said = f"{len(ood)} OOD images are positive, {len(clean)} of {inside.condition_name} negative{scaled.note(outside)}"
    chance = f"; chance is {chance_aupr(len(clean), len(ood)):.4f}"
    name_of_draws = "cluster bootstrap" if asked.how.by else "bootstrap"
    for name in SCORES:
        ranking = ranking_of(scores_of(clean, name), scores_of(ood, name))
        values, draws = detection_values(ranking), detection_values(ranking, weights)
        for measure in detection_measures:
            if asked.wants(measure):
                value = float(values[measure][0])
                estimate = interval_of(draws[measure], value, n=n, resampling=resampling, name=name_of_draws)
                convention = said + (chance if measure.startswith("aupr") else "")
                yield of_cell.score(f"{measure}[{name}]", estimate, convention)


def _weights(index: Index, cell: Cell, rows: Predictions, by: str | None, resampling: Resampling) -> np.ndarray:
    """How often each image of a kind is drawn, (D, N)."""
    clusters = clusters_of(index.images(cell), rows, by) if by else None
    return np.concatenate(list(counts_of(len(rows), resampling, clusters)))
