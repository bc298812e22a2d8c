"""Metrics of many resamples at once: the plain functions on each resample are the reference."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oodometer.core.errors import OodometerError
from oodometer.metrics.calibration_error import BINNINGS
from oodometer.metrics.metric import metrics
from oodometer.metrics.resampled import OF_ANSWERS, OF_CLASSES, resampled_answers, resampled_classes


def one_by_one(name: str, columns: tuple[np.ndarray, ...], counts: np.ndarray) -> np.ndarray:
    """The plain metric on the images of each resample; NaN where it is undefined."""

    def of(times: np.ndarray) -> float:
        try:
            return metrics.get(name).of(*(np.repeat(column, times) for column in columns))
        except OodometerError:
            return np.nan

    return np.array([of(times) for times in counts])


def all_at_once(name: str, columns: tuple[np.ndarray, ...], counts: np.ndarray) -> np.ndarray:
    if name in OF_ANSWERS:
        confidence, rank = columns
        return resampled_answers([name], confidence, rank == 0, [counts])[name]
    return resampled_classes([name], *columns, [counts])[name]


def columns_for(name: str, n: int, levels: int, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Columns of n images; few levels of confidence make many ties."""
    rank = rng.integers(0, 3, n) * rng.integers(0, 2, n)
    if name in OF_CLASSES:
        return rng.integers(0, levels, n), rank
    return (rng.integers(0, levels + 1, n) / levels).astype(np.float32), rank


NAMES = (*OF_ANSWERS, *OF_CLASSES)


def test_every_built_in_whole_metric_is_here():
    whole = {name for name in metrics._addresses if metrics.get(name).kind == "whole"}
    # calibration errors and the mean over classes have intervals of their own
    assert set(NAMES) == whole - {*BINNINGS, "smooth-ece", "balanced"}
    for name in NAMES:
        assert metrics.get(name).columns == (("confidence", "rank") if name in OF_ANSWERS else ("label", "rank"))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("n", "levels"), [(1, 1), (2, 10_000), (14, 3), (199, 10_000), (430, 7), (500, 10_000)])
def test_all_at_once_is_one_by_one(name, n, levels):
    rng = np.random.default_rng([n, levels])
    columns = columns_for(name, n, levels, rng)
    counts = rng.multinomial(n, np.full(n, 1 / n), size=25)
    found = all_at_once(name, columns, counts)
    np.testing.assert_allclose(found, one_by_one(name, columns, counts), rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_clusters_make_resamples_of_other_sizes(name):
    rng = np.random.default_rng(4)
    columns = columns_for(name, 420, 400, rng)
    clusters = np.sort(rng.integers(0, 6, 420))
    counts = rng.multinomial(6, np.full(6, 1 / 6), size=40)[:, clusters]
    assert len(set(counts.sum(axis=1).tolist())) > 10
    found = all_at_once(name, columns, counts)
    np.testing.assert_allclose(found, one_by_one(name, columns, counts), rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_blocks_are_the_same_as_one(name):
    rng = np.random.default_rng(9)
    columns = columns_for(name, 300, 50, rng)
    counts = rng.multinomial(300, np.full(300, 1 / 300), size=1000)  # more than are worked on at once
    whole = all_at_once(name, columns, counts)
    assert whole.shape == (1000,)
    np.testing.assert_array_equal(whole[700:], all_at_once(name, columns, counts[700:]))


@given(st.lists(st.tuples(st.sampled_from([0.0, 1 / 15, 0.2, 0.5, 1.0]), st.booleans()), min_size=1, max_size=30))
def test_edges_of_bins_and_ties(answers):
    confidence, right = (np.array(column) for column in zip(*answers, strict=True))
    rank = np.where(right, 0, 1)
    n = len(right)
    counts = np.random.default_rng(n).multinomial(n, np.full(n, 1 / n), size=5)
    for name in OF_ANSWERS:
        np.testing.assert_allclose(
            all_at_once(name, (confidence, rank), counts),
            one_by_one(name, (confidence, rank), counts),
            rtol=0,
            atol=1e-12,
        )
