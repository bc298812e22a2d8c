"""Intervals of a share: against scipy, and by their exact coverage."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from oodometer.core.errors import OodometerError, UsageError
from oodometer.stats.intervals import clopper_pearson, intervals, share_of, wilson

quick = settings(deadline=None, derandomize=True, max_examples=150)
LEVELS = (0.9, 0.95, 0.995)
SCIPY_NAMES = {"clopper-pearson": "exact", "wilson": "wilson"}


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
@pytest.mark.parametrize("n", [1, 2, 7, 30, 100, 400])
def test_clopper_pearson_never_covers_less_than_it_says(n, level):
    # The coverage jumps where a bound is crossed: so besides a grid, the truths just outside every bound.
    bounds = np.array([clopper_pearson(successes, n, level) for successes in range(n + 1)]).reshape(-1)
    truths = np.concatenate([np.linspace(0, 1, 501), bounds - 1e-9, bounds + 1e-9])
    assert coverage("clopper-pearson", n, level, truths[(truths >= 0) & (truths <= 1)]).min() >= level - 1e-9


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("n", [30, 100, 400])
def test_wilson_covers_what_it_says_on_average(n, level):
    # Agresti & Coull, The American Statistician 52 (1998): the mean over all truths is close to the level; within
    # 0.01 of it is what their figures show for n of 30 and more.
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
