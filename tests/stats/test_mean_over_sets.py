"""Variances of means over test sets, against formulas for single sets and against resampled photographs."""

from __future__ import annotations

import numpy as np
import pytest

from oodometer.stats.mean_over_sets import MeasuredSet, spread_of


def measured(right, photographs=None, ids=None):
    ids = np.array([f"{at:04d}" for at in range(right.shape[1])]) if ids is None else ids
    return MeasuredSet(right.mean(axis=1), np.full(len(right), right.shape[1]), right, ids, photographs)


@pytest.fixture
def right():
    rng = np.random.default_rng(0)
    hard = rng.random(400)  # models fail on the same images
    return np.stack([rng.random(400) < 0.9 - 0.6 * hard, rng.random(400) < 0.95 - 0.6 * hard])


def test_one_set_has_the_variance_of_a_mean(right):
    spread = spread_of([measured(right)])
    np.testing.assert_allclose(spread.of_models, right.var(axis=1, ddof=1) / 400)
    difference = right[0].astype(float) - right[1]
    assert spread.of_differences[0, 1] == pytest.approx(difference.var(ddof=1) / 400)


def test_sets_of_their_own_photographs_add_up(right):
    other = right[:, :100]
    spread = spread_of([measured(right), measured(other)])
    each = right.var(axis=1, ddof=1) / 400 + other.var(axis=1, ddof=1) / 100
    np.testing.assert_allclose(spread.of_models, each / 4)


def test_the_same_photographs_twice_tell_no_more_than_once(right):
    twice = spread_of([measured(right, "clean"), measured(right, "clean")])
    once = spread_of([measured(right)])
    np.testing.assert_allclose(twice.of_models, once.of_models)
    np.testing.assert_allclose(twice.of_differences, once.of_differences, atol=1e-15)


def test_photographs_are_joined_by_their_ids_whatever_their_order(right):
    ids = np.array([f"{at:04d}" for at in range(400)])
    turned = measured(right[:, ::-1], "clean", ids[::-1])
    np.testing.assert_allclose(
        spread_of([measured(right, "clean", ids), turned]).of_models, spread_of([measured(right)]).of_models
    )


def test_without_images_models_are_taken_as_independent():
    accuracies, sizes = np.array([0.5, 0.8]), np.array([100.0, 100.0])
    spread = spread_of([MeasuredSet(accuracies, sizes)])
    np.testing.assert_allclose(spread.of_models, [0.0025, 0.0016])
    assert spread.of_differences[0, 1] == pytest.approx(0.0041)


def test_without_n_nothing_is_known():
    spread = spread_of([MeasuredSet(np.array([0.5, 0.8]), np.array([np.nan, 100.0]))])
    assert np.isnan(spread.of_models[0])
    assert np.isnan(spread.of_differences[0, 1])


@pytest.mark.slow
def test_it_is_what_a_bootstrap_over_photographs_finds(right):
    rng = np.random.default_rng(3)
    second = right & (rng.random(right.shape) < 0.8)  # the same photographs, corrupted
    third = rng.random((2, 150)) < np.array([[0.4], [0.5]])
    spread = spread_of([measured(right, "clean"), measured(second, "clean"), measured(third)])
    draws = []
    for _ in range(4000):
        at, own = rng.integers(400, size=400), rng.integers(150, size=150)
        means = (right[:, at].mean(axis=1) + second[:, at].mean(axis=1) + third[:, own].mean(axis=1)) / 3
        draws.append([*means, means[0] - means[1]])
    found = np.var(draws, axis=0)
    # 4,000 draws know a variance to about 2.2 %.
    np.testing.assert_allclose([*spread.of_models, spread.of_differences[0, 1]], found, rtol=0.09)
