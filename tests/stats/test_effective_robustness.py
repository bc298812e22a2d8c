"""Effective and relative robustness: against plain loops and statsmodels, by coverage, and on the testbed's table."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, logit, ndtri
from scipy.stats import beta, binomtest
from statsmodels.stats.proportion import confint_proportions_2indep

from oodometer.core.errors import OodometerError
from oodometer.core.random import rng_for
from oodometer.stats.bootstrap import Resampling, draws_of_means
from oodometer.stats.effective_robustness import (
    accuracy_drop,
    effective_robustness,
    relative_drop,
    relative_robustness,
    rho_draws_from_counts,
    rho_draws_from_images,
    rho_from_counts,
    rho_from_images,
    tau_from_counts,
)
from oodometer.stats.lines import bootstrap_lines, fit_line
from oodometer.stats.scales import SCALES

SLOPE, INTERCEPT, RHO = 0.92, -0.5, 0.03


def truth(rng: np.random.Generator, models: int, sigma: float) -> tuple[np.ndarray, np.ndarray]:
    """True accuracies of models that scatter about a known line; the first lies RHO above it and is no baseline."""
    u = rng.uniform(logit(0.55), logit(0.85), models + 1)
    scatter = sigma * rng.normal(size=models + 1)
    u[0], scatter[0] = logit(0.75), 0
    y = expit(SLOPE * u + INTERCEPT + scatter)
    y[0] += RHO
    return expit(u), y


def answers(rng: np.random.Generator, shares: np.ndarray, hardness: np.ndarray) -> np.ndarray:
    """Right or wrong with these shares, (M, N): the models tend to err on the same, hard images."""
    own = rng.normal(size=(len(shares), len(hardness)))
    return np.sqrt(0.5) * hardness + np.sqrt(0.5) * own < ndtri(shares)[:, None]


def not_first(models: int) -> np.ndarray:
    return np.arange(models + 1) > 0


@pytest.fixture
def table() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    x, y = truth(np.random.default_rng(0), 20, 0.05)
    return x, y, not_first(20)


@pytest.mark.parametrize("scale", SCALES)
def test_rho_is_the_distance_from_the_line(scale, table):
    x, y, baseline = table
    line = fit_line(x[baseline], y[baseline], scale=scale)
    found = effective_robustness(x, y, line)
    assert found == pytest.approx(np.array([one_y - line.at(one_x) for one_x, one_y in zip(x, y, strict=True)]))
    assert [one.value for one in rho_from_counts(x, y, 1000, 1000, baseline, scale=scale)] == found.tolist()


def test_tau_is_a_difference():
    assert relative_robustness([0.6, 0.5], [0.5, 0.6]) == pytest.approx([0.1, -0.1])


def test_rho_from_counts_agrees_with_its_definition(table):
    x, y, baseline = table
    draws = 20_000
    found = rho_from_counts(x, y, 2000, 500, baseline, resampling=Resampling(draws=draws, level=0.9))
    # reference: the same by other means: quantiles of scipy's beta, and a normal widening for 20 models of
    # sqrt(20/18) · t(18) / z = 1.0541 · 1.7341 / 1.6449
    rng = np.random.default_rng(5)
    lines, line = bootstrap_lines(x[baseline], y[baseline], draws=draws, seed=9), fit_line(x[baseline], y[baseline])
    slopes, intercepts = (
        centre + 1.0541 * 1.7341 / 1.6449 * (drawn - centre)
        for centre, drawn in ((line.slope, lines.slopes), (line.intercept, lines.intercepts))
    )
    for model in (0, 7):
        x_drawn = beta(2000 * x[model] + 0.5, 2000 * (1 - x[model]) + 0.5).ppf(rng.random(draws))
        y_drawn = beta(500 * y[model] + 0.5, 500 * (1 - y[model]) + 0.5).ppf(rng.random(draws))
        expected = np.quantile(y_drawn - expit(intercepts + slopes * logit(x_drawn)), [0.05, 0.95])
        # six standard errors of a quantile of 20,000 draws are a tenth of a standard deviation, some 0.0025
        assert (found[model].low, found[model].high) == pytest.approx(tuple(expected), abs=0.0025)
        assert (found[model].n, found[model].interval) == (500, "line and images 90%")


def test_more_images_leave_the_line_alone(table):
    x, y, baseline = table
    few, many, most = (rho_from_counts(x, y, n, n, baseline)[0] for n in (1000, 100_000, 10**12))
    line = rho_from_counts(x, y, None, 50_000, baseline)[0]
    assert few.high - few.low > many.high - many.low > line.high - line.low
    assert (most.low, most.high) == pytest.approx((line.low, line.high), abs=1e-5)
    assert (line.n, line.interval) == (None, "line only 95%")


def test_each_model_may_have_its_own_number_of_images(table):
    x, y, baseline = table
    sizes = [1000, None] + [2000] * (len(x) - 2)
    found = rho_from_counts(x, y, 50_000, sizes, baseline)
    assert [one.n for one in found] == sizes
    assert [one.interval for one in found[:2]] == ["line and images 95%", "line only 95%"]


def test_fewer_baseline_models_make_wider_intervals(table):
    x, y, baseline = table
    widths = []
    for models in (20, 8, 4):
        one = rho_from_counts(x, y, None, None, baseline & (np.arange(len(x)) <= models))[0]
        widths.append(one.high - one.low)
    assert widths == sorted(widths)


def test_a_model_at_nothing_has_a_rho_inside_its_interval(table):
    x, y, baseline = table
    y = np.where(baseline, y, 0.0)
    for one in (rho_from_counts(x, y, 10**9, 100, baseline)[0], rho_from_counts(x, y, None, None, baseline)[0]):
        assert one.low <= one.value <= one.high


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"x": [0.5, 0.6]}, "one of each for every model"),
        ({"baseline": np.arange(21)}, "True or False"),
        ({"baseline": np.arange(21) < 2}, "a line needs at least 3"),
        ({"y": np.full(21, np.nan)}, "not measured"),
        ({"y": np.full(21, 60.0)}, "divide percentages"),
        ({"n_x": [1000, 2000]}, "one for all or each"),
        ({"n_y": 0}, "below 1"),
        ({"resampling": Resampling(method="bca")}, "use percentile"),
    ],
)
def test_what_can_not_be_used_is_an_error(table, change, message):
    x, y, baseline = table
    given = {"x": x, "y": y, "n_x": 1000, "n_y": 1000, "baseline": baseline, **change}
    with pytest.raises(OodometerError, match=message):
        rho_from_counts(**given)


@pytest.fixture
def right() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    x, y = truth(rng, 12, 0.05)
    return answers(rng, x, rng.normal(size=600)), answers(rng, y, rng.normal(size=600)), not_first(12)


def test_rho_from_images_is_the_rho_of_the_accuracies(right):
    right_x, right_y, baseline = right
    found = rho_from_images(right_x, right_y, baseline, same_images=False)
    x, y = right_x.mean(axis=1), right_y.mean(axis=1)
    assert [one.value for one in found] == [one.value for one in rho_from_counts(x, y, None, None, baseline)]
    assert {(one.n, one.interval) for one in found} == {(600, "bootstrap over images and models 95%")}
    assert all(one.low <= one.value <= one.high for one in found)


def test_shares_of_conditions_count_like_answers(right):
    right_x, right_y, baseline = right
    as_answers = rho_from_images(right_x, right_y, baseline, same_images=True)
    # Right in all conditions or in none is right or wrong; sums in double instead of single precision are as exact.
    assert rho_from_images(right_x, right_y.astype(float), baseline, same_images=True) == as_answers
    shares = (right_y + np.roll(right_y, 1, axis=1) + right_x) / 3
    found = rho_from_images(right_x, shares, baseline, same_images=True)
    # reference: the line of np.polyfit through the mean shares
    x, y = right_x.mean(axis=1), shares.mean(axis=1)
    line = np.polyfit(logit(x[baseline]), logit(y[baseline]), 1)
    assert [one.value for one in found] == pytest.approx(y - expit(np.polyval(line, logit(x))))
    # A mean over conditions varies less from image to image than one condition does.
    assert found[0].high - found[0].low < as_answers[0].high - as_answers[0].low
    assert {one.n for one in found} == {600}


@pytest.mark.parametrize("same_images", [False, True])
def test_rho_from_images_agrees_with_a_plain_loop(right, same_images):
    right_x, right_y, baseline = right
    how = Resampling(draws=200, level=0.9)
    found = rho_from_images(right_x, right_y, baseline, same_images=same_images, resampling=how)
    x, y = right_x.mean(axis=1), right_y.mean(axis=1)
    line = fit_line(x[baseline], y[baseline])
    # reference: the definition, one draw at a time, with np.polyfit; 12 models widen by sqrt(12/10) · t(10) / z
    widening = np.sqrt(12 / 10) * 1.812461 / 1.644854
    by_models = bootstrap_lines(x[baseline], y[baseline], draws=200)
    x_drawn = draws_of_means(right_x.T, resampling=how)
    other = np.random.default_rng(3).integers(600, size=(200, 600))
    y_drawn = (
        draws_of_means(right_y.T, resampling=how)
        if same_images
        else np.array([right_y[:, row].mean(axis=1) for row in other])
    )
    rho = []
    for draw in range(200):
        slope, intercept = np.polyfit(logit(x_drawn[draw, baseline]), logit(y_drawn[draw, baseline]), 1)
        slope += widening * (by_models.slopes[draw] - line.slope)
        intercept += widening * (by_models.intercepts[draw] - line.intercept)
        rho.append(y_drawn[draw, 0] - expit(slope * logit(x_drawn[draw, 0]) + intercept))
    # With other images the resamples differ from ours, and quantiles of 200 draws move by a third of their deviation.
    tolerance = 1e-6 if same_images else 0.35 * np.std(rho)
    assert (found[0].low, found[0].high) == pytest.approx(tuple(np.quantile(rho, [0.05, 0.95])), abs=tolerance)


def test_images_that_all_models_share_cancel():
    # Every model right on the same images or on none of the others: only the line is unsure of a model on it.
    rng = np.random.default_rng(2)
    x, y = truth(rng, 30, 0.02)
    hardness = np.sort(rng.normal(size=(2, 800)), axis=1)
    right_x, right_y = hardness[0] < ndtri(x)[:, None], hardness[1] < ndtri(y)[:, None]
    shared = rho_from_images(right_x, right_y, not_first(30), same_images=False)[0]
    alone = rho_from_counts(right_x.mean(axis=1), right_y.mean(axis=1), 800, 800, not_first(30))[0]
    assert shared.high - shared.low < 0.6 * (alone.high - alone.low)


def test_images_in_another_order_are_other_images_unless_they_are_the_same(right):
    right_x, right_y, baseline = right
    both = [rho_from_images(right_x, right_y, baseline, same_images=same)[0] for same in (True, False)]
    assert both[0] != both[1]
    assert both[0] == rho_from_images(right_x, right_y, baseline, same_images=True)[0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda x, y: (x.astype(int), y, False), "right_x: expected True or False, or shares"),
        (lambda x, y: (100.0 * x, y, False), "right_x: expected True or False, or shares"),
        (lambda x, y: (np.where(x, np.nan, 0.5), y, False), "right_x: expected True or False, or shares"),
        (lambda x, y: (x, y[0], False), "right_y: expected True or False"),
        (lambda x, y: (x[:, :0], y, False), "right_x: no images"),
        (lambda x, y: (x[:, :50], y, True), "50 and 600 images are not the same images"),
        (lambda x, y: (x[:5], y, False), "one of each for every model"),
    ],
)
def test_answers_that_can_not_be_used_are_errors(right, change, message):
    right_x, right_y, same = change(*right[:2])
    with pytest.raises(OodometerError, match=message):
        rho_from_images(right_x, right_y, right[2], same_images=same)


def test_too_few_images_to_tell_the_models_apart():
    right_x = np.array([[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0]], dtype=bool)
    with pytest.raises(OodometerError, match="too few images"):
        rho_from_images(right_x, ~right_x[:, ::-1], np.ones(3, dtype=bool), same_images=False, scale="linear")


def test_a_few_resamples_without_a_line_are_left_out_and_counted():
    rng = np.random.default_rng(3)
    # Three models on 60 images: now and then all three are right equally often.
    right_x, right_y = (rng.random((3, 60)) < np.array([[0.4], [0.5], [0.62]]) for _ in range(2))
    how, all_models = Resampling(draws=2000), np.ones(3, dtype=bool)
    found = rho_from_images(right_x, right_y, all_models, same_images=False, scale="linear", resampling=how)
    # reference: the resampled accuracies, compared one draw after the other
    drawn = draws_of_means(right_x.T, resampling=how)
    alike = sum(len(set(np.rint(60 * row).tolist())) == 1 for row in drawn)
    assert 0 < alike < 100
    for one in found:
        assert one.interval == f"bootstrap over images and models 95% ({alike} of 2000 draws undefined)"
        assert np.isfinite([one.low, one.high]).all()
        assert one.low < one.value < one.high


@pytest.mark.parametrize(("clean", "shifted"), [(1, 1), (0, 0), (1, 0), (0.5, 0), (1, 0.5)])
def test_a_model_that_is_right_or_wrong_on_all_images_may_be_otherwise_on_the_next(right, clean, shifted):
    right_x, right_y, baseline = right
    more = [np.arange(one.shape[1]) < share * one.shape[1] for one, share in ((right_x, clean), (right_y, shifted))]
    right_x, right_y = (np.vstack([one, last]) for one, last in zip((right_x, right_y), more, strict=True))
    how = Resampling(draws=2000)
    found = rho_from_images(right_x, right_y, np.append(baseline, False), same_images=False, resampling=how)[-1]
    x, y = right_x.mean(axis=1), right_y.mean(axis=1)
    table = rho_from_counts(
        x, y, right_x.shape[1], right_y.shape[1], np.append(baseline, False), scale="logit", resampling=how
    )[-1]
    assert found.value == table.value
    # Not narrower than from the table, which draws every accuracy from its posterior; its line knows no images.
    assert found.high - found.low > 0.8 * (table.high - table.low)


# Coverage: with 20 models the intervals hold the truth as often as they say; with 5, whose line is widened for its
# three degrees of freedom, at least as often, also where the line alone is unsure (50,000 images).
@pytest.mark.slow
@pytest.mark.parametrize(
    ("models", "sigma", "n", "most"),
    [(20, 0.03, 1000, 0.98), (20, 0.15, 50_000, 0.98), (5, 0.03, 1000, 1), (5, 0.15, 50_000, 1)],
)
def test_coverage_of_rho_from_counts(models, sigma, n, most):
    rng, trials, hits = rng_for("coverage of tables", models, n), 400, 0
    for trial in range(trials):
        x, y = truth(rng, models, sigma)
        x, y = rng.binomial(2 * n, x) / (2 * n), rng.binomial(n, y) / n
        how = Resampling(draws=400, seed=trial)
        found = rho_from_counts(x, y, 2 * n, n, not_first(models), resampling=how)[0]
        hits += found.low <= RHO <= found.high
    assert binomtest(hits, trials, 0.95, alternative="less").pvalue > 0.001
    assert binomtest(hits, trials, most, alternative="greater").pvalue > 0.001


@pytest.mark.slow
@pytest.mark.parametrize("same_images", [False, True])
@pytest.mark.parametrize(("models", "most"), [(20, 0.98), (5, 1)])
def test_coverage_of_rho_from_images(models, most, same_images):
    rng, trials, hits = rng_for("coverage of images", models), 250, 0
    for trial in range(trials):
        x, y = truth(rng, models, 0.1)
        hardness = rng.normal(size=500)
        right_x = answers(rng, x, hardness)
        right_y = answers(rng, y, hardness if same_images else rng.normal(size=500))
        how = Resampling(draws=400, seed=trial)
        found = rho_from_images(right_x, right_y, not_first(models), same_images=same_images, resampling=how)[0]
        hits += found.low <= RHO <= found.high
    assert binomtest(hits, trials, 0.95, alternative="less").pvalue > 0.001
    assert binomtest(hits, trials, most, alternative="greater").pvalue > 0.001


# Two models beside one line


def test_a_difference_of_rho_is_that_of_the_draws(right):
    right_x, right_y, baseline = right
    draws = rho_draws_from_images(right_x, right_y, baseline, same_images=True)
    alone = rho_from_images(right_x, right_y, baseline, same_images=True)
    assert draws.estimates() == alone
    found = draws.difference(1, 0)
    assert found.value == pytest.approx(alone[0].value - alone[1].value)
    drawn = draws.drawn[:, 0] - draws.drawn[:, 1]
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(drawn, [0.025, 0.975])))
    assert draws.p_value(0, 1) == draws.p_value(1, 0)
    assert found.interval == "bootstrap over images and models, paired 95%"


def test_a_difference_is_known_better_than_the_two(right):
    right_x, right_y, baseline = right
    right_x, right_y = (np.vstack([one[:1], one]) for one in (right_x, right_y))
    draws = rho_draws_from_images(right_x, right_y, np.r_[False, baseline], same_images=True)
    twin = draws.difference(0, 1)
    assert (twin.value, twin.low, twin.high) == (0.0, 0.0, 0.0), "a model beside itself"
    assert draws.p_value(0, 1) == 1.0


def test_a_table_knows_differences_too(table):
    x, y, baseline = table
    draws = rho_draws_from_counts(x, y, 5000, 1000, baseline)
    found = draws.difference(1, 0)
    assert found.n == 1000
    assert found.low < found.value < found.high
    unknown = rho_draws_from_counts(x, y, None, 1000, baseline)
    assert unknown.difference(1, 0).interval == "line only, paired 95%"
    assert np.isnan(unknown.p_value(0, 1))


@pytest.mark.slow
@pytest.mark.parametrize("same_images", [False, True])
def test_coverage_of_the_difference_of_two_rhos(same_images):
    """Two models off a line of 12, by RHO and by nothing, in 1,000 sets: the line moves under both."""
    rng, trials, hits, told = rng_for("coverage of differences", int(same_images)), 1000, 0, 0
    for trial in range(trials):
        x, y = truth(rng, 12, 0.05)
        x, y = np.r_[expit(logit(0.68)), x], np.r_[expit(SLOPE * logit(0.68) + INTERCEPT), y]
        hardness = rng.normal(size=500)
        right_x = answers(rng, x, hardness)
        right_y = answers(rng, y, hardness if same_images else rng.normal(size=500))
        baseline = np.arange(14) > 1
        how = Resampling(draws=400, seed=trial)
        draws = rho_draws_from_images(right_x, right_y, baseline, same_images=same_images, resampling=how)
        found = draws.difference(0, 1)
        hits += found.low <= RHO <= found.high
        told += (draws.p_value(0, 1) <= 0.05) == (not found.low <= 0 <= found.high)
    assert binomtest(hits, trials, 0.94, alternative="less").pvalue > 0.001
    assert binomtest(hits, trials, 0.98, alternative="greater").pvalue > 0.001
    assert told >= 0.98 * trials, "the p-value and the interval say the same, but where a quantile lies between draws"


@pytest.mark.parametrize(("a", "b", "n"), [(37, 25, 50), (0, 7, 20), (20, 20, 20), (6500, 6000, 10_000)])
def test_differences_agree_with_statsmodels(a, b, n):
    # reference: statsmodels' confint_proportions_2indep(method="newcomb")
    expected = confint_proportions_2indep(a, n, b, n, method="newcomb", alpha=0.05)
    for found in (tau_from_counts(a / n, b / n, n, n), accuracy_drop(a / n, b / n, n, n)):
        assert found.value == pytest.approx((a - b) / n)
        assert (found.low, found.high) == pytest.approx(tuple(expected), abs=1e-9)
        assert (found.n, found.interval) == (n, "newcombe 95%")


def test_relative_drop_agrees_with_the_posterior_of_a_ratio():
    found = relative_drop(0.8, 0.6, 1000, 500, resampling=Resampling(draws=200_000))
    # reference: P(1 − Y/X ≤ d) = E[P(Y ≥ (1 − d) X)], by quadrature over quantiles of X
    x = beta(800.5, 200.5).ppf((np.arange(4000) + 0.5) / 4000)
    for bound, tail in ((found.low, 0.025), (found.high, 0.975)):
        assert beta(300.5, 200.5).sf((1 - bound) * x).mean() == pytest.approx(tail, abs=0.002)
    assert found.value == pytest.approx(0.25)
    assert (found.n, found.interval) == (500, "jeffreys posterior 95%")


@pytest.mark.parametrize("function", [tau_from_counts, accuracy_drop, relative_drop])
def test_without_numbers_of_images_there_is_no_interval(function):
    for sizes in ((None, 1000), (1000, None), (None, None)):
        found = function(0.7, 0.6, *sizes)
        assert (found.low, found.high, found.n, found.interval) == (None, None, None, "none: n is not known")
    with pytest.raises(OodometerError, match="no images"):
        function(0.7, 0.6, 1000, 0)
    with pytest.raises(OodometerError, match="divide percentages"):
        function(70, 60, 1000, 1000)


def test_nothing_of_nothing_can_be_lost():
    with pytest.raises(OodometerError, match="use the accuracy drop"):
        relative_drop(0.0, 0.0, 100, 100)
    assert relative_drop(0.5, 0.0, 100, 100).high == 1.0


# Taori et al. 2020, section 4.1: ρ on ImageNetV2 in percent; ours within 0.05.
HEADLINES = [
    ("resnet152-imagenet11k", 2.1),
    ("efficientnet-l2-noisystudent", 1.1),
    ("google_resnet101_jft-300M", -0.23),
]


def test_the_headline_rho_of_the_testbed(testbed):
    x, y = testbed["val"], testbed["imagenetv2-matched-frequency-format-val"]
    line = fit_line(*testbed.baseline("val", "imagenetv2-matched-frequency-format-val"))
    rho = dict(zip(testbed.models, 100 * effective_robustness(x, y, line), strict=True))
    for model, expected in HEADLINES:
        assert rho[model] == pytest.approx(expected, abs=0.05)


def test_the_gain_of_more_data_is_beyond_the_images_and_the_line(testbed):
    x, y = testbed["val"], testbed["imagenetv2-matched-frequency-format-val"]
    rows = ~np.isnan(x) & ~np.isnan(y) & (x >= 0.55)
    found = rho_from_counts(x[rows], y[rows], 50_000, 10_000, testbed.standard[rows])
    one = found[list(np.flatnonzero(rows)).index(testbed.models.index("resnet152-imagenet11k"))]
    # The standard error of 10,000 images at 70 % alone is 0.46 %.
    assert 0 < one.low < 0.021 - 0.0046 * 1.9
    assert one.high > 0.021 + 0.0046 * 1.9
