"""Means from few labels: as other libraries compute them, and holding the truth as often as they say."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.stats import binomtest

from oodometer.core.errors import OodometerError
from oodometer.stats.finite_share import finite_share_of
from oodometer.stats.paired import PairedCounts, paired_difference
from oodometer.stats.prediction_powered import (
    FEWEST_LABELS,
    FEWEST_OF_EACH,
    labelled_images,
    mean_from_few,
    plain_mean,
    regression,
)
from oodometer.stats.unequal_sample import draw, inclusion_probabilities, neyman_sizes

REPETITIONS = 2000
N = 5000


def made(a: float, b: float, *, seed: int = 0, n: int = N) -> tuple[np.ndarray, np.ndarray]:
    """Chances of being right, from a beta distribution, and what came of them."""
    rng = np.random.default_rng(seed)
    chances = rng.beta(a, b, n)
    return chances, rng.random(n) < chances


# References


@pytest.mark.parametrize("k", [0, 1, 3])
def test_of_a_plain_sample_it_is_least_squares_with_the_jackknifes_variance(k):
    # reference: statsmodels' OLS at the mean of the proxies, HC3; times 1 - n/N, since the set is finite
    rng = np.random.default_rng(k)
    proxies, some = rng.normal(size=(1000, k)), rng.permutation(1000)[:120]
    values = rng.normal(size=120) + proxies[some].sum(axis=1)
    found = regression(values, proxies, labelled_images(some, 1000))
    fit = sm.OLS(values, np.column_stack([np.ones(120), proxies[some]])).fit(cov_type="HC3")
    there = np.concatenate([[1.0], proxies.mean(axis=0)])
    assert found.mean == pytest.approx(there @ fit.params)
    assert found.variance == pytest.approx((1 - 0.12) * there @ fit.cov_params() @ there)
    assert found.free == fit.df_resid
    assert found.slopes == pytest.approx(fit.params[1:])


def test_of_an_unequal_sample_it_is_weighted_least_squares():
    # reference: statsmodels' WLS with weights 1 / probability, HC3; so few are drawn that the set is as good as endless
    rng = np.random.default_rng(5)
    proxies, some = rng.normal(size=(10**6, 2)), rng.permutation(10**6)[:150]
    values, chances = rng.normal(size=150) + proxies[some, 0], rng.uniform(0.5e-9, 2e-9, 150)
    found = regression(values, proxies, labelled_images(some, 10**6, chances))
    fit = sm.WLS(values, np.column_stack([np.ones(150), proxies[some]]), weights=1 / chances).fit(cov_type="HC3")
    there = np.concatenate([[1.0], proxies.mean(axis=0)])
    assert found.mean == pytest.approx(there @ fit.params)
    assert found.variance == pytest.approx(there @ fit.cov_params() @ there, rel=1e-6)


def test_it_is_ppi_plus_plus():
    # reference: ppi-python 0.2.3, whose target is the population that the set is drawn from; with a set that is much
    # larger than the sample the two are the same but for the degrees of freedom
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ppi = pytest.importorskip("ppi_py", reason="ppi-python is not installed")
    chances, right = made(2, 1, seed=1, n=100_000)
    some = np.random.default_rng(1).permutation(len(right))[:500]
    rest = np.setdiff1d(np.arange(len(right)), some)
    found = mean_from_few(right[some], chances, labelled_images(some, len(right))).estimate
    answers = right[some].astype(float)
    value = ppi.ppi_mean_pointestimate(answers, chances[some], chances[rest])
    low, high = ppi.ppi_mean_ci(answers, chances[some], chances[rest], alpha=0.05)
    # they divide by the variance of the proxy over all images, least squares by that over the labelled ones
    assert found.value == pytest.approx(np.asarray(value).item(), abs=(found.high - found.low) / 50)
    assert found.high - found.low == pytest.approx(float(np.asarray(high - low).item()), rel=0.01)


def test_without_proxies_it_is_what_the_labels_say():
    # reference: finite_share_of and paired_difference, which are tested where they are
    outcomes = np.arange(200) < 130
    labelled = labelled_images(np.arange(200), 9000)
    assert plain_mean(outcomes, labelled) == finite_share_of(130, 200, of=9000)
    signs = np.repeat([-1, 0, 1], [20, 150, 30])
    assert plain_mean(signs, labelled) == paired_difference(PairedCounts(150, 20, 30, 0))


def test_with_all_labels_nothing_is_unsure():
    chances, right = made(2, 1, n=400)
    found = mean_from_few(right, chances, labelled_images(np.arange(400), 400))
    assert found.estimate.value == pytest.approx(right.mean())
    assert found.estimate.high - found.estimate.low == pytest.approx(0, abs=1e-12)
    assert found.worth == pytest.approx(400)


def test_a_perfect_proxy_needs_no_more_labels():
    _, right = made(2, 1)
    some = np.random.default_rng(0).permutation(N)[:200]
    found = mean_from_few(right[some], right.astype(float), labelled_images(some, N))
    assert found.estimate.value == pytest.approx(right.mean())
    assert found.estimate.high - found.estimate.low < 1e-9
    assert found.worth == pytest.approx(N)


@pytest.mark.parametrize("equal", [True, False])
def test_nothing_depends_on_the_order_of_labels_or_the_scale_of_proxies(equal):
    chances, right = made(2, 1)
    rng = np.random.default_rng(2)
    some = rng.permutation(N)[:200]
    probabilities = None if equal else rng.uniform(0.02, 0.06, 200)
    proxies = np.column_stack([chances, rng.normal(size=N)])
    found = mean_from_few(right[some], proxies, labelled_images(some, N, probabilities))
    other = rng.permutation(200)
    turned = None if probabilities is None else probabilities[other]
    again = mean_from_few(right[some][other], proxies * [-3, 7] + [5, 0], labelled_images(some[other], N, turned))
    assert again.estimate.value == pytest.approx(found.estimate.value)
    assert again.estimate.low == pytest.approx(found.estimate.low)
    assert again.worth == pytest.approx(found.worth)


# Where the proxies are not used


def test_few_labels_get_the_exact_interval():
    chances, right = made(2, 1)
    some = np.arange(FEWEST_LABELS - 1)
    found = mean_from_few(right[some], chances, labelled_images(some, N))
    assert found.estimate == found.plain == finite_share_of(int(right[some].sum()), len(some), of=N)
    assert (found.worth, found.saved, found.weights) == (len(some), 0, ())
    assert found.why_not == "fewer than 100 labels"


def test_near_one_the_interval_is_exact():
    chances, right = made(2, 1)
    right[:200] = np.arange(200) >= FEWEST_OF_EACH - 1
    found = mean_from_few(right[:200], chances, labelled_images(np.arange(200), N))
    assert found.estimate == finite_share_of(200 - FEWEST_OF_EACH + 1, 200, of=N)
    assert "right or wrong ones" in found.why_not


def test_a_proxy_that_is_worth_nothing_is_left_alone():
    right = np.arange(200) % 2 == 0
    proxy = np.zeros(N)
    proxy[2:200:4] = proxy[3:200:4] = 1.0  # as often with the right as with the wrong
    found = mean_from_few(right, proxy, labelled_images(np.arange(200), N))
    assert found.estimate == finite_share_of(100, 200, of=N)
    assert found.why_not == "the proxies tell nothing about the outcome"
    constant = mean_from_few(right, np.ones(N), labelled_images(np.arange(200), N))
    assert constant.why_not == "the proxies are the same for all images"
    assert constant.estimate == found.estimate


def test_too_many_proxies_are_left_alone():
    chances, right = made(2, 1)
    proxies = 0.1 * np.random.default_rng(0).normal(size=(N, 8)) + chances[:, None]
    found = mean_from_few(right[:150], proxies, labelled_images(np.arange(150), N))
    assert found.why_not == "fewer than 20 labels for each proxy"
    assert mean_from_few(right[:150], proxies[:, :7], labelled_images(np.arange(150), N)).why_not == ""


# Coverage


def share_that_holds(a: float, b: float, proxy: str, design: str, n: int, *, of: int = 1) -> tuple[int, int]:
    """In how many repetitions the interval and the plain interval hold the mean."""
    chances, right = made(a, b, seed=n)
    rng = np.random.default_rng(n + 1)
    known = {"good": chances, "crooked": chances**8, "nothing": rng.random(N)}[proxy]
    proxies = np.column_stack([known, *(rng.normal(size=N) + chances for _ in range(of - 1))])
    probabilities = inclusion_probabilities(neyman_sizes(known) if design == "neyman" else np.ones(N), n)
    truth, held, plain = right.mean(), 0, 0
    for _ in range(REPETITIONS):
        some = draw(probabilities, rng)
        found = mean_from_few(right[some], proxies, labelled_images(some, N, probabilities[some]))
        held += found.estimate.low <= truth <= found.estimate.high
        plain += found.plain.low <= truth <= found.plain.high
    return held, plain


@pytest.mark.slow
@pytest.mark.parametrize("n", [FEWEST_LABELS, 200])
@pytest.mark.parametrize("design", ["uniform", "neyman"])
@pytest.mark.parametrize("proxy", ["good", "crooked", "nothing"])
@pytest.mark.parametrize(("a", "b"), [(1.5, 0.5), (4.5, 0.5), (9.5, 0.5), (3, 3)])  # means .75, .9, .95, .5
def test_the_interval_holds_the_mean_as_often_as_it_says(a, b, proxy, design, n):
    # simulation, 2,000 repetitions, judged by a one-sided binomial test at 0.1 %
    for held in share_that_holds(a, b, proxy, design, n):
        assert binomtest(held, REPETITIONS, 0.95, alternative="less").pvalue > 0.001


@pytest.mark.slow
@pytest.mark.parametrize("design", ["uniform", "neyman"])
def test_five_proxies_at_a_hundred_labels_are_not_too_many(design):
    held, _ = share_that_holds(2, 1, "good", design, FEWEST_LABELS, of=5)
    assert binomtest(held, REPETITIONS, 0.95, alternative="less").pvalue > 0.001


@pytest.mark.slow
def test_it_is_worth_what_it_says():
    # simulation: the variance of the estimate against that of the share among as many labels; 5 % at 4,000 repetitions
    chances, right = made(1.5, 0.5, seed=3)
    rng = np.random.default_rng(4)
    rows = []
    for _ in range(4000):
        some = rng.permutation(N)[:200]
        found = mean_from_few(right[some], chances, labelled_images(some, N))
        rows.append((found.estimate.value, found.plain.value, found.worth))
    values, plain, worth = np.array(rows).T
    finite = 1 / (1 / 200 * values.var() / plain.var() * (1 - 200 / N) + 1 / N)  # of how many labels it is the variance
    assert worth.mean() == pytest.approx(finite, rel=0.06)


@pytest.mark.slow
@pytest.mark.parametrize("design", ["uniform", "neyman"])
def test_the_interval_of_a_difference_holds_it(design):
    # simulation, 2,000 repetitions, judged by a one-sided binomial test at 0.1 %
    rng = np.random.default_rng(6)
    easy, own = rng.normal(size=N), rng.normal(size=(2, N))
    right = easy + own * 0.7 < np.array([[0.8], [0.6]])
    proxy = easy + rng.normal(size=(2, N)) * 0.5 + own
    truth, held = right[0].mean() - right[1].mean(), 0
    sizes = np.ones(N) if design == "uniform" else neyman_sizes(1 / (1 + np.exp(2 * easy)))
    chances = inclusion_probabilities(sizes, 150)
    for _ in range(REPETITIONS):
        some = draw(chances, rng)
        signs = right[0, some].astype(int) - right[1, some]
        found = mean_from_few(signs, proxy[0] - proxy[1], labelled_images(some, N, chances[some])).estimate
        held += found.low <= truth <= found.high
    assert binomtest(held, REPETITIONS, 0.95, alternative="less").pvalue > 0.001


# Wrong uses


@pytest.mark.parametrize(
    ("outcomes", "proxies", "places", "probabilities", "said"),
    [
        (np.array([True]), np.ones(5), [], None, "no labelled images"),
        (np.array([True, True]), np.ones(5), [1, 1], None, "different ones of the 5"),
        (np.array([True]), np.ones(5), [7], None, "different ones of the 5"),
        (np.array([True]), np.ones(5), [1], [0.0], "the probability with which it was chosen"),
        (np.array([True, False]), np.ones(5), [1], None, "outcomes of shape"),
        (np.array([2]), np.ones(5), [1], None, "must be -1, 0 or 1"),
        (np.array([np.nan]), np.ones(5), [1], None, "some outcomes are NaN"),
        (np.array([True]), np.full(5, np.nan), [1], None, "some proxies are NaN"),
    ],
)
def test_wrong_uses_are_errors(outcomes, proxies, places, probabilities, said):
    def ask():
        chances = None if probabilities is None else np.array(probabilities)
        return mean_from_few(outcomes, proxies, labelled_images(np.array(places, dtype=int), 5, chances))

    with pytest.raises(OodometerError, match=said):
        ask()
