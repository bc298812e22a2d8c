"""Intervals of a line over models and images: against statsmodels, and by how often they hold the true line."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.special import expit, ndtri
from scipy.stats import binomtest, norm
from scipy.stats import t as student

from oodometer.stats.bootstrap import Resampling, draws_of_means
from oodometer.stats.line_intervals import (
    LineSpread,
    band_of,
    image_draws,
    line_spread,
    moved_by_images,
    other_images,
    rise_of,
    spread_of_models,
)
from oodometer.stats.lines import fit_line, lines_in_draws
from oodometer.stats.scales import to_scale

SLOPE, INTERCEPT = 1.1, -0.8
SHARED = 0.6
"""The share of the variance of an answer that is the image's, the same for all models."""


def models(m: int, rng: np.random.Generator, scatter: float = 0.05) -> tuple[np.ndarray, np.ndarray]:
    """True accuracies of models that scatter about a line on the logit scale."""
    u = rng.uniform(0.2, 1.6, m)
    return expit(u), expit(SLOPE * u + INTERCEPT + scatter * rng.normal(size=m))


def answers(accuracy: np.ndarray, n: int, rng: np.random.Generator, images: np.ndarray | None = None) -> np.ndarray:
    """Whether models of these accuracies are right on n images, which are easy or hard for all of them."""
    images = rng.normal(size=n) if images is None else images
    own = rng.normal(size=(len(accuracy), n))
    return np.sqrt(SHARED) * images + np.sqrt(1 - SHARED) * own < ndtri(accuracy)[:, None]


@pytest.mark.parametrize("k", [1, 3])
def test_over_models_it_is_ordinary_least_squares(k):
    rng = np.random.default_rng(k)
    u = rng.normal(size=(12, k))
    v = u @ np.arange(1.0, k + 1) + rng.normal(size=12)
    reference = sm.OLS(v, sm.add_constant(u)).fit()  # statsmodels
    uneven = reference.get_robustcov_results("HC3").conf_int(0.1)
    spread = spread_of_models(u if k > 1 else u[:, 0], v)
    for at, both in enumerate(zip(reference.conf_int(0.1), uneven, strict=True)):
        low, high = max(both, key=np.ptp)
        found = spread.estimate(float(reference.params[at]), at, 12, 0.9)
        assert (found.low, found.high) == pytest.approx((low, high))
        assert (found.n, found.interval) == (12, "student-t over models alone 90%")


def test_the_band_is_that_of_the_mean_of_least_squares():
    rng = np.random.default_rng(4)
    x, y = models(9, rng)
    line = fit_line(x, y)
    places = np.array([0.56, 0.7, 0.83])
    low, high = band_of(line, line_spread(x, y, line), places)
    reference = sm.OLS(to_scale(y, "logit"), sm.add_constant(to_scale(x, "logit"))).fit()
    at = sm.add_constant(to_scale(places, "logit"))
    both = [fit.get_prediction(at).conf_int(alpha=0.05) for fit in (reference, reference.get_robustcov_results("HC3"))]
    bounds = np.where((np.ptp(both[0], axis=1) > np.ptp(both[1], axis=1))[:, None], *both)
    np.testing.assert_allclose(np.stack([low, high], axis=1), expit(bounds), rtol=1e-9)


def test_a_band_ends_where_all_lines_meet():
    x, y = models(9, np.random.default_rng(4))
    line = fit_line(x, y)
    low, high = band_of(line, line_spread(x, y, line), np.array([0.0, 1.0]))
    assert (low.tolist(), high.tolist()) == ([0.0, 1.0], [0.0, 1.0])


@pytest.mark.parametrize("same_images", [False, True])
def test_images_move_a_line_as_a_plain_loop_says(same_images):
    rng = np.random.default_rng(7)
    x, y = models(6, rng)
    right = answers(x, 300, rng), answers(y, 300, rng)
    line = fit_line(*(one.mean(axis=1) for one in right))
    resampling = Resampling(seed=3)
    found = moved_by_images(*right, line, same_images=same_images, resampling=resampling)
    few = Resampling(200, seed=3)
    draws = (draws_of_means(right[0].T, resampling=few), draws_of_means(right[1].T, resampling=few))
    if not same_images:
        draws = (draws[0], draws_of_means(right[1].T, resampling=other_images(few)))
    # numpy.polyfit, one draw after the other
    each = [np.polyfit(*(to_scale(one, "logit") for one in pair), 1)[::-1] for pair in zip(*draws, strict=True)]
    moved = np.array(each) - [line.intercept, line.slope]
    np.testing.assert_allclose(found, moved.T @ moved / 200, rtol=1e-9)


