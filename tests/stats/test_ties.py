"""Which models can be told apart, against the definitions and against tests of single pairs."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import binom, chi2_contingency, fisher_exact

from oodometer.stats.corrections import CORRECTIONS, corrected
from oodometer.stats.paired import PairedCounts, mcnemar_exact
from oodometer.stats.ties import Standing, adjusted_pairs, p_of_counts, p_of_differences, p_of_shares, tie_groups


def told_apart(p_values: np.ndarray) -> np.ndarray:
    """Whether each pair differs, all pairs together at 95 % (Holm)."""
    return Standing.of(adjusted_pairs(p_values), range(len(p_values))).apart


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
    assert told_apart(p).tolist() == [[False, False, True], [False, False, True], [True, True, False]]


def test_where_all_differ_by_the_same_nothing_is_known():
    p = p_of_differences(np.array([0.9, 0.5]), np.zeros((2, 2)))
    assert np.isnan(p[0, 1])


def test_shares_of_other_images_against_scipy():
    for (a, n), (b, m) in itertools.product([(3, 3), (0, 3), (40, 50), (761, 1000), (50, 50)], repeat=2):
        found = p_of_shares(np.array([a / n, b / m]), np.array([n, m], dtype=float))
        table = np.array([[a, n - a], [b, m - b]])
        if table.sum(axis=0).all():
            assert found[0, 1] == pytest.approx(chi2_contingency(table, correction=True).pvalue)
        else:
            assert found[0, 1] == 1, "both right on all, or on none"
    few = p_of_shares(np.array([1.0, 0.0]), np.array([3.0, 3.0]))[0, 1]
    assert few == pytest.approx(fisher_exact([[3, 0], [0, 3]]).pvalue, abs=0.005)
    unknown = p_of_shares(np.array([0.5, 0.9]), np.array([np.nan, 100]))
    assert np.isnan(unknown[0, 1])


@pytest.mark.parametrize("alpha", [0.05, 0.001])
def test_shares_that_are_equal_are_told_apart_no_more_often_than_promised(alpha):
    # all outcomes of two binomial counts, each with its probability: no simulation
    for n, m, share in itertools.product((3, 10, 40), (5, 40), (0.5, 0.8, 0.97)):
        a, b = np.arange(n + 1), np.arange(m + 1)
        shares = np.concatenate([a / n, b / m])
        sizes = np.concatenate([np.full(n + 1, n), np.full(m + 1, m)]).astype(float)
        told = p_of_shares(shares, sizes)[: n + 1, n + 1 :] <= alpha
        wrong = np.outer(binom.pmf(a, n, share), binom.pmf(b, m, share))[told].sum()
        assert wrong <= alpha * (1.1 if alpha == 0.05 else 4), (n, m, share)


def test_the_rank_is_that_of_the_pairs_that_were_tested():
    p = np.array([[1, 0.01, 0.01], [0.01, 1, 0.01], [0.01, 0.01, 1]])
    differences = np.array([[0, -0.03, 0.2], [0.03, 0, 0.1], [-0.2, -0.1, 0]])
    standing = Standing.of(p, [0, 1, 2], differences=differences)
    assert [standing.rank_of(place) for place in range(3)] == [(2, 2), (1, 1), (3, 3)]
    turned = Standing.of(p, [2, 0, 1], differences=differences)
    assert [turned.rank_of(place) for place in range(3)] == [(3, 3), (2, 2), (1, 1)]


def test_without_a_variance_nothing_is_told_apart():
    p = p_of_differences(np.array([0.1, 0.9]), np.full((2, 2), np.nan))
    assert np.isnan(p[0, 1])
    assert not told_apart(p).any()


@pytest.mark.slow
def test_equal_models_are_told_apart_in_at_most_the_share_that_is_promised():
    rng = np.random.default_rng(2)
    wrong = [told_apart(p_of_counts(rng.random((8, 300)) < 0.7)).any() for _ in range(400)]
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


def random_standing(m: int, seed: int, *, unknown: float = 0.0) -> tuple[np.ndarray, Standing]:
    rng = np.random.default_rng(seed)
    p = np.triu(rng.random((m, m)) ** 2, 1)
    p[rng.random((m, m)) < unknown] = np.nan
    p = np.triu(p, 1) + np.triu(p, 1).T + np.eye(m)
    return p, Standing.of(p, list(rng.permutation(m)), 0.9)


@pytest.mark.parametrize("seed", range(20))
def test_two_models_share_a_letter_where_they_are_tied_and_only_there(seed):
    _, standing = random_standing(7, seed, unknown=0.2 * (seed % 2))
    for a, b in itertools.combinations(range(7), 2):
        assert bool(set(standing.letters[a]) & set(standing.letters[b])) == bool(standing.tied[a, b])
    for place in range(7):  # each letter is needed: no group lies in another one
        assert (not standing.letters[place]) == (standing.tested[place].sum() == 1)
    groups = {letter: {at for at in range(7) if letter in standing.letters[at]} for letter in "".join(standing.letters)}
    assert not any(one < other for one in groups.values() for other in groups.values())


def test_every_pair_has_one_of_three_states():
    p, standing = random_standing(9, 3, unknown=0.3)
    rng = np.random.default_rng(3)
    rng.random((9, 9)), rng.random((9, 9))
    order = rng.permutation(9)
    for a, b in itertools.permutations(range(9), 2):
        value = p[order[a], order[b]]
        state = (bool(standing.apart[a, b]), bool(standing.tied[a, b]), bool(~standing.tested[a, b]))
        assert state == (value <= 1 - 0.9, value > 1 - 0.9, np.isnan(value))
        assert (b in standing.tied_with(a)) == state[1]
        assert (b in standing.untested(a)) == state[2]


def test_ranks_lose_a_place_for_every_model_that_is_told_apart():
    p = np.array([[1, 0.5, 0.01], [0.5, 1, np.nan], [0.01, np.nan, 1]])
    standing = Standing.of(p, [0, 1, 2])
    assert [standing.rank_of(place) for place in range(3)] == [(1, 2), (1, 3), (2, 3)]
    assert standing.groups == [(0, 1), (2, 2)], "what can't be tested is no tie"
    assert standing.letters == ("a", "a", "b")


def test_of_many_groups_no_letters_are_told():
    m = 60
    near = np.abs(np.subtract.outer(np.arange(m), np.arange(m))) < 2
    standing = Standing.of(np.where(near, 1.0, 0.0), range(m))
    assert standing.letters == ("",) * m
    assert standing.rank_of(0) == (1, 2)


@pytest.mark.parametrize("correction", CORRECTIONS)
def test_pairs_are_adjusted_once_each(correction):
    p, _ = random_standing(6, 0, unknown=0.2)
    adjusted = adjusted_pairs(p, correction)
    above = np.triu_indices(6, 1)
    np.testing.assert_allclose(adjusted[above], corrected(p[above], correction))
    np.testing.assert_array_equal(adjusted, adjusted.T)


def test_mid_p_of_all_pairs():
    right = np.random.default_rng(1).random((3, 60)) < np.array([[0.5], [0.6], [0.9]])
    exact, mid = p_of_counts(right), p_of_counts(right, "mid-p")
    assert (mid <= exact).all()
    assert mid[0, 2] < exact[0, 2]


def test_thousands_that_are_all_tied_share_one_letter():
    standing = Standing.of(np.ones((2500, 2500)), range(2500))
    assert set(standing.letters) == {"a"}
    halves = np.where(np.not_equal.outer(np.arange(2500) < 900, np.arange(2500) < 900), 0.0, 1.0)
    assert Standing.of(halves, range(2500)).letters[::1250] == ("a", "b")


def test_thousands_of_whom_each_is_tied_with_all_but_one():
    pairs = np.where(np.arange(2400)[:, None] ^ 1 == np.arange(2400), 0.0, 1.0)
    assert set(Standing.of(pairs, range(2400)).letters) == {""}, "2^1200 groups"
    assert Standing.of(np.ones((0, 0)), []).letters == ()
    band = np.where(np.abs(np.subtract.outer(np.arange(1125), np.arange(1125))) > 1110, 0.0, 1.0)
    letters = Standing.of(band, range(1125)).letters
    assert not set(letters[0]) & set(letters[-1])
    assert set(letters[0]) & set(letters[1110])
