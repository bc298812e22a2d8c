"""Curves: counted by plain loops over the images."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest

from oodometer.analysis.score import score
from oodometer.core.errors import OodometerError
from oodometer.core.predictions import from_logits
from oodometer.store.index import look


@pytest.fixture
def rows(filled, make_dataset):
    """The rows of a cell of 300 images, as sure as random logits are."""
    rng = np.random.default_rng(4)
    data = make_dataset(300, labels=rng.integers(0, 10, 300))
    logits = rng.normal(0, 2, (300, 10)) + 3 * np.eye(10)[data.labels]
    filled.put(data, from_logits(logits, data.labels, np.arange(300)))
    index = look(filled.store)
    return index.read(index.cells[0])


def numbers(store, name: str) -> dict[float, object]:
    found = score(store, metrics=[name]).rows
    return {float(row.metric.partition("[")[2].rstrip("]")): row.estimate for row in found}


def test_reliability_is_the_accuracy_of_each_bin(filled, rows):
    found = numbers(filled.store, "reliability")
    right = rows.rank == 0
    bins = np.ceil(rows.confidence.astype(float) * 15)
    expected = {}
    for one in np.unique(bins):
        inside = bins == one
        expected[round(float(rows.confidence[inside].astype(float).mean()), 4)] = (right[inside].sum(), inside.sum())
    assert len(expected) > 8
    assert {at: (round(one.value * one.n), one.n) for at, one in found.items()} == expected
    for one in found.values():
        bounds = binomtest(round(one.value * one.n), one.n).proportion_ci()  # reference: scipy
        assert (one.low, one.high) == pytest.approx((bounds.low, bounds.high), abs=1e-9)


def test_the_response_curve_is_the_accuracy_of_the_most_confident(filled, rows):
    found = numbers(filled.store, "response-curve")
    assert sorted(found) == pytest.approx(np.arange(1, 21) / 20)
    order = np.argsort(-rows.confidence)
    for rate, one in found.items():
        k = round(rate * 300)
        assert (one.n, one.value) == (k, pytest.approx((rows.rank[order[:k]] == 0).mean()))


def test_without_labels_there_is_no_curve(filled, make_dataset):
    filled.add(make_dataset(5, k=3, labels=[-1] * 5), [0] * 5)
    with pytest.raises(OodometerError, match="reliability"):
        score(filled.store, metrics=["reliability"])
