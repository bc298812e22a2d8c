"""The share of the first component: numpy's own correlation matrix, its ends, and noise that is taken off."""

from __future__ import annotations

import numpy as np
import pytest

from oodometer.core.errors import OodometerError
from oodometer.stats.bootstrap import Resampling
from oodometer.stats.first_component import FEWEST_MODELS, first_component


def test_without_noise_it_is_the_largest_eigenvalue_of_the_correlation_matrix():
    values = np.random.default_rng(0).normal(size=(30, 4)) @ np.random.default_rng(1).normal(size=(4, 4))
    # reference: singular values of the standardised table, none of the code's own route
    standard = (values - values.mean(axis=0)) / values.std(axis=0)
    squares = np.linalg.svd(standard, compute_uv=False) ** 2
    found = first_component(values)
    assert found.value == pytest.approx(squares[0] / squares.sum())
    assert found.low < found.value < found.high
    assert found.n == 30


def test_scale_and_sign_of_a_shift_do_not_matter():
    values = np.random.default_rng(2).normal(size=(12, 3))
    assert first_component(values * [1, -10, 0.1]).value == pytest.approx(first_component(values).value)


def test_noise_that_is_known_is_no_further_dimension():
    """One number behind four shifts, seen with noise: without the correction it would look like several."""
    rng = np.random.default_rng(3)
    truth = np.outer(rng.normal(0, 0.05, 200), np.ones(4))
    seen = truth + rng.normal(0, 0.03, truth.shape)
    plain, taken_off = first_component(seen), first_component(seen, 0.03**2 * np.eye(4))
    # by hand: correlations are 25 / 34 with the noise, and the share (1 + 3 r) / 4
    assert plain.value == pytest.approx((1 + 3 * 25 / 34) / 4, abs=0.04)
    assert taken_off.value > 0.97


def test_too_few_models_or_shifts_say_so():
    with pytest.raises(OodometerError, match="4 models and 3 shifts"):
        first_component(np.random.default_rng(0).normal(size=(FEWEST_MODELS - 1, 3)))
    with pytest.raises(OodometerError, match="1 shifts"):
        first_component(np.random.default_rng(0).normal(size=(9, 1)))


def test_models_that_noise_alone_tells_apart_have_no_share():
    with pytest.raises(OodometerError, match="no more than the noise"):
        first_component(np.random.default_rng(0).normal(size=(9, 2)), 100 * np.eye(2))


def test_the_interval_holds_the_truth():
    """Three shifts with correlations of 0.5: the true share is (1 + 2 / 2) / 3."""
    rng = np.random.default_rng(4)
    covariance = 0.5 * np.ones((3, 3)) + 0.5 * np.eye(3)
    held = 0
    for seed in range(150):
        values = rng.multivariate_normal(np.zeros(3), covariance, size=25)
        found = first_component(values, resampling=Resampling(draws=400, method="bca", seed=seed))
        held += found.low <= 2 / 3 <= found.high
    # A bootstrap over 25 models is somewhat too narrow: 150 intervals of 90 % would hold it 124 times but for 1 in 500.
    assert held >= 124, held
