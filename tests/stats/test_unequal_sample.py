"""Samples with known unequal probabilities: the probabilities are those of the draws, and their sum is how many."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import binomtest

from oodometer.core.errors import UsageError
from oodometer.stats.unequal_sample import FLOOR, draw, inclusion_probabilities, neyman_sizes

sizes_of_sets = arrays(np.float64, st.integers(2, 30), elements=st.floats(0.01, 10))


@given(sizes_of_sets, st.data())
def test_probabilities_sum_to_the_number_and_keep_the_proportions(sizes, data):
    n = data.draw(st.integers(1, len(sizes)))
    found = inclusion_probabilities(sizes, n)
    assert found.sum() == pytest.approx(n)
    assert ((found > 0) & (found <= 1)).all()
    open_ones = found < 1 - 1e-12
    if open_ones.any():
        shares = found[open_ones] / sizes[open_ones]
        assert np.ptp(shares) <= 1e-9 * shares.max()
        # closed form: a member is certain where its share of what is left would be 1 or more
        assert (sizes[~open_ones] * shares.max() >= 1 - 1e-9).all()


@given(sizes_of_sets, st.data())
def test_a_draw_has_as_many_members_and_none_twice(sizes, data):
    n = data.draw(st.integers(1, len(sizes)))
    probabilities = inclusion_probabilities(sizes, n)
    found = draw(probabilities, np.random.default_rng(data.draw(st.integers(0, 100))))
    assert len(np.unique(found)) == len(found) == n
    assert set(np.flatnonzero(probabilities == 1)) <= set(found.tolist())


def test_members_are_drawn_as_often_as_their_probabilities_say():
    # simulation, 20,000 draws; a binomial test of each member at 0.1 % / 12
    rng = np.random.default_rng(3)
    probabilities = inclusion_probabilities(rng.uniform(0.2, 3.0, 12), 5)
    times = np.zeros(12, dtype=int)
    for _ in range(20_000):
        times[draw(probabilities, rng)] += 1
    for count, probability in zip(times.tolist(), probabilities.tolist(), strict=True):
        assert binomtest(count, 20_000, min(probability, 1.0)).pvalue > 0.001 / 12


def test_the_sizes_are_neymans():
    # closed form: the spread of an answer that is right with chance p is the root of p (1 - p)
    assert neyman_sizes(np.array([[0.5, 0.8]])).tolist() == pytest.approx([0.5, 0.4])
    several = neyman_sizes(np.array([[0.5], [0.9]]))
    assert several.tolist() == pytest.approx([np.sqrt((0.25 + 0.09) / 2)])
    assert neyman_sizes(np.array([0.0, 1.0])).tolist() == [FLOOR, FLOOR]


def test_wrong_uses_are_errors():
    with pytest.raises(UsageError, match="choose at least one and at most all"):
        inclusion_probabilities(np.ones(3), 4)
    with pytest.raises(UsageError, match="a chance to be chosen"):
        inclusion_probabilities(np.array([1.0, 0.0]), 1)
    with pytest.raises(UsageError, match="between 0 and 1"):
        neyman_sizes(np.array([1.2]))
