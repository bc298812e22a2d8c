"""Telling images that belong to none of the classes from those that do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

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
from oodometer.report.asked import Asked
from oodometer.report.scores import Score, score_of
from oodometer.stats.bootstrap import Resampling, interval_of, resample_counts
from oodometer.store.cells import Cell
from oodometer.store.store import Store

IN_DISTRIBUTION = "clean"


def ood_scores(store: Store, cells: Sequence[Cell], asked: Asked) -> Iterator[Score]:
    """Every measure by every score that a prediction has, as ``MEASURE[SCORE]``."""
    model, wanted = cells[0].model_name, asked.options.ood
    if wanted is None:
        raise OodometerError("OOD detection: say which condition is out of distribution, with --ood CONDITION")
    outside = [cell for cell in cells if cell.condition_name == wanted]
    if not outside:
        raise StoreError(f"{store}: {model} was not run on {wanted!r}")
    for cell in outside:
        # Masked to the same classes: a softmax over others can't be compared.
        inside = [one for one in cells if one.condition_name == IN_DISTRIBUTION and _classes(one) == _classes(cell)]
        if not inside:
            raise StoreError(f"{store}: {model} has no '{IN_DISTRIBUTION}' over the same classes as {wanted!r}; run it")
        yield from _detection(store, inside[0], cell, asked)


def _classes(cell: Cell) -> tuple[object, ...]:
    return cell.space, cell.n_classes, cell.condition["label_map"]


def _detection(store: Store, inside: Cell, outside: Cell, asked: Asked) -> Iterator[Score]:
    clean, ood = store.read(inside), store.read(outside)
    resampling = asked.how.resampling
    # Each kind is drawn from its own, so that the share of OOD images, which AUPR depends on, stays.
    weights = np.hstack([_weights(clean, resampling, 0), _weights(ood, resampling, 1)])
    chance = chance_aupr(len(clean), len(ood))
    for name in SCORES:
        ranking = ranking_of(scores_of(clean, name), scores_of(ood, name))
        values, draws = detection_values(ranking), detection_values(ranking, weights)
        for measure in detection_measures:
            if asked.wants(measure):
                estimate = interval_of(
                    draws[measure], float(values[measure][0]), n=len(clean) + len(ood), resampling=resampling
                )
                convention = f"{len(ood)} OOD images are positive, {len(clean)} of {inside.condition_name} negative"
                if measure.startswith("aupr"):
                    convention += f"; chance is {chance:.4f}"
                yield score_of(store, [outside], f"{measure}[{name}]", estimate, convention=convention)


def _weights(rows: Predictions, resampling: Resampling, kind: int) -> np.ndarray:
    own = Resampling(resampling.draws, resampling.level, "percentile", 2 * resampling.seed + kind)
    return np.concatenate([block.astype(np.int32) for block in resample_counts(len(rows), own)])
