"""Lines through models: against numpy, scipy and statsmodels, a plain loop, and the published fits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import linregress
from statsmodels.api import OLS, add_constant

from oodometer.core.errors import OodometerError
from oodometer.core.random import rng_for
from oodometer.published.tables import read_table
from oodometer.stats.lines import (
    Line,
    LineDraws,
    band,
    bootstrap_lines,
    compare_scales,
    fit_line,
    intercept_of,
    percentiles,
    resampled_counts,
    slope_of,
    varied,
    weighted_lines,
)
from oodometer.stats.scales import SCALES, from_scale, to_scale
from small_testbed import LINES, NOT_MEASURED, STANDARD

quick = settings(deadline=None, derandomize=True, max_examples=40)
X = np.array([0.56, 0.61, 0.66, 0.70, 0.72, 0.75, 0.78, 0.81])
Y = np.array([0.43, 0.47, 0.55, 0.58, 0.59, 0.64, 0.66, 0.71])

models = st.lists(st.tuples(st.floats(0.01, 0.99), st.floats(0.01, 0.99)), min_size=3, max_size=40)


def pairs(rows):
    x, y = np.array(rows).T
    assume(np.ptp(x) > 0.01 and np.ptp(y) > 0.01)
    return x, y


@pytest.mark.parametrize("scale", SCALES)
@quick
@given(rows=models)
def test_fits_agree_with_scipy_and_statsmodels(scale, rows):
    x, y = pairs(rows)
    line = fit_line(x, y, scale=scale)
    u, v = to_scale(x, scale), to_scale(y, scale)
    # references: scipy.stats.linregress and statsmodels' OLS on the scale
    scipys, models_ = linregress(u, v), OLS(v, add_constant(u)).fit()
    assert (line.slope, line.intercept) == pytest.approx((scipys.slope, scipys.intercept), rel=1e-7, abs=1e-7)
    assert (line.intercept, line.slope) == pytest.approx(tuple(models_.params), rel=1e-7, abs=1e-7)
    assert line.r2 == pytest.approx(models_.rsquared, abs=1e-9)
    assert (line.n, line.left_out) == (len(x), 0)
    # reference: np.polyfit's own evaluation, mapped back
    expected = from_scale(np.polyval(np.polyfit(u, v, 1), to_scale(0.7, scale)), scale)
    assert line.at(0.7) == pytest.approx(expected, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("scale", ["logit", "probit"])
def test_models_at_nothing_and_everything_are_left_out_and_counted(scale):
    x, y = np.append(X, [0.5, 0.9, 0.0]), np.append(Y, [0.0, 1.0, 0.5])
    plain = fit_line(X, Y, scale=scale)
    assert fit_line(x, y, scale=scale) == Line(scale, plain.slope, plain.intercept, plain.r2, len(X), 3)
    assert fit_line(x, y, scale="linear").n == len(x)


@pytest.mark.parametrize("scale", ["logit", "probit"])
def test_lines_have_limits_at_nothing_and_everything(scale):
    assert Line(scale, 0.9, -0.5, 1, 3, 0).at([0.0, 1.0]).tolist() == [0.0, 1.0]
    assert Line(scale, -0.9, -0.5, 1, 3, 0).at([0.0, 1.0]).tolist() == [1.0, 0.0]
    flat = Line(scale, 0.0, -0.5, 1, 3, 0).at([0.0, 0.3, 1.0])
    assert flat == pytest.approx(np.full(3, from_scale(-0.5, scale)))
    assert np.isnan(Line(scale, 0.0, 0.0, 1, 3, 0).at(np.nan))


def test_a_linear_line_goes_on_beyond_nothing_and_everything():
    assert Line("linear", 1.69, -0.727, 1, 3, 0).at([0.0, 1.0]) == pytest.approx([-0.727, 0.963])


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ([0.5, 0.6], [0.4, 0.5], "2 models: a line needs at least 3"),
        ([], [], "0 models"),
        ([0.5, 0.6, 0.7], [0.4, 0.5, 1.0], r"2 models \(1 at exactly 0 % or 100 % left out\)"),
        ([0.5, 0.5, 0.5], [0.4, 0.5, 0.6], "same clean accuracy"),
        ([0.5, 0.6, 0.7], [0.4, 0.4, 0.4], "same shifted accuracy"),
        ([0.5, 0.6, 0.7], [0.4, 0.5], "shape"),
        ([[0.5, 0.6, 0.7]], [[0.4, 0.5, 0.6]], "shape"),
        ([0.5, 0.6, np.nan], [0.4, 0.5, 0.6], "not measured on both"),
        ([50, 60, 70], [0.4, 0.5, 0.6], "divide percentages"),
    ],
)
@pytest.mark.parametrize("function", [fit_line, bootstrap_lines, compare_scales])
def test_what_determines_no_line_is_an_error(function, x, y, message):
    with pytest.raises(OodometerError, match=message):
        function(x, y)


def left_out_by_hand(x: np.ndarray, y: np.ndarray, scale: str) -> float:
    """The definition: a fit without each model in turn."""
    errors = []
    for one in range(len(x)):
        others = np.arange(len(x)) != one
        slope, intercept = np.polyfit(to_scale(x[others], scale), to_scale(y[others], scale), 1)
        errors.append(from_scale(slope * to_scale(x[one], scale) + intercept, scale) - y[one])
    return float(np.sqrt(np.mean(np.square(errors))))


@quick
@given(rows=models.filter(lambda rows: len(rows) >= 4))
def test_leave_one_out_errors_agree_with_leaving_each_out(rows):
    x, y = pairs(rows)
    for one in range(len(x)):
        assume(np.ptp(np.delete(x, one)) > 0.01)
    fits = compare_scales(x, y)
    assert sorted(fit.line.scale for fit in fits) == sorted(SCALES)
    assert [fit.rmse for fit in fits] == sorted(fit.rmse for fit in fits)
    for fit in fits:
        assert fit.rmse == pytest.approx(left_out_by_hand(x, y, fit.line.scale), rel=1e-5, abs=1e-9)
        assert fit.line == fit_line(x, y, scale=fit.line.scale)


@pytest.mark.parametrize("scale", SCALES)
def test_the_scale_on_which_models_lie_on_a_line_wins(scale):
    x = np.linspace(0.1, 0.9, 12)
    y = from_scale(0.8 * to_scale(x, scale) - 0.04, scale)
    best = compare_scales(x, y)[0]
    assert best.line.scale == scale
    assert best.rmse == pytest.approx(0, abs=1e-9)


def test_all_scales_are_judged_by_the_same_models():
    fits = compare_scales(np.append(X, 0.9), np.append(Y, 1.0))
    assert {(fit.line.n, fit.line.left_out) for fit in fits} == {(len(X), 1)}
    assert [fit.rmse for fit in fits] == [fit.rmse for fit in compare_scales(X, Y)]


def test_a_model_that_alone_determines_the_slope_is_an_error():
    with pytest.raises(OodometerError, match="one model alone"):
        compare_scales([0.5, 0.5, 0.5, 0.7], [0.4, 0.45, 0.5, 0.6])


@pytest.mark.parametrize("scale", SCALES)
def test_bootstrap_agrees_with_a_plain_loop_over_the_same_resamples(scale):
    found = bootstrap_lines(X, Y, scale=scale, draws=300, seed=7)
    u, v = to_scale(X, scale), to_scale(Y, scale)
    counts = resampled_counts(len(X), 300, rng_for("bootstrap over models", seed=7)).astype(int)
    # reference: np.polyfit on the repeated models, one draw at a time
    expected = [np.polyfit(np.repeat(u, row), np.repeat(v, row), 1) for row in counts]
    assert np.stack([found.slopes, found.intercepts], axis=1) == pytest.approx(np.array(expected), rel=1e-8)
    assert found.undefined == 0


def test_models_of_almost_equal_accuracy_keep_their_digits():
    x = 0.7 + 1e-7 * np.arange(12)
    y = 0.6 + 2e-7 * np.arange(12)
    drawn = bootstrap_lines(x, y, scale="linear", draws=500)
    assert drawn.slopes == pytest.approx(np.full(500, 2.0), rel=1e-6)


def test_resamples_count_every_model_once_on_average():
    counts = resampled_counts(10, 20_000, rng_for("test"))
    assert (counts.sum(axis=1) == 10).all()
    # reference: each count is binomial(10, 1/10), of mean 1 and variance 0.9; six standard errors
    assert counts.mean(axis=0) == pytest.approx(np.ones(10), abs=6 * np.sqrt(0.9 / 20_000))
    assert counts.var(axis=0) == pytest.approx(np.full(10, 0.9), abs=0.06)


def test_draws_that_determine_no_line_are_drawn_again_and_counted():
    x, y = np.array([0.5, 0.5, 0.7]), np.array([0.4, 0.5, 0.6])
    found = bootstrap_lines(x, y, scale="linear", draws=3000)
    assert len(found.slopes) == len(found.intercepts) == 3000
    assert np.isfinite(found.slopes).all()
    # reference: (2/3)³ + (1/3)³ = 1/3 of all draws hold one clean accuracy; six standard errors
    total = 3000 + found.undefined
    assert found.undefined / total == pytest.approx(1 / 3, abs=6 * np.sqrt(2 / 9 / total))


def test_varied_resamples_are_told_by_their_values():
    u = np.array([1.0, 1.0, 1.0, 2.0])
    counts = np.array([[1.0, 2, 1, 0], [4, 0, 0, 0], [0, 0, 0, 4], [1, 1, 1, 1], [3, 0, 0, 1]])
    assert varied(counts, u).tolist() == [False, False, False, True, True]


def test_one_count_for_each_model_is_the_line_itself():
    line = fit_line(X, Y)
    slopes, intercepts = weighted_lines(np.ones((1, len(X))), to_scale(X, "logit"), to_scale(Y, "logit"))
    assert (slopes[0], intercepts[0]) == pytest.approx((line.slope, line.intercept))


def test_the_seed_decides_the_draws():
    first, same, other = (bootstrap_lines(X, Y, draws=50, seed=seed).slopes for seed in (1, 1, 2))
    assert (first == same).all()
    assert not (first == other).any()


def test_at_least_one_draw():
    with pytest.raises(OodometerError, match="0 draws"):
        bootstrap_lines(X, Y, draws=0)


def test_slope_and_intercept_carry_percentiles_and_the_number_of_models():
    line, draws = fit_line(X, Y), bootstrap_lines(X, Y)
    for estimate, value, drawn in (
        (slope_of(line, draws, level=0.9), line.slope, draws.slopes),
        (intercept_of(line, draws, level=0.9), line.intercept, draws.intercepts),
    ):
        assert estimate.value == value
        assert (estimate.low, estimate.high) == tuple(np.quantile(drawn, [0.05, 0.95]))
        assert (estimate.n, estimate.interval) == (len(X), "bootstrap over models 90%")
    assert slope_of(line, draws).interval == "bootstrap over models 95%"


@pytest.mark.parametrize("level", [0, 1, 95])
def test_levels_are_checked(level):
    with pytest.raises(OodometerError, match="level"):
        percentiles(np.arange(10.0), level)


@pytest.mark.parametrize("scale", SCALES)
def test_the_band_holds_the_middle_of_the_drawn_lines_at_each_place(scale):
    draws, places = bootstrap_lines(X, Y, scale=scale, draws=500), np.array([0.5, 0.7, 0.9])
    low, high = band(draws, places)
    lines = from_scale(draws.intercepts[:, None] + draws.slopes[:, None] * to_scale(places, scale), scale)
    assert (low < high).all()
    # 95 % of 500 drawn lines, up to those that the quantiles fall on
    assert ((low <= lines) & (lines <= high)).sum(axis=0) == pytest.approx(np.full(3, 475), abs=2)


def test_the_band_closes_where_all_rising_lines_meet():
    draws = LineDraws("logit", np.array([0.5, 1.0, 1.5]), np.zeros(3), 0)
    low, high = band(draws, np.array([0.0, 0.5, 1.0]))
    assert low.tolist() == high.tolist() == [0.0, 0.5, 1.0]
    assert [len(part) for part in band(draws, np.array([]))] == [0, 0]


# Recht et al. 2019: acc_new = 1.69 · acc − 72.7 on CIFAR-10 and 1.11 · acc − 20.2 on ImageNet without the Fisher
# vectors, with intervals from 100,000 draws. The printed accuracies are rounded, which allows 0.01 and 0.4; the ends
# of the offset move by 0.05 from seed to seed, since three networks of low accuracy decide them.
RECHT = [
    ("recht2019_cifar10", "cifar10_test", "cifar10.1", (1.69, 1.63, 1.76), (-72.7, -78.6, -67.5)),
    ("recht2019_imagenet", "val_top1", "matched_frequency_top1", (1.11, 1.07, 1.19), (-20.2, -26.0, -17.8)),
]


def published(name: str, x: str, y: str, *, fisher: bool = False) -> tuple[np.ndarray, np.ndarray]:
    table = read_table(name)
    rows = [fisher or not model.startswith("fv_") for model in table.models]
    return table.column(x)[rows] / 100, table.column(y)[rows] / 100


@pytest.mark.parametrize(("name", "x", "y", "slope", "offset"), RECHT)
def test_the_lines_and_intervals_of_recht_come_out(name, x, y, slope, offset):
    columns = published(name, x, y)
    line = fit_line(*columns, scale="linear")
    draws = bootstrap_lines(*columns, scale="linear", draws=100_000)
    found = slope_of(line, draws)
    assert (found.value, found.low, found.high) == pytest.approx(slope, abs=0.01)
    found = intercept_of(line, draws)
    assert (100 * found.value, 100 * found.low, 100 * found.high) == pytest.approx(offset, abs=0.45)


def test_curved_scales_fit_better_once_the_fisher_vectors_are_in():
    # Recht et al. 2019, appendix: a probit model fits better over the whole range of accuracies.
    fits = compare_scales(*published("recht2019_imagenet", "val_top1", "matched_frequency_top1", fisher=True))
    rmse = {fit.line.scale: fit.rmse for fit in fits}
    assert fits[0].line.n == 67
    assert rmse["probit"] < rmse["linear"] / 2
    assert rmse["logit"] < rmse["linear"] / 2


@pytest.mark.parametrize("setting", LINES)
def test_a_line_that_was_made_is_found_again(made_testbed, setting):
    made = LINES[setting]
    line = fit_line(*made_testbed.baseline(made.x, setting))
    # reference: the line by which the column was made; models of other studies lie off it and take no part
    assert (line.slope, line.intercept, line.r2) == pytest.approx((made.slope, made.intercept, 1.0), abs=1e-9)
    assert line.n == len(STANDARD) - (setting in NOT_MEASURED["plain-03"])
    assert line.left_out == 0


# Fits on the testbed's table, reported with it to three digits: slope, intercept and R² on the logit scale.
TESTBED = [
    ("val", "imagenetv2-matched-frequency-format-val", (0.923, -0.498, 0.996)),
    ("val", "imagenetv2-matched-frequency", (0.911, -0.481, 0.996)),
    ("val-on-objectnet-classes", "objectnet-1.0-beta", (0.981, -1.928, 0.953)),
    ("val-on-vid-robust-classes", "imagenet-vid-robust_pm0", (0.534, -1.462, 0.949)),
    ("val-on-ytbb-robust-classes", "ytbb-robust_pm0", (0.339, -1.112, 0.830)),
    ("imagenet-vid-robust_pm0", "imagenet-vid-robust_pm10", (1.090, -0.795, 0.967)),
    ("ytbb-robust_pm0", "ytbb-robust_pm10", (1.270, -0.690, 0.903)),
    ("val", "imagenet-sketch", (1.071, -2.370, 0.869)),
    ("val-on-imagenet-r-classes", "imagenet-r", (0.637, -2.108, 0.889)),
]


@pytest.mark.parametrize(("x", "y", "expected"), TESTBED)
def test_the_fits_of_the_testbed_come_out(testbed, x, y, expected):
    line = fit_line(*testbed.baseline(x, y))
    assert (line.slope, line.intercept, line.r2) == pytest.approx(expected, abs=0.00051)
    assert line.left_out == 0


def test_the_imagenetv2_fit_of_the_testbed_goes_through_85_models(testbed):
    assert fit_line(*testbed.baseline("val", "imagenetv2-matched-frequency-format-val")).n == 85
