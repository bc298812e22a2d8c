"""The bootstrap over conditions whose images were drawn apart."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest

from oodometer.stats.bootstrap import Resampling
from oodometer.stats.drawn_apart import errors_drawn_apart

REPETITIONS = 1000
DRAWS = Resampling(draws=400)


def kinds_of(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Counts of the four kinds, where each is wrong, (n,) bool both."""
    return np.bincount(2 * first.astype(int) + second, minlength=4)


def test_its_first_row_is_what_was_seen():
    rng = np.random.default_rng(0)
    first, second = rng.random((2, 3, 80)) < 0.4
    kinds = np.stack([kinds_of(a, b) for a, b in zip(first, second, strict=True)])
    seen = errors_drawn_apart(kinds, DRAWS)[0]
    assert seen.tolist() == pytest.approx([*first.mean(axis=1), *second.mean(axis=1)])


def test_variances_and_covariances_are_those_of_the_multinomial():
    # closed form: var of an error p(1 − p) / n; covariance of the two (p₁₁ − p₁ p₂) / n; none between conditions
    kinds = np.array([[50, 10, 20, 20], [10, 60, 20, 10]])
    draws = errors_drawn_apart(kinds, Resampling(draws=100_000))[1:]
    found = np.cov(draws, rowvar=False) * 100
    shares = kinds / 100
    first, second = shares[:, 2] + shares[:, 3], shares[:, 1] + shares[:, 3]
    expected = np.diag(np.concatenate([first * (1 - first), second * (1 - second)]))
    for at in range(2):
        expected[at, 2 + at] = expected[2 + at, at] = shares[at, 3] - first[at] * second[at]
    assert np.abs(found - expected).max() < 0.01


def test_resamples_belong_to_the_seed_alone():
    kinds = np.array([[50, 10, 20, 20]])
    same = errors_drawn_apart(kinds, DRAWS)
    assert (errors_drawn_apart(kinds, DRAWS) == same).all()
    assert (errors_drawn_apart(kinds, Resampling(draws=400, seed=1)) != same).any()


@pytest.mark.slow
def test_percentiles_of_a_mean_over_conditions_hold_it_as_often_as_they_say():
    # simulation, 1,000 sets of 15 conditions x 60 images: at least 95 % less what chance takes away
    rng = np.random.default_rng(3)
    errors = np.linspace(0.1, 0.7, 15)
    held = 0
    for _ in range(REPETITIONS):
        wrong = rng.binomial(60, errors)
        kinds = np.stack([60 - wrong, np.zeros(15, dtype=int), wrong, np.zeros(15, dtype=int)], axis=1)
        draws = errors_drawn_apart(kinds, DRAWS)[1:, :15].mean(axis=1)
        low, high = np.quantile(draws, [0.025, 0.975])
        held += low <= errors.mean() <= high
    assert binomtest(held, REPETITIONS, 0.94, alternative="less").pvalue > 0.001
    assert held < REPETITIONS * 0.985, "and no wider than that needs"
