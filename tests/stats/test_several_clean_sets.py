"""Planes over several clean sets: against statsmodels, and against lines where there is one set."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, logit
from scipy.stats import binomtest
from statsmodels.api import OLS, WLS, add_constant

from oodometer.core.errors import OodometerError
from oodometer.core.random import rng_for
from oodometer.stats.bootstrap import Resampling
from oodometer.stats.effective_robustness import effective_robustness, rho_from_counts
from oodometer.stats.lines import bootstrap_lines, fit_line, resampled_counts
from oodometer.stats.scales import SCALES, from_scale, to_scale
from oodometer.stats.several_clean_sets import Plane, bootstrap_planes, fit_plane, rho_from_several_counts

quick = settings(deadline=None, derandomize=True, max_examples=30)


def table(seed: int, models: int = 12, sets: int = 2) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.uniform(0.3, 0.9, (models, sets)), rng.uniform(0.2, 0.8, models)


@pytest.mark.parametrize("scale", SCALES)
@quick
@given(seed=st.integers(0, 1000), sets=st.integers(1, 4))
def test_planes_agree_with_statsmodels(scale, seed, sets):
    x, y = table(seed, sets=sets)
    plane = fit_plane(x, y, scale=scale)
    # reference: statsmodels' OLS on the scale
    expected = OLS(to_scale(y, scale), add_constant(to_scale(x, scale))).fit()
    assert (plane.intercept, *plane.slopes) == pytest.approx(tuple(expected.params), abs=1e-8)
    assert plane.r2 == pytest.approx(expected.rsquared, abs=1e-9)
    assert (plane.n, plane.left_out) == (12, 0)
    assert plane.at(x) == pytest.approx(from_scale(expected.fittedvalues, scale), abs=1e-9)
    assert effective_robustness(x, y, plane) == pytest.approx(y - plane.at(x))


def test_one_set_is_a_line():
    x, y = table(1, sets=1)
    plane, line = fit_plane(x, y), fit_line(x[:, 0], y)
    assert (plane.slopes[0], plane.intercept, plane.r2) == pytest.approx((line.slope, line.intercept, line.r2))
    assert plane.at(x) == pytest.approx(line.at(x[:, 0]))


def test_models_at_nothing_and_everything_are_left_out_and_counted():
    x, y = table(2)
    plain = fit_plane(x, y)
    more = fit_plane(np.vstack([x, [[0.5, 1.0], [0.5, 0.6]]]), np.append(y, [0.5, 0.0]))
    assert (more.slopes, more.n, more.left_out) == (plain.slopes, 12, 2)


def test_a_model_robust_on_one_set_only_is_not_robust_on_both():
    # Shifted accuracy is the mean of two clean ones; a model trained for the second looks robust beside the first.
    x, _ = table(3, models=20)
    x[:19, 1] = x[:19, 0] - 0.1 + 0.01 * np.cos(np.arange(19))
    x[19] = [0.5, 0.8]
    y = x.mean(axis=1)
    line, plane = fit_line(x[:19, 0], y[:19], scale="linear"), fit_plane(x[:19], y[:19], scale="linear")
    assert effective_robustness(0.5, y[19], line) > 0.1
    assert effective_robustness(x[19], y[19], plane) == pytest.approx(0, abs=1e-9)


def test_as_many_models_as_unknowns_and_one_more():
    x, y = table(4, models=4)
    assert fit_plane(x, y).n == 4
    with pytest.raises(OodometerError, match="3 models for 2 clean sets: at least 4 are needed"):
        fit_plane(x[:3], y[:3])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda x, y: (x[:, 0], y), "expected"),
        (lambda x, y: (x, y[:-1]), "expected"),
        (lambda x, y: (x[:, :0], y), "expected"),
        (lambda x, y: (np.where(x > 0.8, np.nan, x), y), "not measured"),
        (lambda x, y: (x * 100, y), "divide percentages"),
        (lambda x, y: (x[:, [0, 0]], y), "leave a set out"),
        (lambda x, y: (x, np.full_like(y, 0.5)), "same shifted accuracy"),
        (lambda x, y: (x, np.where(np.arange(12) > 2, 0.0, y)), r"3 models \(9 at exactly 0 % or 100 % left out\)"),
    ],
)
def test_what_determines_no_plane_is_an_error(change, message):
    with pytest.raises(OodometerError, match=message):
        fit_plane(*change(*table(5)))


def test_limits_and_places_without_a_value():
    plane = Plane("logit", (0.5, 0.5), 0.0, 1, 9, 0)
    assert plane.at([[0.0, 0.5], [1.0, 0.5], [0.5, 0.5]]).tolist() == [0.0, 1.0, 0.5]
    assert np.isnan(plane.at([np.nan, 0.5]))
    with pytest.raises(OodometerError, match="no value there"):
        plane.at([0.0, 1.0])
    with pytest.raises(OodometerError, match="one column for each of 2 sets"):
        plane.at([0.5, 0.5, 0.5])


@pytest.mark.parametrize("scale", SCALES)
def test_bootstrap_agrees_with_a_plain_loop_over_the_same_resamples(scale):
    x, y = table(6)
    x[:, 1] = np.clip(x[:, 0] + 0.01 * x[:, 1], 0, 1)  # sets that hardly differ, as two of ImageNet do
    found = bootstrap_planes(x, y, scale=scale, draws=100, seed=7)
    counts = resampled_counts(12, 100, rng_for("bootstrap over models", seed=7))
    # reference: statsmodels' weighted least squares, one draw at a time
    for draw, weights in enumerate(counts):
        expected = WLS(to_scale(y, scale), add_constant(to_scale(x, scale)), weights=weights).fit()
        assert (found.intercepts[draw], *found.slopes[draw]) == pytest.approx(tuple(expected.params), rel=1e-5)
    assert found.undefined == 0


def test_draws_that_determine_no_plane_are_drawn_again_and_counted():
    x, y = table(7, models=4)
    found = bootstrap_planes(x, y, draws=3000)
    assert found.slopes.shape == (3000, 2)
    assert np.isfinite(found.slopes).all()
    # reference: at least three different models of four are in (24 + 144)/4⁴ of all draws; six standard errors
    total = 3000 + found.undefined
    assert found.undefined / total == pytest.approx(88 / 256, abs=6 * np.sqrt(0.226 / total))


def test_with_one_set_draws_and_intervals_are_those_of_lines():
    x, y = table(8, models=12, sets=1)
    planes, lines = bootstrap_planes(x, y), bootstrap_lines(x[:, 0], y)
    assert planes.slopes[:, 0] == pytest.approx(lines.slopes)
    assert planes.intercepts == pytest.approx(lines.intercepts)
    for n in (500, None):
        several = rho_from_several_counts(x, y, [n], n, np.arange(12) < 9)
        single = rho_from_counts(x[:, 0], y, n, n, np.arange(12) < 9)
        for one, other in zip(several, single, strict=True):
            assert (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high))
            assert one.n == other.n
            assert one.interval == other.interval.replace("line", "plane")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"baseline": np.arange(12)}, "True or False"),
        ({"x": np.full((12, 2), np.nan)}, "not measured"),
        ({"n_x": [100, 100, 100]}, "numbers of images"),
        ({"resampling": Resampling(method="bca")}, "use percentile"),
    ],
)
def test_what_can_not_be_used_is_an_error(change, message):
    x, y = table(9)
    given = {"x": x, "y": y, "n_x": [100, 100], "n_y": 100, "baseline": np.ones(12, dtype=bool), **change}
    with pytest.raises(OodometerError, match=message):
        rho_from_several_counts(**given)


def test_at_least_one_draw():
    with pytest.raises(OodometerError, match="0 draws"):
        bootstrap_planes(*table(0), draws=0)


@pytest.mark.slow
@pytest.mark.parametrize(("models", "n"), [(20, 1000), (20, 50_000), (7, 50_000)])
def test_coverage_of_rho_from_several_counts(models, n):
    rng, trials, hits = rng_for("coverage of planes", models, n), 400, 0
    for trial in range(trials):
        u = rng.uniform(logit(0.5), logit(0.85), (models + 1, 2))
        y = expit(u @ [0.5, 0.4] - 0.5 + 0.1 * rng.normal(size=models + 1))
        u[0] = [1.0, 0.8]
        y[0] = expit(u[0] @ [0.5, 0.4] - 0.5) + 0.03
        x, y = rng.binomial(n, expit(u)) / n, rng.binomial(n, y) / n
        how = Resampling(draws=400, seed=trial)
        found = rho_from_several_counts(x, y, [n, n], n, np.arange(models + 1) > 0, resampling=how)[0]
        hits += found.low <= 0.03 <= found.high
    assert binomtest(hits, trials, 0.95, alternative="less").pvalue > 0.001
