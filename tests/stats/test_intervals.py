"""Intervals of a share and of a mean: against scipy and statsmodels, and by their coverage."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import binom, binomtest, ttest_1samp
from statsmodels.stats.proportion import proportion_confint
from statsmodels.stats.weightstats import DescrStatsW

from oodometer.core.errors import OodometerError, UsageError
from oodometer.stats.intervals import clopper_pearson, clopper_pearson_bounds, intervals, mean_of, share_of, wilson

quick = settings(deadline=None, derandomize=True, max_examples=150)
LEVELS = (0.9, 0.95, 0.995)
SCIPY_NAMES = {"clopper-pearson": "exact", "wilson": "wilson"}
STATSMODELS_NAMES = {"clopper-pearson": "beta", "wilson": "wilson"}


@st.composite
def shares(draw):
    n = draw(st.one_of(st.integers(1, 60), st.sampled_from((1000, 10_000, 50_000, 1_000_000))))
    return draw(st.integers(0, n)), n


@pytest.mark.parametrize("name", ["clopper-pearson", "wilson"])
@quick
@given(share=shares(), level=st.sampled_from(LEVELS))
@example(share=(0, 1), level=0.95)
@example(share=(1, 1), level=0.995)
@example(share=(0, 50_000), level=0.9)
@example(share=(50_000, 50_000), level=0.95)
@example(share=(1, 1_000_000), level=0.995)
@example(share=(741, 1000), level=0.95)
def test_intervals_agree_with_scipy(name, share, level):
    successes, n = share
    found = share_of(successes, n, interval=name, level=level)
    # reference: scipy.stats.binomtest(...).proportion_ci
    expected = binomtest(successes, n).proportion_ci(level, method=SCIPY_NAMES[name])
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-9)
    assert found.value == successes / n
    assert found.n == n
    assert found.interval == f"{name} {100 * level:g}%"


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", ["clopper-pearson", "wilson"])
def test_intervals_agree_with_statsmodels(name, level):
    for n in (1, 20, 100, 2021):
        for successes in {0, 1, n // 3, n - 1, n}:
            # reference: statsmodels.stats.proportion.proportion_confint
            expected = proportion_confint(successes, n, alpha=1 - level, method=STATSMODELS_NAMES[name])
            assert intervals.get(name)(successes, n, level) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("level", LEVELS)
def test_many_exact_intervals_are_the_single_ones(level):
    successes, n = np.array([[0, 1, 7, 20], [0, 50, 99, 100]]), np.array([[20], [100]])
    low, high = clopper_pearson_bounds(successes, n, level)
    single = [[clopper_pearson(int(k), int(of), level) for k in row] for row, (of,) in zip(successes, n, strict=True)]
    assert np.stack([low, high], axis=2).tolist() == [[list(bounds) for bounds in row] for row in single]


def test_every_interval_is_tested_against_scipy():
    assert set(SCIPY_NAMES) <= set(intervals.names())
    assert {"clopper-pearson", "wilson"} == set(SCIPY_NAMES)


@pytest.mark.parametrize("name", ["clopper-pearson", "wilson"])
@quick
@given(share=shares(), level=st.sampled_from(LEVELS))
def test_intervals_hold_the_share_and_lie_between_zero_and_one(name, share, level):
    successes, n = share
    low, high = intervals.get(name)(successes, n, level)
    assert 0 <= low <= successes / n <= high <= 1
    assert type(low) is float
    assert type(high) is float


@pytest.mark.parametrize("name", ["clopper-pearson", "wilson"])
@quick
@given(share=shares(), level=st.sampled_from(LEVELS))
def test_exchanging_right_and_wrong_mirrors_the_interval(name, share, level):
    successes, n = share
    low, high = intervals.get(name)(successes, n, level)
    mirrored = intervals.get(name)(n - successes, n, level)
    assert (1 - high, 1 - low) == pytest.approx(mirrored, abs=1e-12)


@pytest.mark.parametrize("name", ["clopper-pearson", "wilson"])
def test_intervals_rise_with_successes_and_widen_with_the_level(name):
    bounds = np.array([[intervals.get(name)(successes, 40, level) for successes in range(41)] for level in LEVELS])
    assert (np.diff(bounds, axis=1) > 0).all()
    assert (np.diff(bounds[:, :, 0], axis=0) <= 0).all()
    assert (np.diff(bounds[:, :, 1], axis=0) >= 0).all()


def coverage(name: str, n: int, level: float, truths: np.ndarray) -> np.ndarray:
    """The exact probability that the interval holds each truth: the sum of the binomial probabilities that it does."""
    low, high = np.array([intervals.get(name)(successes, n, level) for successes in range(n + 1)]).T
    holds = (low <= truths[:, None]) & (truths[:, None] <= high)
    return (binom.pmf(np.arange(n + 1), n, truths[:, None]) * holds).sum(axis=1)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("n", [1, 2, 7, 20, 100, 400])
def test_clopper_pearson_never_covers_less_than_it_says(n, level):
    # The coverage jumps where a bound is crossed: so besides a grid, the truths just outside every bound.
    bounds = np.array([clopper_pearson(successes, n, level) for successes in range(n + 1)]).reshape(-1)
    truths = np.concatenate([np.linspace(0, 1, 501), bounds - 1e-9, bounds + 1e-9])
    assert coverage("clopper-pearson", n, level, truths[(truths >= 0) & (truths <= 1)]).min() >= level - 1e-9


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("n", [20, 100, 400])
def test_wilson_covers_what_it_says_on_average(n, level):
    # Agresti & Coull, The American Statistician 52 (1998): the mean over all truths is close to the level; within
    # 0.01 of it is what their figures show for n of 20 and more.
    mean = coverage("wilson", n, level, (np.arange(1000) + 0.5) / 1000).mean()
    assert mean == pytest.approx(level, abs=0.01)
    assert coverage("clopper-pearson", n, level, (np.arange(1000) + 0.5) / 1000).mean() > mean


@pytest.mark.parametrize("truth", [0.02, 0.5, 0.741])
def test_coverage_by_simulation(truth):
    # 4,000 data sets of 200 images; a right interval fails this test with probability below 0.001.
    hits = np.random.default_rng(7).binomial(200, truth, 4000)
    found = [share_of(int(hit), 200) for hit in hits]
    covered = sum(one.low <= truth <= one.high for one in found)
    assert binomtest(covered, len(found), 0.95, alternative="less").pvalue > 0.001


def test_the_limits_are_the_closed_forms():
    # closed form of Clopper-Pearson without a success: 1 - (tail)^(1/n); of Wilson: z^2 / (n + z^2)
    assert clopper_pearson(0, 20, 0.95) == pytest.approx((0, 1 - 0.025 ** (1 / 20)), abs=1e-12)
    assert wilson(0, 20, 0.95) == pytest.approx((0, 1.959963984540054**2 / (20 + 1.959963984540054**2)), abs=1e-12)


scores_of = st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=40).filter(lambda scores: np.std(scores) > 1e-3)


@quick
@given(scores=scores_of, level=st.sampled_from(LEVELS))
def test_the_interval_of_a_mean_agrees_with_scipy_and_statsmodels(scores, level):
    found = mean_of(np.array(scores), level=level)
    # reference: scipy.stats.ttest_1samp(...).confidence_interval, statsmodels' DescrStatsW.tconfint_mean
    expected = ttest_1samp(scores, 0).confidence_interval(level)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), rel=1e-9, abs=1e-9)
    assert (found.low, found.high) == pytest.approx(DescrStatsW(scores).tconfint_mean(1 - level), rel=1e-9, abs=1e-9)
    assert (found.value, found.n) == (pytest.approx(np.mean(scores)), len(scores))
    assert found.interval == f"student-t {100 * level:g}%"


def test_the_interval_of_a_mean_ends_where_scores_do():
    for scores in ([0.0, 0.0, 0.1], [1.0, 1.0, 0.9]):
        free, found = mean_of(np.array(scores)), mean_of(np.array(scores), bounds=(0, 1))
        assert (found.low, found.high) == (max(free.low, 0), min(free.high, 1))
        assert (found.low, found.high) != (free.low, free.high)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("n", [2, 5, 30])
def test_the_interval_of_a_mean_of_normal_scores_covers_what_it_says(n, level):
    # 10,000 data sets: Student's interval is exact here; a right one fails with probability below 0.001.
    data = np.random.default_rng(n).normal(3, 2, (10_000, n))
    found = [mean_of(scores, level=level) for scores in data]
    covered = sum(one.low <= 3 <= one.high for one in found)
    assert binomtest(covered, len(found), level).pvalue > 0.001


def test_a_mean_of_scores_of_single_precision_is_exact():
    scores = np.full(1_000_000, 0.1, dtype=np.float32)
    scores[0] = 0.2
    assert mean_of(scores).value == pytest.approx(float(np.float32(0.1)) + 1e-7, abs=1e-12)


@pytest.mark.parametrize(
    ("scores", "value", "interval"),
    [([0.3], 0.3, "none: one score"), ([1.0, 1.0, 1.0], 1.0, "none: all scores are equal")],
)
def test_scores_that_do_not_differ_give_no_interval(scores, value, interval):
    found = mean_of(np.array(scores))
    assert (found.value, found.low, found.high, found.n, found.interval) == (value, None, None, len(scores), interval)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: mean_of(np.array([])), "scores of shape (0,): a mean needs one or more in a row"),
        (lambda: mean_of(np.ones((3, 2))), "scores of shape (3, 2): a mean needs one or more in a row"),
        (lambda: mean_of(np.array([1.0, np.nan])), "some scores are NaN or infinite: their mean is undefined"),
        (lambda: mean_of(np.array([1.0, np.inf])), "some scores are NaN or infinite: their mean is undefined"),
        (lambda: mean_of(np.array([1.0, 2.0]), level=1), "level 1: must lie between 0 and 1, for example 0.95"),
    ],
)
def test_what_has_no_mean_is_an_error(make, message):
    with pytest.raises(OodometerError) as caught:
        make()
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: share_of(0, 0), "no images: the share is undefined"),
        (lambda: share_of(5, 4), "5 successes among 4 images: not a share"),
        (lambda: share_of(-1, 4), "-1 successes among 4 images: not a share"),
        (lambda: share_of(1, 4, level=0), "level 0: must lie between 0 and 1, for example 0.95"),
        (lambda: share_of(1, 4, level=95), "level 95: must lie between 0 and 1, for example 0.95"),
        (lambda: share_of(1, 4, level=float("nan")), "level nan: must lie between 0 and 1, for example 0.95"),
    ],
)
def test_what_is_no_share_is_an_error(make, message):
    with pytest.raises(OodometerError) as caught:
        make()
    assert str(caught.value) == message


def test_an_unknown_interval_is_answered_with_the_nearest():
    with pytest.raises(UsageError, match=r"^no interval named 'wlison'; did you mean wilson\?$"):
        share_of(1, 2, interval="wlison")
