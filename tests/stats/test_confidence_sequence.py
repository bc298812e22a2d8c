"""The confidence sequence: it holds at every look at once, and is as narrow as the theory says."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binomtest

from oodometer.core.errors import OodometerError
from oodometer.stats.confidence_sequence import (
    MOST_OF_THE_CAPITAL,
    PRIOR_VARIANCE,
    confidence_sequence,
    numbers_needed,
    p_value_at_any_time,
)

REPETITIONS = 1000


def capital_by_hand(values: list[float], total: int, mean: float, aim: float) -> float:
    """What the gambler on the high side has, written down step by step from the paper's algorithm."""
    capital, came, squares = 1.0, 0.0, 0.0
    for t, value in enumerate(values):
        expected = (total * mean - came) / (total - t)
        stake = aim / ((PRIOR_VARIANCE + squares) / (t + 1)) * total / (total - t)
        if expected > 0:
            stake = min(stake, MOST_OF_THE_CAPITAL / expected)
        capital *= 1 + stake * (value - expected)
        came += value
        squares += (value - (0.5 + came) / (t + 2)) ** 2
    return capital


def test_its_ends_are_where_a_gambler_has_just_enough():
    # reference: the capital computed step by step; at the ends it is 2/α to the precision of the search
    rng = np.random.default_rng(0)
    values = (rng.random(300) < 0.7).astype(float)
    found = confidence_sequence(values, 5000, aims=[(300, 0.06)])
    assert found.low is not None
    assert found.high is not None
    high = capital_by_hand((1 - values).tolist(), 5000, 1 - found.high, 0.06)
    assert capital_by_hand(values.tolist(), 5000, found.low, 0.06) == pytest.approx(2 / 0.05, rel=1e-6)
    assert high == pytest.approx(2 / 0.05, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("share", "total", "first_aim", "second_aim"),
    [(0.5, 2000, 0.05, 0.05), (0.75, 50_000, 0.03, 0.03), (0.95, 2000, 0.03, 0.01), (0.02, 5000, 0.05, 0.02)],
)
def test_it_holds_at_every_look_at_once(share, total, first_aim, second_aim):
    # simulation, 1,000 repetitions: the truth is outside at any of up to 40 looks in at most 5 % (binomial test at
    # 0.1 %). Looks are where somebody who looks as often as he can would look: more and more apart.
    population = (np.arange(total) < share * total).astype(float)
    truth = float(population.mean())
    rng = np.random.default_rng(7)
    looks = np.unique(np.geomspace(10, min(total, 3000), 40).astype(int))
    aims = [(200, first_aim), (total, second_aim)]
    missed = 0
    for _ in range(REPETITIONS):
        values = rng.permutation(population)[: looks[-1]]
        missed += ever_outside(values, total, truth, aims, looks)
    assert binomtest(missed, REPETITIONS, 0.05, alternative="greater").pvalue > 0.001


def ever_outside(values, total, truth, aims, looks) -> bool:
    """Whether either gambler has 2/α at one of the looks, when the true mean is bet against."""
    from oodometer.stats.confidence_sequence import _mirrored, bets_of

    for bets, mean in ((bets_of(values, total, aims), truth), (_mirrored(bets_of(values, total, aims)), 1 - truth)):
        expected = np.maximum(total * mean - bets.before, 0) / bets.left
        with np.errstate(divide="ignore"):
            stakes = np.minimum(bets.stakes, np.where(expected > 0, MOST_OF_THE_CAPITAL / expected, np.inf))
        capital = np.cumsum(np.log1p(stakes * (bets.values - expected)))
        if (capital[looks - 1] >= math.log(2 / 0.05)).any():
            return True
    return False


@pytest.mark.slow
@pytest.mark.parametrize(("share", "aim"), [(0.5, 0.04), (0.8, 0.04), (0.95, 0.03)])
def test_whoever_stops_when_it_is_narrow_enough_is_not_wrong_more_often(share, aim):
    # simulation, 1,000 repetitions of stopping at the first of many looks at which the interval is narrow enough
    total = 20_000
    population = (np.arange(total) < share * total).astype(float)
    rng = np.random.default_rng(3)
    missed = 0
    for _ in range(REPETITIONS):
        values = rng.permutation(population)[:4000]
        for n in (200, 400, 600, 800, 1000, 1200, 1400, 1700, 2000, 3000, 4000):
            found = confidence_sequence(values[:n], total, aims=[(total, aim)])
            if (found.high - found.low) / 2 <= aim:
                break
        missed += not found.low <= share <= found.high
    assert binomtest(missed, REPETITIONS, 0.05, alternative="greater").pvalue > 0.001


