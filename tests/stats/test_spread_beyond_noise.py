"""The root mean square beyond noise: by hand, and by simulation where estimates share their errors."""

from __future__ import annotations

import numpy as np
import pytest

from oodometer.core.errors import OodometerError
from oodometer.stats.spread_beyond_noise import spread_beyond_noise


def test_without_errors_it_is_the_root_mean_square():
    found = spread_beyond_noise(np.array([0.03, -0.04]), np.zeros(2))
    assert found.value == pytest.approx(np.sqrt((0.03**2 + 0.04**2) / 2))  # by hand
    assert found.p_value(0.5) == 0.0


def test_estimates_of_nought_have_no_spread_on_average():
    rng = np.random.default_rng(0)
    squares = [spread_beyond_noise(rng.normal(0, 0.02, 10), np.full(10, 0.02)).square for _ in range(2000)]
    # the mean of 2,000 squares of standard error 0.02² sqrt(2 / 10): four of its standard errors
    assert abs(np.mean(squares)) < 4 * 0.02**2 * np.sqrt(2 / 10) / np.sqrt(2000)


@pytest.mark.parametrize("shared", [0.0, 0.9, 1.0])
def test_the_interval_holds_the_truth_however_errors_move_together(shared):
    rng = np.random.default_rng(1)
    truth, error = np.array([0.05, -0.03, 0.06, 0.02]), 0.01
    covariance = error**2 * (shared * np.ones((4, 4)) + (1 - shared) * np.eye(4))
    held = 0
    for _ in range(1000):
        found = spread_beyond_noise(rng.multivariate_normal(truth, covariance), np.full(4, error)).estimate()
        held += found.low <= np.sqrt(np.mean(truth**2)) <= found.high
    assert held >= 930  # 95 % of 1,000 less three standard deviations


def test_the_p_value_is_small_where_the_interval_is_elsewhere():
    found = spread_beyond_noise(np.array([0.05, -0.05, 0.06]), np.full(3, 0.005))
    low = found.estimate(0.99).low
    assert low is not None
    assert found.p_value(low) == pytest.approx(0.01)


def test_no_models_are_an_error():
    with pytest.raises(OodometerError, match="no models"):
        spread_beyond_noise(np.array([]), np.array([]))
