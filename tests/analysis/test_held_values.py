"""Every interval holds its value, whatever the answers, for every metric that `score` knows of one cell."""

from __future__ import annotations

import numpy as np
import pytest

from oodometer.analysis.cell_estimates import CellEstimates
from oodometer.analysis.intervals import IntervalOptions
from oodometer.analysis.score import score
from oodometer.core.errors import OodometerError
from oodometer.core.predictions import Predictions, from_logits
from oodometer.metrics.metric import metrics


def random_rows(seed: int) -> Predictions:
    """Few or many images and classes, calibrated or not, sure or not, with ties, without labels here and there."""
    rng = np.random.default_rng([2026, seed])
    n = int(rng.choice([1, 2, 5, 19, 20, 60, 199, 200, 350, 900]))
    k = int(rng.choice([2, 3, 10, 40]))
    logits = rng.normal(size=(n, k)) * rng.choice([0.1, 1.0, 3.0])
    odds = np.exp(logits - logits.max(axis=1, keepdims=True))
    labels = (rng.random((n, 1)) * odds.sum(axis=1, keepdims=True) > np.cumsum(odds, axis=1)).sum(axis=1)
    logits = logits * rng.choice([0.5, 1.0, 1.15, 1.5, 20.0])
    if seed % 3 == 0:
        logits = np.round(logits)
    labels = np.minimum(labels, k - 1)
    if seed % 4 == 0:
        labels[rng.random(n) < 0.2] = -1
    if (labels < 0).all():
        labels[0] = 0
    return from_logits(logits, labels, np.arange(n))


def held(rows: Predictions, how: IntervalOptions, clusters: np.ndarray | None) -> int:
    """How many metrics have an interval; each of them holds its value, and the others say why they have none."""
    several = [metrics.get(name) for name in metrics._addresses]
    estimates = CellEstimates(rows, several, how, clusters)
    intervals = 0
    for metric in several:
        try:
            found = estimates.of(metric)
        except OodometerError:
            continue
        if found.low is None or found.high is None:
            assert found.interval.startswith("none: "), metric.name
            continue
        assert found.low <= found.value <= found.high, (metric.name, found)
        assert found.low >= 0, (metric.name, found)
        intervals += 1
    return intervals


@pytest.mark.parametrize("seed", range(60))
def test_every_interval_holds_its_value(seed):
    rows = random_rows(seed)
    interval = ("clopper-pearson", "wilson", "bootstrap", "bca")[seed % 4]
    by = "video" if seed % 5 == 0 and len(rows) > 5 else None
    clusters = np.arange(len(rows)) // 3 if by else None
    intervals = held(rows, IntervalOptions(interval, draws=100, by=by, seed=seed), clusters)
    if len(rows) >= 350:
        assert intervals >= 8


def test_the_same_from_a_store(filled, make_dataset):
    """Group scores too: corruption errors, flips and what else the store gives."""
    data = make_dataset(230)
    for place, condition in enumerate(["clean", "fog/1", "fog/3", "fog/5"]):
        rng = np.random.default_rng(place)
        logits = rng.normal(size=(230, 10)) + (2.5 - 0.4 * place) * (np.arange(10) == data.labels[:, None])
        filled.put(data, from_logits(logits, data.labels, np.arange(230)), condition=condition)
    found = score(filled.store, metrics=["all"])
    assert len({row.metric for row in found.rows}) >= 14
    for row in found.rows:
        if row.estimate.low is not None:
            assert row.estimate.low <= row.estimate.value <= row.estimate.high, row