def test_both_parts_add_up_as_squares():
    spread = LineSpread(np.diag([0.04, 0.01]), np.diag([0.09, 0.001]), 3, np.diag([0.09, 0.16]))
    found = spread.estimate(1.0, 1, 5, 0.9)
    half = np.hypot(student.ppf(0.95, 3) * 0.1, norm.ppf(0.95) * 0.4)
    assert (found.low, found.high) == pytest.approx((1 - half, 1 + half))
    assert found.interval == "student-t over models and images 90%"


def test_too_few_images_for_a_line_leave_the_models():
    right = np.ones((3, 4), dtype=bool)
    right[0, 0] = False
    line = fit_line(np.array([0.5, 0.6, 0.7]), np.array([0.4, 0.45, 0.6]))
    assert moved_by_images(right, right, line, same_images=True, resampling=Resampling()) is None


def test_the_rise_of_a_straight_line_is_its_slope():
    x, y = models(9, np.random.default_rng(4))
    line = fit_line(x, y, scale="linear")
    spread = line_spread(x, y, line)
    found, slope = rise_of(line, spread, 0.6, 0.8), spread.estimate(line.slope, 1, 9, 0.95)
    assert (found.value, found.low, found.high) == pytest.approx((slope.value, slope.low, slope.high))
    assert (found.n, found.interval) == (9, slope.interval)


@pytest.mark.parametrize("scale", ["logit", "probit"])
def test_the_rise_of_a_bent_line_is_that_of_its_ends(scale):
    x, y = models(30, np.random.default_rng(5))
    line = fit_line(x, y, scale=scale)
    spread = line_spread(x, y, line)
    found = rise_of(line, spread, 0.6, 0.8)
    assert found.value == pytest.approx((line.at(0.8) - line.at(0.6)) / 0.2)
    # statsmodels: lines drawn from the covariance of least squares
    fit = sm.OLS(to_scale(y, scale), sm.add_constant(to_scale(x, scale))).fit()
    covariances = (fit.cov_params(), fit.get_robustcov_results("HC3").cov_params())
    rng, widths = np.random.default_rng(6), []
    for covariance in covariances:
        drawn = rng.multivariate_normal(fit.params, covariance, size=20_000)
        back = {"logit": expit, "probit": norm.cdf}[scale]
        ends = [back(drawn @ [1, to_scale(place, scale)]) for place in (0.6, 0.8)]
        widths.append((ends[1] - ends[0]).std() / 0.2)
    assert (found.high - found.low) / 2 == pytest.approx(student.ppf(0.975, 28) * max(widths), rel=0.03)


@pytest.mark.parametrize("m", [6, 15])
def test_coverage_of_the_rise(m):
    rng, times, held = np.random.default_rng(m), 1000, 0
    truth = (
        expit(SLOPE * to_scale(0.8, "logit") + INTERCEPT) - expit(SLOPE * to_scale(0.6, "logit") + INTERCEPT)
    ) / 0.2
    for _ in range(times):
        x, y = models(m, rng)
        line = fit_line(x, y)
        found = rise_of(line, line_spread(x, y, line), 0.6, 0.8)
        held += found.low <= truth <= found.high
    # a coverage of 94 % is denied one time in a thousand
    assert binomtest(held, times, 0.94, alternative="less").pvalue > 0.001


def test_images_of_one_draw_are_the_same_for_all_models():
    right = np.random.default_rng(5).random((1, 50)) < 0.5
    x, y = image_draws(np.repeat(right, 3, axis=0), right, same_images=True, resampling=Resampling())
    assert x.shape == (200, 3)
    assert (x == y).all()
    assert lines_in_draws(x, x, "linear").undefined == 200


@pytest.mark.slow
@pytest.mark.parametrize("same_images", [False, True])
@pytest.mark.parametrize(("m", "sets"), [(5, 200), (10, 200), (20, 200), (70, 80)])
def test_coverage(m, sets, same_images):
    rng = np.random.default_rng([m, same_images])
    place = 0.7
    covered = np.zeros(3, dtype=int)
    for _ in range(sets):
        x, y = models(m, rng)
        images = rng.normal(size=500) if same_images else None
        right = answers(x, 500, rng, images), answers(y, 500, rng, images)
        x, y = (one.mean(axis=1) for one in right)
        line = fit_line(x, y)
        moved = moved_by_images(*right, line, same_images=same_images, resampling=Resampling())
        spread = line_spread(x, y, line, by_images=moved)
        slope, intercept = spread.estimate(line.slope, 1, m, 0.95), spread.estimate(line.intercept, 0, m, 0.95)
        low, high = band_of(line, spread, np.array([place]))
        truth = expit(SLOPE * to_scale(place, "logit") + INTERCEPT)
        held = (slope.low <= SLOPE <= slope.high, intercept.low <= INTERCEPT <= intercept.high)
        covered += np.array([*held, low[0] <= truth <= high[0]])
    for number in covered.tolist():
        # a coverage of 94 % is denied one time in a thousand
        assert binomtest(number, sets, 0.94, alternative="less").pvalue > 0.001
