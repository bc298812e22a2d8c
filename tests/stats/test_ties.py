"""Which models can be told apart, against the definitions and against tests of single pairs."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from oodometer.stats.paired import PairedCounts, mcnemar_exact
from oodometer.stats.ties import holm, p_of_counts, p_of_differences, tie_groups, told_apart


def test_holm_by_its_definition():
    p = np.random.default_rng(0).random(30) ** 3
    order = np.argsort(p)
    # Holm 1979: the k-th smallest is compared with level / (m - k + 1), and nothing after the first that is not below.
    for level in (0.05, 0.2):
        rejected = set()
        for step, at in enumerate(order):
            if p[at] > level / (len(p) - step):
                break
            rejected.add(int(at))
        assert set(np.flatnonzero(holm(p) <= level).tolist()) == rejected


def test_unknown_p_values_stay_unknown_and_are_not_counted():
    adjusted = holm(np.array([0.01, np.nan, 0.03]))
    np.testing.assert_allclose(adjusted, [0.02, np.nan, 0.03])


def test_p_values_of_counts_are_mcnemars():
    right = np.random.default_rng(1).random((4, 60)) < np.array([[0.5], [0.6], [0.9], [0.9]])
    p = p_of_counts(right)
    for a, b in itertools.permutations(range(4), 2):
        counts = PairedCounts(
            int((right[a] & right[b]).sum()),
            int((right[a] & ~right[b]).sum()),
            int((~right[a] & right[b]).sum()),
            int((~right[a] & ~right[b]).sum()),
        )
        assert p[a, b] == pytest.approx(mcnemar_exact(counts), abs=1e-12)


def test_models_that_never_differ_are_not_told_apart():
    p = p_of_differences(np.array([0.5, 0.5, 0.9]), np.array([[0, 0, 1e-6], [0, 0, 1e-6], [1e-6, 1e-6, 0]]))
    assert p[0, 1] == 1
    assert told_apart(p, 0.95).tolist() == [[False, False, True], [False, False, True], [True, True, False]]


def test_without_a_variance_nothing_is_told_apart():
    p = p_of_differences(np.array([0.1, 0.9]), np.full((2, 2), np.nan))
    assert np.isnan(p[0, 1])
    assert not told_apart(p, 0.95).any()


@pytest.mark.slow
def test_equal_models_are_told_apart_in_at_most_the_share_that_is_promised():
    rng = np.random.default_rng(2)
    wrong = [told_apart(p_of_counts(rng.random((8, 300)) < 0.7), 0.95).any() for _ in range(400)]
    # Exact tests and Holm's steps are both on the safe side; 3 standard errors of 400 draws are 0.033.
    assert np.mean(wrong) <= 0.05 + 0.033


@pytest.mark.parametrize(
    ("apart_pairs", "groups"),
    [
        ([], [(0, 3)]),
        ([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)], [(0, 0), (1, 1), (2, 2), (3, 3)]),
        ([(0, 3)], [(0, 2), (1, 3)]),
        ([(0, 2), (0, 3), (1, 2), (1, 3)], [(0, 1), (2, 3)]),
    ],
)
def test_groups_are_the_longest_runs_of_ties(apart_pairs, groups):
    apart = np.zeros((4, 4), bool)
    for a, b in apart_pairs:
        apart[a, b] = apart[b, a] = True
    assert tie_groups(apart, [0, 1, 2, 3]) == groups


def test_groups_follow_the_order():
    apart = np.array([[False, True, True], [True, False, False], [True, False, False]])
    assert tie_groups(apart, [2, 1, 0]) == [(0, 1), (2, 2)]
