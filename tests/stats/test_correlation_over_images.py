"""Correlations over models and images: against scipy, and by how often they hold the true correlation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, ndtri
from scipy.stats import binomtest, kendalltau, norm, pearsonr, spearmanr

from oodometer.stats.correlation import correlation_value, over_models_alone, pearson
from oodometer.stats.correlation_over_images import OverImages, correlation_over_images, hidden_share, over_images

SCIPY = {"pearson": pearsonr, "spearman": spearmanr, "kendall": kendalltau}


@pytest.mark.parametrize("kind", SCIPY)
@pytest.mark.parametrize("ties", [False, True])
def test_values_are_those_of_scipy(kind, ties):
    x, y = np.random.default_rng(2).normal(size=(2, 40)) + np.linspace(0, 2, 40)
    if ties:
        x, y = np.round(x), np.round(y, 1)
    assert correlation_value(kind, x, y) == pytest.approx(SCIPY[kind](x, y).statistic)


def test_without_noise_it_is_fishers_interval():
    x, y = np.random.default_rng(3).normal(size=(2, 15)) + np.linspace(0, 2, 15)
    still = OverImages(x, y, np.repeat([x], 50, axis=0), np.repeat([y], 50, axis=0))
    found, plain = correlation_over_images("pearson", still), pearson(x, y)
    assert (found.value, found.low, found.high) == pytest.approx((plain.value, plain.low, plain.high))
    assert found.interval == "fisher z over models and images 95%"
    assert over_models_alone(plain).interval == "fisher z over models alone 95%"


def test_the_variance_over_images_is_added_and_the_far_end_is_moved():
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(2, 15)) + np.linspace(0, 3, 15)
    draws = [values + 0.2 * rng.normal(size=(400, 15)) for values in (x, y)]
    models = OverImages(x, y, *draws)
    found = correlation_over_images("pearson", models, level=0.9)
    # the formula, one draw after the other
    z, drawn = np.arctanh(pearsonr(x, y).statistic), [pearsonr(*pair).statistic for pair in zip(*draws, strict=True)]
    half = norm.ppf(0.95) * np.sqrt(1 / 12 + np.arctanh(drawn).var())
    noise = np.mean([np.cov(a - x, b - y) for a, b in zip(*draws, strict=True)], axis=0)
    free = np.cov(x, y) - noise
    assert found.low == pytest.approx(np.tanh(z - half))
    whole = free[0, 1] / np.sqrt(free[0, 0] * free[1, 1])
    at_end = np.tanh(z + half) * whole / pearsonr(x, y).statistic
    assert found.high == pytest.approx(max(np.tanh(np.arctanh(whole) + half), min(at_end, 1.0)))
    assert found.value < free[0, 1] / np.sqrt(free[0, 0] * free[1, 1])


def test_where_all_is_noise_the_true_correlation_may_be_1():
    rng = np.random.default_rng(5)
    x, y = rng.normal(scale=0.01, size=(2, 6))
    models = OverImages(x, y, *(values + rng.normal(size=(300, 6)) for values in (x, y)))
    assert hidden_share(models) == np.inf
    found = correlation_over_images("pearson", models)
    assert (found.high if found.value > 0 else -found.low) == 1.0


@pytest.mark.parametrize("kind", ["spearman", "kendall"])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_perfect_order_has_an_interval(kind, sign):
    rng = np.random.default_rng(6)
    x = np.linspace(0.5, 0.8, 10)
    draws = [values + 0.01 * rng.normal(size=(200, 10)) for values in (x, sign * x)]
    found = correlation_over_images(kind, OverImages(x, sign * x, *draws))
    assert found.value == pytest.approx(sign)
    assert (found.high if sign > 0 else found.low) == sign
    assert 0.2 < (found.low if sign > 0 else -found.high) < 0.98


def test_four_models_are_too_few_for_kendalls():
    x = np.arange(4.0)
    found = correlation_over_images("kendall", OverImages(x, x, x[None], x[None]))
    assert (found.low, found.interval) == (None, "none: 4 models are too few for fieller")


@pytest.mark.slow
@pytest.mark.parametrize("scatter", [0.05, 0.15])
@pytest.mark.parametrize(("m", "sets"), [(5, 60), (10, 60), (20, 50)])
def test_coverage(m, sets, scatter):
    """Models that scatter about a line on the logit scale, on 500 images that are easy or hard for all."""
    rng = np.random.default_rng(m)

    def truths(size: int) -> tuple[np.ndarray, np.ndarray]:
        u = rng.uniform(0.2, 1.6, size)
        return expit(u), expit(1.1 * u - 0.8 + scatter * rng.normal(size=size))

    def answers(accuracy: np.ndarray) -> np.ndarray:
        images, own = rng.normal(size=500), rng.normal(size=(m, 500))
        return np.sqrt(0.6) * images + np.sqrt(0.4) * own < ndtri(accuracy)[:, None]

    many = truths(20_000)
    expected = {kind: of(*many).statistic for kind, of in SCIPY.items()}  # to 0.002, by simulation
    covered = dict.fromkeys(SCIPY, 0)
    for _ in range(sets):
        models = over_images(*(answers(side) for side in truths(m)), same_images=False)
        for kind, truth in expected.items():
            found = correlation_over_images(kind, models)
            covered[kind] += found.low <= truth <= found.high
    for kind, number in covered.items():
        # a coverage of 93 % is denied one time in a thousand
        assert binomtest(number, sets, 0.93, alternative="less").pvalue > 0.001, (kind, number)
