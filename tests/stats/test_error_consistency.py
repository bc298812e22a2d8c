"""Error consistency of many: scikit-learn pair by pair, and how often the intervals hold the true kappa."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import binomtest, multivariate_normal, norm
from sklearn.metrics import cohen_kappa_score

from oodometer.core.errors import OodometerError
from oodometer.metrics.agreement import error_consistency_matrix
from oodometer.stats.bootstrap import Resampling
from oodometer.stats.error_consistency import consistency_of_pairs, mean_consistency

quick = settings(deadline=None, derandomize=True, max_examples=60)
tables = st.integers(2, 5).flatmap(lambda r: arrays(bool, (r, 40)))


@quick
@given(tables, st.data())
def test_every_pair_is_scikit_learns_on_the_images_that_both_answered(right, data):
    answered = data.draw(arrays(bool, right.shape))
    found = {(pair.a, pair.b): pair for pair in consistency_of_pairs(right, answered, resampling=Resampling(100, 0.9))}
    for a, b in combinations(range(len(right)), 2):
        both = answered[a] & answered[b]
        if not both.any():
            assert (a, b) not in found
            continue
        pair = found[a, b]
        one, other = right[a][both], right[b][both]
        assert pair.together == (one == other).mean()
        if len(set(one.tolist()) | set(other.tolist())) < 2:
            assert pair.kappa is None
        else:
            assert pair.kappa.value == pytest.approx(cohen_kappa_score(one, other), abs=1e-9)  # scikit-learn
            assert pair.kappa.value == pytest.approx((pair.together - pair.by_chance) / (1 - pair.by_chance), abs=1e-9)


def test_where_all_answered_all_it_is_the_matrix():
    right = np.random.default_rng(0).random((6, 200)) < 0.7
    matrix = error_consistency_matrix(right)
    for pair in consistency_of_pairs(right):
        assert pair.kappa.value == pytest.approx(matrix[pair.a, pair.b])
    upper = matrix[np.triu_indices(6, 1)]
    assert mean_consistency(right).value == pytest.approx(upper.mean())
    among = np.zeros((6, 6), dtype=bool)
    among[0, 1:] = True
    assert mean_consistency(right, among=among).value == pytest.approx(matrix[0, 1:].mean())
    assert mean_consistency(right, among=np.zeros((6, 6), dtype=bool)) is None


def correlated(rng: np.random.Generator, accuracies: np.ndarray, n: int, r: float = 0.5) -> np.ndarray:
    """Answers whose latent normals correlate by r."""
    shared, own = rng.normal(size=n), rng.normal(size=(len(accuracies), n))
    return np.sqrt(r) * shared + np.sqrt(1 - r) * own < norm.ppf(accuracies)[:, None]


def true_kappa(a: float, b: float, r: float = 0.5) -> float:
    """By scipy's bivariate normal."""
    both = multivariate_normal(mean=[0, 0], cov=[[1, r], [r, 1]]).cdf([norm.ppf(a), norm.ppf(b)])
    by_chance = a * b + (1 - a) * (1 - b)
    return (2 * both + 1 - a - b - by_chance) / (1 - by_chance)


def test_the_linearised_error_is_that_of_a_jackknife():
    rng = np.random.default_rng(1)
    right = correlated(rng, np.array([0.6, 0.7, 0.8, 0.9]), 1500)
    answered = np.ones(right.shape, dtype=bool)
    answered[3, 600:] = False
    found = mean_consistency(right, answered)
    without = [
        mean_consistency(np.delete(right, at, axis=1), np.delete(answered, at, axis=1)).value for at in range(1500)
    ]
    error = np.sqrt(1499 / 1500 * ((np.array(without) - np.mean(without)) ** 2).sum())
    assert (found.high - found.low) / 2 / 1.9615 == pytest.approx(
        error, rel=0.01
    )  # Student's t, 1499 degrees of freedom
    assert found.n == 1500


@pytest.mark.parametrize("n", [100, 500])
def test_coverage_of_pairs(n):
    rng, times, held = np.random.default_rng([2, n]), 1000, 0
    accuracies = np.array([0.7, 0.8])
    truth = true_kappa(*accuracies)
    for seed in range(times):
        (pair,) = consistency_of_pairs(correlated(rng, accuracies, n), resampling=Resampling(seed=seed))
        held += pair.kappa.low <= truth <= pair.kappa.high
    # a percentile interval over so few images may be a little short; one of 93 % is denied one time in a thousand
    assert binomtest(held, times, 0.93, alternative="less").pvalue > 0.001


@pytest.mark.parametrize("missing", [False, True])
def test_coverage_of_the_mean(missing):
    rng, times, held = np.random.default_rng([3, missing]), 1000, 0
    accuracies = np.array([0.6, 0.7, 0.8, 0.85, 0.9])
    truth = np.mean([true_kappa(a, b) for a, b in combinations(accuracies, 2)])
    for _ in range(times):
        right = correlated(rng, accuracies, 400)
        answered = rng.random(right.shape) < 0.6 if missing else None
        found = mean_consistency(right, answered)
        held += found.low <= truth <= found.high
    # a coverage of 94 % is denied one time in a thousand
    assert binomtest(held, times, 0.94, alternative="less").pvalue > 0.001


def test_edges():
    same = np.tile(np.arange(50) < 30, (2, 1))
    assert mean_consistency(same).value == 1
    perfect = np.ones((2, 50), dtype=bool)
    assert consistency_of_pairs(perfect)[0].kappa is None
    assert mean_consistency(perfect) is None
    one_perfect = np.vstack([perfect[:1], same[:1]])
    assert consistency_of_pairs(one_perfect)[0].kappa.value == 0
    apart = np.array([[True] * 50, [False] * 50])
    assert not consistency_of_pairs(apart, np.array([[True, False] * 25, [False, True] * 25]))
    with pytest.raises(OodometerError, match="one rater"):
        mean_consistency(same[:1])
    with pytest.raises(OodometerError, match="expected one bool"):
        consistency_of_pairs(same.astype(int))
