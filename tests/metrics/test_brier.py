"""The Brier score against scikit-learn and its definition; its parts against their sum."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import brier_score_loss

from oodometer.core.errors import OodometerError
from oodometer.core.predictions import from_logits
from oodometer.metrics.brier import brier_parts, brier_score, brier_scores, top_label_brier
from oodometer.metrics.metric import metrics, value_of

quick = settings(deadline=None, derandomize=True, max_examples=100)


def softmax(logits: np.ndarray) -> np.ndarray:
    return np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)


@pytest.mark.parametrize("k", [2, 3, 10])
def test_agrees_with_scikit_learn(k):
    rng = np.random.default_rng(k)
    logits, labels = rng.normal(0, 2, (300, k)), rng.integers(0, k, 300)
    probabilities = softmax(logits)
    # reference: sklearn.metrics.brier_score_loss, not scaled by half: the sum over classes
    expected = brier_score_loss(labels, probabilities, labels=list(range(k)), scale_by_half=False)
    assert brier_score(probabilities, labels) == pytest.approx(expected, abs=1e-12)
    metric = metrics.get("brier")
    assert (metric.name, metric.kind, metric.better) == ("brier", "mean", "lower")
    # The rows are stored as float32.
    assert value_of(metric, from_logits(logits, labels, np.arange(300))) == pytest.approx(expected, abs=1e-6)


def test_per_image_against_the_definition():
    rng = np.random.default_rng(0)
    probabilities, labels = softmax(rng.normal(0, 3, (50, 7))), rng.integers(0, 7, 50)
    expected = ((probabilities - np.eye(7)[labels]) ** 2).sum(axis=1)
    found = brier_scores((probabilities**2).sum(axis=1), np.log(probabilities[np.arange(50), labels]))
    assert found == pytest.approx(expected, abs=1e-12)


def test_the_best_and_the_worst():
    assert brier_scores(np.array([1.0, 1.0]), np.array([0.0, -np.inf])).tolist() == [0.0, 2.0]


@quick
@given(
    st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=80),
    st.integers(1, 20),
    st.sampled_from(["equal-width", "equal-mass"]),
)
def test_the_parts_add_up(pairs, bins, binning):
    confidence, right = np.array([c for c, _ in pairs]), np.array([r for _, r in pairs])
    parts = brier_parts(confidence, right, bins=bins, binning=binning)
    # closed form: the mean squared error itself
    assert parts.score == pytest.approx(np.mean((confidence - right) ** 2), abs=1e-12)
    assert top_label_brier(confidence, right) == pytest.approx(parts.score, abs=1e-12)
    assert min(parts.reliability, parts.resolution, parts.uncertainty, parts.within_variance) >= 0


def test_top_label_agrees_with_scikit_learn():
    rng = np.random.default_rng(1)
    confidence, right = rng.random(500), rng.random(500) < 0.6
    # reference: sklearn.metrics.brier_score_loss of two classes
    assert top_label_brier(confidence, right) == pytest.approx(brier_score_loss(right, confidence), abs=1e-12)


def test_murphys_three_parts_by_hand():
    """Ten images at 0.8, seven right; ten at 0.4, two right: no spread in the bins, so three parts suffice."""
    confidence = np.repeat([0.8, 0.4], 10)
    right = np.concatenate([np.arange(10) < 7, np.arange(10) < 2])
    parts = brier_parts(confidence, right)
    # closed form: (0.1² + 0.2²)/2; accuracies 0.7 and 0.2 about 0.45; 0.45 · 0.55
    assert (parts.reliability, parts.resolution, parts.uncertainty) == pytest.approx((0.025, 0.0625, 0.2475))
    assert (parts.within_variance, parts.within_covariance) == pytest.approx((0, 0), abs=1e-15)


def test_float32_confidences_find_their_bins():
    rng = np.random.default_rng(2)
    confidence, right = (rng.integers(0, 16, 400) / 15).astype(np.float32), rng.random(400) < 0.5
    expected = np.mean((confidence.astype(np.float64) - right) ** 2)
    assert brier_parts(confidence, right).score == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("squares", "logs"), [([0.5], [-1.0, -2.0]), ([np.nan], [-1.0]), ([0.5], [np.nan]), ([1.5], [-1.0]), ([0.5], [0.5])]
)
def test_what_is_no_probability_is_an_error(squares, logs):
    with pytest.raises(OodometerError):
        brier_scores(np.array(squares), np.array(logs))


def test_no_images_are_an_error():
    with pytest.raises(OodometerError, match="must be as many, and some"):
        brier_score(np.empty((0, 3)), np.empty(0, int))
    with pytest.raises(OodometerError, match="no images"):
        brier_parts(np.array([]), np.array([]))
    with pytest.raises(OodometerError, match="brier: no images"):
        value_of(metrics.get("brier"), from_logits(np.empty((0, 3)), np.empty(0, int), np.empty(0, int)))
