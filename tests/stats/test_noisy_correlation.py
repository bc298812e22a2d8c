"""Pearson's correlation of what is known by images only: against Fisher's, and by how often it holds the truth."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest, chisquare, poisson

from oodometer.stats.correlation import pearson
from oodometer.stats.correlation_over_images import OverImages
from oodometer.stats.noisy_correlation import pearson_of_noisy
from oodometer.stats.photographs import means_in_draws, photograph_counts

DRAWS = 200


def test_without_noise_it_is_fishers_interval():
    x, y = np.random.default_rng(3).normal(size=(2, 15)) + np.linspace(0, 2, 15)
    found = pearson_of_noisy(OverImages(x, y, np.repeat([x], 50, axis=0), np.repeat([y], 50, axis=0)), level=0.9)
    plain = pearson(x, y, level=0.9)
    assert (found.value, found.low, found.high) == pytest.approx((plain.value, plain.low, plain.high))
    assert found.interval == "fisher z over models and images 90%"


def test_where_all_is_noise_there_is_none():
    rng = np.random.default_rng(5)
    x, y = rng.normal(scale=0.01, size=(2, 6))
    found = pearson_of_noisy(OverImages(x, y, *(values + rng.normal(size=(300, 6)) for values in (x, y))))
    assert (found.low, found.interval) == (None, "none: the images explain all that the models differ by")


def noisy(truth: np.ndarray, noise: float, shared: float, rng: np.random.Generator) -> OverImages:
    """Values with noise of which a share is the same in both, and resamples of it."""

    def some(n: int) -> np.ndarray:
        own, both = rng.normal(size=(2, n, truth.shape[1])), rng.normal(size=(n, truth.shape[1]))
        return noise * (np.sqrt(1 - shared) * own + np.sqrt(shared) * both)

    x, y = truth + some(1)[:, 0]
    draws = some(DRAWS)
    return OverImages(x, y, x + draws[0], y + draws[1])


@pytest.mark.slow
@pytest.mark.parametrize("n", [10, 60])
@pytest.mark.parametrize("r", [0.0, 0.9])
@pytest.mark.parametrize("shared", [0.0, 0.6])
def test_coverage(n, r, shared):
    """Normal values with noise of 0.7 of their spread, of which Fisher's interval alone covers down to 0 %."""
    rng, held, told = np.random.default_rng([n, int(10 * r), int(10 * shared)]), 0, 0
    for _ in range(200):
        first, other = rng.normal(size=(2, n))
        found = pearson_of_noisy(noisy(np.stack([first, r * first + np.sqrt(1 - r * r) * other]), 0.7, shared, rng))
        if found.low is not None:
            told, held = told + 1, held + (found.low <= r <= found.high)
    assert told > 150
    assert binomtest(held, told, 0.95, alternative="less").pvalue > 0.001, (held, told)


def test_photographs_count_as_poisson_has_it_and_each_by_itself():
    counts = photograph_counts((f"photo {n}" for n in range(400)), 500, seed=3)
    seen = np.bincount(counts.ravel(), minlength=6)[:6]
    expected = poisson.pmf(np.arange(6), 1)  # reference: scipy
    assert chisquare(seen, expected / expected.sum() * seen.sum()).pvalue > 0.001
    together = np.corrcoef(counts.T.astype(float))[np.triu_indices(400, 1)]
    assert abs(together.mean()) < 0.001  # of 79,800 pairs, each with an error of 0.045
    assert together.std() == pytest.approx(1 / np.sqrt(500), rel=0.05)
    assert (photograph_counts(["photo 7"], 500, seed=3)[:, 0] == counts[:, 7]).all()
    assert (photograph_counts(["photo 7"], 500, seed=4)[:, 0] != counts[:, 7]).any()


@pytest.mark.parametrize("dtype", [float, bool])
@pytest.mark.parametrize("n", [3, 400])  # so few that they are not kept, and so many that they are
def test_means_in_draws_are_weighted_means(n, dtype):
    scores = np.random.default_rng(n).integers(0, 2 if dtype is bool else 9, size=(2, n)).astype(dtype)
    names = [f"photo {at}" for at in range(n)]
    counts = photograph_counts(names, 60, seed=3)
    counts = counts[counts.sum(axis=1) > 0]
    expected = [[np.average(row, weights=times) for row in scores] for times in counts]  # reference: numpy
    with np.errstate(invalid="ignore"):
        for _ in range(2):  # the second time they are known
            found = means_in_draws(scores, names, 60, seed=3)
            assert found[np.isfinite(found[:, 0])] == pytest.approx(np.array(expected))
    if n > 3:
        assert (means_in_draws(scores, names[::-1], 60, seed=3) != found).any()  # other photographs, other means