def test_it_needs_about_twice_the_images_of_a_planned_interval():
    # theory: 2 log(2/α) σ²/w² numbers against z² σ²/w² of a planned interval, 1.92 times as many, less what a finite
    # set saves; a coin, one point, 50,000 images
    planned = 1.96**2 * 0.25 / 0.01**2
    infinite = 2 * math.log(2 / 0.05) * 0.25 / 0.01**2
    needed = numbers_needed(np.array([1.0, 0.0]), 50_000, aims=[(50_000, 0.01)], width=0.01)
    assert infinite / planned == pytest.approx(1.92, abs=0.01)
    assert needed == pytest.approx(infinite / (1 + infinite / 50_000), rel=0.03)


def test_numbers_between_0_and_1_are_known_better_than_answers():
    # the mean of 75 answers of a coin varies 75 times less than one
    rng = np.random.default_rng(0)
    means = rng.binomial(75, 0.5, 500) / 75
    coins = (rng.random(500) < 0.5).astype(float)
    width = [
        found.high - found.low
        for found in (confidence_sequence(some, 50_000, aims=[(500, 0.01)]) for some in (means, coins))
    ]
    assert width[0] < width[1] / 4


def test_all_numbers_leave_no_doubt():
    found = confidence_sequence(np.array([1.0, 0.0, 1.0, 1.0]), 4, aims=[(4, 0.1)])
    assert (found.low, found.value, found.high) == (0.75, 0.75, 0.75)


def test_what_came_already_bounds_it():
    found = confidence_sequence(np.ones(90), 100, aims=[(100, 0.1)])
    assert found.low >= 0.9
    assert found.high == 1


def test_one_minus_the_numbers_is_one_minus_the_interval():
    values = (np.random.default_rng(0).random(200) < 0.3).astype(float)
    found, other = (confidence_sequence(some, 900, aims=[(200, 0.07)]) for some in (values, 1 - values))
    assert (found.low, found.high) == pytest.approx((1 - other.high, 1 - other.low), abs=1e-9)


@pytest.mark.parametrize(
    ("values", "total", "aims", "said"),
    [
        ([], 10, [(1, 0.1)], "no images"),
        ([1.0, 0.0], 1, [(1, 0.1)], "more than there are"),
        ([1.5], 10, [(1, 0.1)], "between 0 and 1"),
        ([1.0], 10, [], "half width"),
        ([1.0], 10, [(1, 0.0)], "half width"),
    ],
)
def test_what_is_undefined_is_an_error(values, total, aims, said):
    with pytest.raises(OodometerError, match=said):
        confidence_sequence(np.array(values, dtype=float), total, aims=aims)


# p-values


@pytest.mark.parametrize("mean", [0.3, 0.5, 0.62, 0.66, 0.8])
def test_the_interval_of_its_level_just_reaches_what_is_tested(mean):
    values = (np.random.default_rng(4).random(400) < 0.7).astype(float)
    aims = [(400, 0.05)]
    p_value = p_value_at_any_time(values, 10_000, mean, aims=aims)
    if p_value == 1.0:
        found = confidence_sequence(values, 10_000, aims=aims, level=0.01)
        assert found.low - 0.02 <= mean <= found.high + 0.02
        return
    # A hair more sure, and the interval holds it; a hair less, and it does not.
    for level, inside in ((1 - 0.98 * p_value, True), (1 - 1.02 * p_value, False)):
        found = confidence_sequence(values, 10_000, aims=aims, level=level)
        assert (found.low <= mean <= found.high) == inside


def test_two_equal_models_are_hardly_ever_told_apart_however_often_one_looks():
    """Differences of two models that are equally often right on 3,000 images, looked at every 40 images up to 800.

    At most 5 % of the repetitions may have a p-value of 0.05 or less at any look; McNemar's exact test, looked at as
    often, has many more.
    """
    from oodometer.stats.paired import mcnemar_p_values

    rng, wrong, by_mcnemar = np.random.default_rng(5), 0, 0
    population = np.repeat([1.0, 0.0, 0.5], [240, 240, 2520])  # (difference + 1) / 2
    aims = [(800, 0.02)]
    for _ in range(REPETITIONS):
        order = rng.permutation(population)[:800]
        looks = range(40, 801, 40)
        wrong += any(p_value_at_any_time(order[:n], 3000, 0.5, aims=aims) <= 0.05 for n in looks)
        wins, losses = (np.array([(order[:n] == one).sum() for n in looks]) for one in (1.0, 0.0))
        by_mcnemar += bool((mcnemar_p_values(wins, losses) <= 0.05).any())
    assert binomtest(wrong, REPETITIONS, 0.05, alternative="greater").pvalue > 0.001
    assert by_mcnemar > 0.1 * REPETITIONS


def test_a_real_difference_is_told():
    population = np.repeat([1.0, 0.0, 0.5], [150, 600, 2250])
    order = np.random.default_rng(6).permutation(population)
    assert p_value_at_any_time(order[:1200], 3000, 0.5, aims=[(1200, 0.03)]) < 0.001
    assert p_value_at_any_time(order, 3000, 0.5, aims=[(1200, 0.03)]) < 1e-9
