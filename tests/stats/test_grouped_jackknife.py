"""The jackknife over groups of images; how often intervals of estimates hold is in tests/analysis."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from oodometer.core.errors import OodometerError
from oodometer.stats.grouped_jackknife import groups_of_images, jackknife_error, jackknife_interval


def test_of_a_mean_it_is_students_interval_of_the_means_of_groups() -> None:
    # reference: scipy.stats.t.interval over the means of groups of one size
    rng = np.random.default_rng(0)
    scores = rng.random(200)
    group = groups_of_images(200)
    means = np.array([scores[group == one].mean() for one in range(20)])
    without = np.array([scores[group != one].mean() for one in range(20)])
    found = jackknife_interval(float(scores.mean()), without, n=200)
    low, high = stats.t.interval(0.95, 19, loc=means.mean(), scale=stats.sem(means))
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-12)
    assert jackknife_error(without) == pytest.approx(stats.sem(means), abs=1e-12)


def test_groups_are_as_large_as_can_be_and_the_same_each_time() -> None:
    group = groups_of_images(1003)
    assert set(np.bincount(group).tolist()) == {50, 51}
    assert np.array_equal(group, groups_of_images(1003))
    assert not np.array_equal(group, groups_of_images(1003, seed=1))
    assert not np.array_equal(group, np.arange(1003) % 20)
    assert sorted(groups_of_images(7).tolist()) == list(range(7))


def test_where_there_is_no_interval_it_says_why() -> None:
    few = jackknife_interval(0.5, np.array([0.4, 0.6]), n=2)
    assert (few.low, few.interval) == (None, "none: fewer than 5 groups of images")
    still = jackknife_interval(1.0, np.ones(20), n=100)
    assert (still.low, still.interval) == (None, "none: no image changes it")
    lost = jackknife_interval(0.5, np.array([0.5] * 19 + [np.nan]), n=100)
    assert (lost.low, lost.interval) == (None, "none: undefined without some of the images")
    with pytest.raises(OodometerError, match="at least two"):
        jackknife_error(np.array([0.5]))
    with pytest.raises(OodometerError, match="no images"):
        groups_of_images(0)


def test_it_ends_where_a_share_does() -> None:
    found = jackknife_interval(0.99, 0.99 + np.linspace(-0.01, 0.01, 20), n=100)
    assert found.high == 1.0
