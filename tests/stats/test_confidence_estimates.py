"""Thresholded confidence and the difference of confidences: a slow rewriting, closed forms, simulation."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta

from oodometer.core.errors import OodometerError
from oodometer.stats.confidence_estimates import average_thresholded_confidence, difference_of_confidences

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
