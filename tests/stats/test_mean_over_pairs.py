"""The mean over pairs of models: closed forms at its ends, and coverage by simulation between them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest, ttest_1samp

from oodometer.core.errors import OodometerError
from oodometer.stats.mean_over_pairs import mean_over_pairs


def test_one_pair_has_the_interval_and_p_value_of_a_t_test_over_images():
    differences = np.random.default_rng(0).choice([-1, 0, 1], p=[0.1, 0.6, 0.3], size=200)
    variance = np.var(differences, ddof=1) / 200
    found = mean_over_pairs(np.array([differences.mean()]), np.array([[variance]]), 200)
    # reference: scipy's t test of one sample, here of the images
    reference = ttest_1samp(differences, 0.1)
    bounds = reference.confidence_interval(0.9)
    estimate = found.estimate(0.9)
    assert (estimate.low, estimate.high) == pytest.approx((bounds.low, bounds.high))
    assert found.p_value(0.1) == pytest.approx(reference.pvalue)
    assert estimate.interval == "t over images 90%"


def test_without_noise_of_images_it_is_a_t_test_over_pairs():
    values = np.array([0.01, 0.05, 0.03, 0.08])
    found = mean_over_pairs(values, np.zeros((4, 4)), 1000)
    # reference: scipy's t test of one sample, here of the pairs
    reference = ttest_1samp(values, 0.015)
    bounds = reference.confidence_interval(0.95)
    estimate = found.estimate()
    assert (estimate.low, estimate.high) == pytest.approx((bounds.low, bounds.high))
    assert found.p_value(0.015) == pytest.approx(reference.pvalue)
    assert estimate.interval == "t over images and pairs 95%"


def test_pairs_that_all_move_together_are_no_surer_than_one_of_them():
    shared = np.full((5, 5), 0.0004)
    found = mean_over_pairs(np.full(5, 0.03), shared, 500)
    alone = mean_over_pairs(np.array([0.03]), shared[:1, :1], 500)
    assert found.error == pytest.approx(alone.error)  # by hand: the variance of a mean of equal numbers is theirs


def test_no_pair_is_an_error():
    with pytest.raises(OodometerError, match="no pair"):
        mean_over_pairs(np.array([]), np.zeros((0, 0)), 10)


@pytest.mark.parametrize(("pairs", "between"), [(1, 0.0), (2, 0.0), (2, 0.03), (3, 0.01), (6, 0.02), (10, 0.0)])
def test_the_interval_holds_the_truth_as_often_as_it_says(pairs, between):
    """Made pairs whose true gains scatter around 0.02, seen through images that all of them share."""
    rng = np.random.default_rng(pairs)
    times, n = 600, 400
    own, shared = 0.4 / n, 0.2 / n
    covariance = shared * np.ones((pairs, pairs)) + own * np.eye(pairs)
    held = 0
    for _ in range(times):
        values = rng.normal(0.02, between, pairs) + rng.multivariate_normal(np.zeros(pairs), covariance)
        estimate = mean_over_pairs(values, covariance, n).estimate()
        held += estimate.low <= 0.02 <= estimate.high
    # What is cut off at nought, of the variance between pairs, makes it somewhat too narrow: at most by 4 points.
    assert binomtest(held, times, 0.91, alternative="less").pvalue > 0.001, held / times
