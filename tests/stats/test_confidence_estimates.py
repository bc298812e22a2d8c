"""Thresholded confidence and the difference of confidences: a slow rewriting, closed forms, simulation."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta, t

from oodometer.core.errors import OodometerError
from oodometer.stats.confidence_estimates import (
    Shared,
    above_threshold,
    average_thresholded_confidence,
    difference_estimate,
    difference_of_confidences,
    thresholded_estimate,
)
from oodometer.stats.intervals import wilson

ties_are_many = st.lists(st.integers(0, 6), min_size=1, max_size=30)


def slow(clean: list[int], right: list[bool], shifted: list[int]) -> float:
    """The definition by trial: the threshold is the score at which the share above first falls to the accuracy.

    Equal scores are told apart by chance, one after the other falling below: on average over the order, images of the
    threshold's score count by a share.
    """
    wanted = sum(right)
    for score in sorted(set(clean), reverse=True):
        above, equal = sum(one > score for one in clean), sum(one == score for one in clean)
        if above + equal >= wanted:
            counted = (wanted - above) / equal
            total = sum(1.0 if one > score else counted if one == score else 0.0 for one in shifted)
            return total / len(shifted)
    raise AssertionError("more right answers than images")


@settings(deadline=None, derandomize=True, max_examples=300)
@given(ties_are_many, ties_are_many, st.randoms(use_true_random=False))
def test_against_a_slow_rewriting(clean: list[int], shifted: list[int], random: Random) -> None:
    right = [random.random() < 0.6 for _ in clean]
    found = average_thresholded_confidence(np.array(clean, float), np.array(right), np.array(shifted, float))
    if 0 < sum(right) < len(right):
        assert found.accuracy == pytest.approx(slow(clean, right, shifted), abs=1e-12)
        assert found.tied == clean.count(int(found.threshold)) / len(clean)


@settings(deadline=None, derandomize=True, max_examples=100)
@given(ties_are_many, st.randoms(use_true_random=False))
def test_on_the_clean_images_themselves_it_is_their_accuracy(clean: list[int], random: Random) -> None:
    # Closed form: the threshold is chosen so, ties or not; and no confidence is lost.
    right = np.array([random.random() < 0.6 for _ in clean])
    scores = np.array(clean, float) / 10
    assert average_thresholded_confidence(scores, right, scores).accuracy == pytest.approx(right.mean(), abs=1e-12)
    assert difference_of_confidences(scores, right, scores) == pytest.approx(right.mean(), abs=1e-12)


def test_only_the_order_of_the_scores_counts_for_the_threshold() -> None:
    rng = np.random.default_rng(0)
    clean, shifted, right = rng.random(500), rng.random(300), rng.random(500) < 0.7
    plain = average_thresholded_confidence(clean, right, shifted).accuracy
    assert average_thresholded_confidence(np.log(clean), right, np.log(shifted)).accuracy == plain


def test_the_whole_distribution() -> None:
    # Closed form: scores uniform on clean images, of which 70 % are right, so that the threshold is 0.3; Beta(2, 3) on
    # the others. The simulation's error is below 0.002.
    rng = np.random.default_rng(1)
    clean, shifted = rng.random(200_000), rng.beta(2, 3, 200_000)
    found = average_thresholded_confidence(clean, rng.random(200_000) < 0.7, shifted)
    assert found.accuracy == pytest.approx(beta(2, 3).sf(0.3), abs=0.006)
    assert found.threshold == pytest.approx(0.3, abs=0.006)


def test_confidences_that_are_probabilities_tell_the_difference() -> None:
    # Closed form: where confidences are calibrated on both sides, their mean is the accuracy on each.
    rng = np.random.default_rng(2)
    clean, shifted = rng.beta(5, 2, 200_000), rng.beta(3, 3, 200_000)
    told = difference_of_confidences(clean, rng.random(200_000) < clean, shifted)
    assert told == pytest.approx(0.5, abs=0.006)


def test_where_no_threshold_tells_anything() -> None:
    scores = np.array([0.5, 0.6])
    assert average_thresholded_confidence(scores, np.array([True, True]), scores) == (1.0, -np.inf, 0.0)
    assert average_thresholded_confidence(scores, np.array([False, False]), scores) == (0.0, np.inf, 0.0)


def test_saturated_scores_are_told() -> None:
    found = average_thresholded_confidence(np.ones(10), np.arange(10) < 7, np.ones(4))
    assert found.accuracy == pytest.approx(0.7)
    assert (found.threshold, found.tied) == (1.0, 1.0)


def test_what_is_undefined_is_an_error() -> None:
    right = np.array([True, False])
    for method in (average_thresholded_confidence, difference_of_confidences):
        with pytest.raises(OodometerError, match="no images on one of the sides"):
            method(np.array([0.5, 0.6]), right, np.array([]))
        with pytest.raises(OodometerError, match="some scores are NaN"):
            method(np.array([0.5, np.nan]), right, np.array([0.5]))
        with pytest.raises(OodometerError, match="need bool"):
            method(np.array([0.5, 0.6]), np.array([1, 0]), np.array([0.5]))
        with pytest.raises(OodometerError, match="need one per image"):
            method(np.array([0.5]), right, np.array([0.5]))


def test_the_interval_of_the_difference_is_welchs_without_shared_images() -> None:
    # reference: the variances of both sides by numpy, Student's quantile by scipy
    rng = np.random.default_rng(3)
    clean, shifted, right = rng.random(60), rng.random(40), rng.random(60) < 0.6
    found = difference_estimate(clean, right, shifted)
    error = np.sqrt(np.var(right - clean, ddof=1) / 60 + np.var(shifted, ddof=1) / 40)
    assert (found.high - found.low) / 2 == pytest.approx(t(39).ppf(0.975) * error, abs=1e-12)


def test_of_shared_images_it_is_that_of_their_mean() -> None:
    # reference: scipy.stats.t.interval over right - clean confidence + shifted confidence, image by image
    rng = np.random.default_rng(4)
    clean = rng.uniform(0.5, 0.9, 80)
    shifted, right = clean - rng.uniform(0, 0.2, 80), rng.random(80) < 0.6
    shared = Shared(np.arange(80), np.arange(80))
    found = difference_estimate(clean, right, shifted, shared=shared)
    each = right - clean + shifted
    low, high = t.interval(0.95, 79, loc=each.mean(), scale=each.std(ddof=1) / np.sqrt(80))
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-12)


def test_the_interval_of_a_thresholded_confidence_on_the_same_answers_is_that_of_the_accuracy() -> None:
    # Closed form: the same scores on both sides, of the same images, tell the clean accuracy whatever the threshold;
    # how far off that may be is nearly Wilson's interval of it.
    rng = np.random.default_rng(5)
    scores = rng.random(2000)
    right = rng.random(2000) < scores
    shared = Shared(np.arange(2000), np.arange(2000))
    found = thresholded_estimate(scores, right, scores, shared=shared)
    low, high = wilson(int(right.sum()), 2000, 0.95)
    assert found.value == pytest.approx(right.mean(), abs=1e-12)
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.003)


def test_what_has_no_interval_says_why() -> None:
    scores = np.array([0.5, 0.6])
    found = thresholded_estimate(scores, np.array([True, True]), scores)
    assert (found.value, found.low, found.interval) == (1.0, None, "none: all or none of the clean answers are right")
    found = difference_estimate(np.array([0.5]), np.array([True]), scores)
    assert (found.low, found.interval) == (None, "none: one image")


def test_intervals_stay_between_0_and_1() -> None:
    right = np.arange(20) < 19
    high = difference_estimate(np.linspace(0.3, 0.6, 20), right, np.linspace(0.9, 1.0, 20))
    assert (high.value, high.high) == (1.0, 1.0)
    assert high.low > 0.9
    scores = np.linspace(0, 1, 20)
    found = thresholded_estimate(scores, right, scores)
    assert 0 <= found.low < found.value < found.high == 1


def test_as_many_clean_images_are_above_the_threshold_as_are_right():
    rng = np.random.default_rng(1)
    scores, right = rng.random(200), rng.random(200) < 0.7
    assert above_threshold(scores, right, scores).sum() == right.sum()
    assert (above_threshold(scores, np.ones(200, dtype=bool), scores) == 1).all()
    assert (above_threshold(scores, np.zeros(200, dtype=bool), scores) == 0).all()
    few = np.round(scores, 1)  # ties count by the share that is needed
    assert above_threshold(few, right, few).sum() == pytest.approx(right.sum())
