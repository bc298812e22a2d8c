"""How many images models miss together by chance: scipy's Poisson-binomial, and how often the p-value is small."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, binomtest, poisson_binom

from oodometer.core.errors import OodometerError
from oodometer.stats.missed_together import missed_together, number_missing

quick = settings(deadline=None, derandomize=True, max_examples=80)


@quick
@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_the_number_missing_is_scipys(rates):
    expected = poisson_binom(rates).pmf(np.arange(len(rates) + 1))  # reference: scipy
    np.testing.assert_allclose(number_missing(np.array(rates)), expected, atol=1e-12)


def test_equal_rates_are_a_binomial():
    np.testing.assert_allclose(number_missing(np.full(9, 0.3)), binom.pmf(np.arange(10), 9, 0.3), atol=1e-15)


def test_counts_of_a_plain_loop():
    right = np.random.default_rng(0).random((5, 300)) < 0.6
    for one in missed_together(right):
        hits = sum(1 for image in right.T if (~image).sum() >= one.by)
        chance = poisson_binom(1 - right.mean(axis=1)).sf(one.by - 1)
        assert one.found == hits
        assert one.expected == pytest.approx(300 * chance)
        assert one.p_value == pytest.approx(binom.sf(hits - 1, 300, chance))


def test_edges():
    perfect = missed_together(np.ones((3, 10), dtype=bool))
    assert [(one.by, one.found, one.expected, one.p_value) for one in perfect] == [(k, 0, 0.0, 1.0) for k in (3, 2, 1)]
    hopeless = missed_together(np.zeros((2, 10), dtype=bool))
    assert [(one.found, one.expected, one.p_value) for one in hopeless] == [(10, 10.0, 1.0)] * 2
    for wrong in (np.ones(3, dtype=bool), np.ones((2, 3)), np.ones((0, 3), dtype=bool)):
        with pytest.raises(OodometerError, match="bool of models by images"):
            missed_together(wrong)
    for rates in ([], [1.5], [[0.1]]):
        with pytest.raises(OodometerError, match="one share between 0 and 1"):
            number_missing(np.array(rates))


@pytest.mark.parametrize("rates", [(0.3, 0.3, 0.3), (0.1, 0.4, 0.6, 0.5)])
def test_independent_errors_are_called_chance_as_often_as_the_p_value_says(rates):
    rng, times, m = np.random.default_rng(4), 2000, len(rates)
    small = np.zeros(m, dtype=int)
    for _ in range(times):
        right = rng.random((m, 400)) >= np.array(rates)[:, None]
        small += [one.p_value <= 0.05 for one in missed_together(right)]
    for number in small.tolist():
        assert binomtest(number, times, 0.05, alternative="greater").pvalue > 0.001


def test_common_difficulty_is_seen():
    rng = np.random.default_rng(5)
    hard = rng.normal(size=400)
    right = rng.normal(size=(4, 400)) + hard > -0.7
    first = missed_together(right)[0]
    assert first.found > 3 * first.expected
    assert first.p_value < 1e-6
