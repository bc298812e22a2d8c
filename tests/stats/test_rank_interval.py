"""Intervals of rank correlations by simulation: what is drawn against closed forms, and how often they cover."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from scipy.stats import binomtest, kendalltau, spearmanr

from oodometer.stats.correlation import kendall, spearman
from oodometer.stats.rank_interval import DRAWS, MOST_SIMULATED, STEP, _draws, rank_bounds

OURS = {"spearman": spearman, "kendall": kendall}
SCIPY = {"spearman": spearmanr, "kendall": kendalltau}


def of_normal(kind: str, r: float) -> float:
    # of a bivariate normal: 6/pi arcsin(r/2) and 2/pi arcsin(r) (Kruskal, JASA 53, 1958)
    return 6 / np.pi * np.arcsin(r / 2) if kind == "spearman" else 2 / np.pi * np.arcsin(r)


@pytest.mark.parametrize("kind", OURS)
def test_unrelated_values_are_drawn_like_permutations(kind):
    # reference: all 120 orders of five values, by scipy
    exact = np.array([SCIPY[kind](range(5), order).statistic for order in permutations(range(5))])
    drawn = _draws(kind, 5, 0)
    for value in np.unique(exact.round(9)):
        share = np.mean(exact >= value - 1e-6)
        assert binomtest(int(np.sum(drawn >= value - 1e-6)), DRAWS, share).pvalue > 1e-4


@pytest.mark.parametrize("step", [3, 12, 25])
@pytest.mark.parametrize("n", [6, 30])
def test_the_mean_of_the_draws_is_the_closed_form(n, step):
    r = np.tanh(step * STEP)
    tau, rho = of_normal("kendall", r), of_normal("spearman", r)
    # Kendall's is unbiased; of Spearman's the mean is ((n - 2) rho + 3 tau) / (n + 1) (Hoeffding, AMS 19, 1948).
    for kind, mean in (("kendall", tau), ("spearman", ((n - 2) * rho + 3 * tau) / (n + 1))):
        drawn = _draws(kind, n, step)
        assert drawn.mean() == pytest.approx(mean, abs=4 * drawn.std() / np.sqrt(DRAWS))


@pytest.mark.parametrize("kind", OURS)
@pytest.mark.parametrize("n", [4, 9, MOST_SIMULATED + 20])
def test_the_interval_holds_its_value_and_turns_with_it(kind, n):
    for value in (-1.0, -0.6, 0.0, 0.6, 1.0):
        low, high = rank_bounds(kind, value, n, 0.95)
        assert -1 <= low <= value <= high <= 1
        assert rank_bounds(kind, -value, n, 0.95) == pytest.approx((-high, -low), abs=1e-12)
        wider = rank_bounds(kind, value, n, 0.995)
        assert wider[0] <= low
        assert high <= wider[1]


@pytest.mark.parametrize("kind", OURS)
def test_ranks_that_agree_have_an_interval(kind):
    found = OURS[kind](np.arange(6.0), np.arange(6.0) ** 2)
    assert (found.value, found.high, found.interval) == (1, 1, "inverted rank test 95%")
    # As many as 2.5 in 100 sets have ranks that agree at the lower end: asked of fresh values there.
    r = 2 * np.sin(np.pi * found.low / 6) if kind == "spearman" else np.sin(np.pi * found.low / 2)
    rng = np.random.default_rng(7)
    x = rng.normal(size=(20_000, 6))
    y = r * x + np.sqrt(1 - r * r) * rng.normal(size=x.shape)
    agree = np.mean((x.argsort(axis=1) == y.argsort(axis=1)).all(axis=1))
    # A simulation of DRAWS sets has an error of 0.0025 here.
    assert agree == pytest.approx(0.025, abs=0.008)


@pytest.mark.parametrize("kind", OURS)
def test_more_models_than_are_simulated_go_on_without_a_jump(kind):
    before, after = (rank_bounds(kind, 0.8, n, 0.95) for n in (MOST_SIMULATED, MOST_SIMULATED + 1))
    assert after == pytest.approx(before, abs=0.004)
    assert before[0] < after[0]


@pytest.mark.slow
@pytest.mark.parametrize("r", [0.0, 0.5, 0.8, 0.97, 0.99])
@pytest.mark.parametrize("n", [5, 10, 20, 70, 338])
@pytest.mark.parametrize("kind", OURS)
def test_it_covers_what_it_says(kind, n, r):
    # A coverage of 0.94 or more fails with probability below 0.001; of 5 models it is up to 0.99, for there are few
    # orders that they can be in.
    sets, rng = 400, np.random.default_rng([n, int(1000 * r)])
    x = rng.normal(size=(sets, n))
    y = r * x + np.sqrt(1 - r * r) * rng.normal(size=(sets, n))
    found = [OURS[kind](*values) for values in zip(x, y, strict=True)]
    truth = of_normal(kind, r)
    hits = sum(estimate.low <= truth <= estimate.high for estimate in found)
    assert binomtest(hits, sets, 0.94, alternative="less").pvalue > 0.001
    assert hits < sets or n == 5


@pytest.mark.slow
@pytest.mark.parametrize("r", [0.5, 0.8, 0.97])
@pytest.mark.parametrize("kind", OURS)
def test_it_covers_with_some_ties(kind, r):
    # Printed to 0.1 and so tied now and then, as in the papers' tables.
    sets, n, rng = 400, 10, np.random.default_rng(int(100 * r))
    x = rng.normal(size=(sets, n))
    y = r * x + np.sqrt(1 - r * r) * rng.normal(size=(sets, n))
    found = [OURS[kind](*values) for values in zip(np.round(x, 1), np.round(y, 1), strict=True)]
    truth = of_normal(kind, r)
    hits = sum(estimate.low <= truth <= estimate.high for estimate in found)
    assert binomtest(hits, sets, 0.94, alternative="less").pvalue > 0.001
