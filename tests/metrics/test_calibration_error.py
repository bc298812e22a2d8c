"""Calibration errors: against plain loops written from their definitions, and in cases that can be done by hand."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oodometer.core.errors import OodometerError, UsageError
from oodometer.core.predictions import from_logits
from oodometer.metrics.calibration_error import (
    adaptive_calibration_error,
    expected_calibration_error,
    rms_calibration_error,
    rms_calibration_error_published,
)
from oodometer.metrics.metric import metrics, value_of

quick = settings(deadline=None, derandomize=True, max_examples=100)
ALL = (
    rms_calibration_error,
    rms_calibration_error_published,
    expected_calibration_error,
    adaptive_calibration_error,
)
NAMES = {
    "rms-calibration": rms_calibration_error,
    "rms-calibration:published": rms_calibration_error_published,
    "ece": expected_calibration_error,
    "adaptive-ece": adaptive_calibration_error,
}


def answers(n: int, seed: int = 0, *, levels: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Confidences, of that many levels or all different, of a model that is too sure."""
    rng = np.random.default_rng(seed)
    confidence = rng.permutation(np.linspace(0.1, 1, n)) if not levels else rng.integers(1, levels + 1, n) / levels
    return confidence, rng.random(n) < confidence**2


def combined(weights: list[float], gaps: list[float], norm: str) -> float:
    if norm == "l1":
        return sum(weight * abs(gap) for weight, gap in zip(weights, gaps, strict=True))
    return sum(weight * gap**2 for weight, gap in zip(weights, gaps, strict=True)) ** 0.5


def plain_published(confidence, right, norm="l2", size=100):
    """The published script: whole bins, the rest goes to the last one, and the last one is not looked at."""
    pairs = sorted(zip(confidence.tolist(), right.tolist(), strict=True))
    n_bins = len(pairs) // size
    weights, gaps = [], []
    for index in range(n_bins - 1):
        chunk = pairs[index * size : (index + 1) * size]
        weights.append(len(chunk) / len(pairs))
        gaps.append(sum(c for c, _ in chunk) / len(chunk) - sum(r for _, r in chunk) / len(chunk))
    return combined(weights, gaps, norm)


def plain_rms(confidence, right, norm="l2", size=100):
    """Every bin; the last one holds what remains."""
    pairs = sorted(zip(confidence.tolist(), right.tolist(), strict=True))
    n_bins = max(len(pairs) // size, 1)
    chunks = [pairs[i * size : None if i == n_bins - 1 else (i + 1) * size] for i in range(n_bins)]
    gaps = [sum(c - r for c, r in chunk) / len(chunk) for chunk in chunks]
    return combined([len(chunk) / len(pairs) for chunk in chunks], gaps, norm)


def plain_ece(confidence, right, norm="l1", bins=15):
    weights, gaps = [], []
    for index in range(bins):
        inside = (confidence > index / bins) & (confidence <= (index + 1) / bins)
        if index == 0:
            inside |= confidence == 0
        if inside.any():
            weights.append(inside.mean())
            gaps.append(confidence[inside].mean() - right[inside].mean())
    return combined(weights, gaps, norm)


def plain_adaptive(confidence, right, norm="l1", bins=15):
    order = np.argsort(confidence)
    edges = [len(order) * index // bins for index in range(bins + 1)]
    chunks = [order[low:high] for low, high in itertools.pairwise(edges) if high > low]
    gaps = [confidence[chunk].mean() - right[chunk].mean() for chunk in chunks]
    return combined([len(chunk) / len(order) for chunk in chunks], gaps, norm)


PLAIN = dict(zip(ALL, (plain_rms, plain_published, plain_ece, plain_adaptive), strict=True))


@pytest.mark.parametrize("norm", ["l1", "l2"])
@pytest.mark.parametrize("n", [200, 201, 299, 300, 1234, 5000])
@pytest.mark.parametrize("of", ALL)
def test_agrees_with_the_plain_loop(of, n, norm):
    confidence, right = answers(n, seed=n)
    assert of(confidence, right, norm=norm) == pytest.approx(PLAIN[of](confidence, right, norm), abs=1e-12)


@pytest.mark.parametrize("of", [expected_calibration_error, adaptive_calibration_error])
@pytest.mark.parametrize("bins", [1, 2, 10, 100])
def test_number_of_bins(of, bins):
    confidence, right = answers(1000)
    assert of(confidence, right, bins=bins) == pytest.approx(PLAIN[of](confidence, right, bins=bins), abs=1e-12)


@pytest.mark.parametrize("size", [1, 7, 50, 1000])
def test_size_of_bins(size):
    confidence, right = answers(2222)
    found = rms_calibration_error(confidence, right, bin_size=size)
    assert found == pytest.approx(plain_rms(confidence, right, size=size), abs=1e-12)
    found = rms_calibration_error_published(confidence, right, bin_size=size)
    assert found == pytest.approx(plain_published(confidence, right, size=size), abs=1e-12)


@quick
@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=60), st.integers(1, 20))
def test_ece_agrees_with_the_plain_loop_everywhere(pairs, bins):
    confidence, right = np.array([c for c, _ in pairs]), np.array([r for _, r in pairs])
    found = expected_calibration_error(confidence, right, bins=bins)
    assert found == pytest.approx(plain_ece(confidence, right, bins=bins), abs=1e-12)


@pytest.mark.parametrize("k", range(16))
def test_a_confidence_on_an_edge_belongs_to_the_bin_below(k):
    # 15 bins (k-1)/15 < c <= k/15: with c next to an answer of another bin the two gaps add up, with one of its own
    # bin they cancel.
    edge = k / 15
    inside = np.clip(edge - 0.03, 0, 1)
    found = expected_calibration_error(np.array([edge, inside]), np.array([True, False]))
    assert found == pytest.approx(abs(edge + inside - 1) / 2, abs=1e-12)


def test_below_200_images_there_is_one_bin():
    confidence, right = answers(199)
    # closed form: one bin compares the means only
    assert rms_calibration_error(confidence, right) == pytest.approx(confidence.mean() - right.mean(), abs=1e-12)
    assert rms_calibration_error(confidence[:1], right[:1]) == pytest.approx(abs(confidence[0] - right[0]))


@pytest.mark.parametrize("n", [1, 99, 100, 199])
def test_the_published_convention_has_no_bin_below_200_images(n):
    with pytest.raises(OodometerError, match=f"{n} images: .* at least 200; rms-calibration counts every bin"):
        rms_calibration_error_published(*answers(n))


def test_the_published_convention_does_not_see_the_most_confident():
    confidence, right = answers(250)
    top = np.argsort(confidence)[100:]
    changed = right.copy()
    changed[top] = ~changed[top]
    assert rms_calibration_error_published(confidence, right) == rms_calibration_error_published(confidence, changed)
    assert rms_calibration_error(confidence, right) != pytest.approx(rms_calibration_error(confidence, changed))


@pytest.mark.parametrize("of", ALL)
@pytest.mark.parametrize("levels", [0, 1, 3, 40])
def test_the_order_of_the_images_does_not_matter(of, levels):
    confidence, right = answers(777, levels=levels)
    rng = np.random.default_rng(5)
    expected = of(confidence, right)
    for _ in range(20):
        order = rng.permutation(777)
        assert of(confidence[order], right[order]) == pytest.approx(expected, abs=1e-13)


@pytest.mark.parametrize("of", ALL)
def test_ties_share_their_right_answers(of):
    """A model that always says 0.7 and is right in 60 % is 0.1 off in every bin, whatever the order."""
    confidence, right = np.full(1000, 0.7), np.arange(1000) < 600
    left_out = 0.9**0.5 if of is rms_calibration_error_published else 1
    assert of(confidence, right) == pytest.approx(0.1 * left_out, abs=1e-12)


def test_a_cut_tie_gives_each_bin_the_accuracy_expected_over_its_orders():
    rng = np.random.default_rng(1)
    confidence, right = np.repeat([0.2, 0.5, 0.6], [130, 190, 80]), rng.random(400) < 0.7
    accuracy = np.zeros(4)
    for _ in range(4000):
        shuffled = rng.permutation(400)
        order = shuffled[np.argsort(confidence[shuffled], kind="stable")]
        accuracy += right[order].reshape(4, 100).mean(axis=1) / 4000
    gaps = np.sort(confidence).reshape(4, 100).mean(axis=1) - accuracy
    # reference: simulation; the accuracies have a standard error below 0.05/sqrt(4000) = 0.0008
    assert rms_calibration_error(confidence, right) == pytest.approx(np.sqrt(np.mean(gaps**2)), abs=2e-3)
    # Sorting the right answers of each tie last would be another number.
    right_last = np.lexsort((right, confidence))
    sorted_gaps = (confidence - right)[right_last].reshape(4, 100).mean(axis=1)
    assert np.sqrt(np.mean(sorted_gaps**2)) > np.sqrt(np.mean(gaps**2)) + 0.005


@pytest.mark.parametrize("of", ALL)
def test_the_worst_and_the_best(of):
    sure = np.ones(400)
    assert of(sure, np.ones(400, bool)) == 0
    left_out = 0.75**0.5 if of is rms_calibration_error_published else 1
    assert of(sure, np.zeros(400, bool)) == pytest.approx(left_out)


@pytest.mark.parametrize("of", ALL)
def test_a_calibrated_model_is_near_zero(of):
    rng = np.random.default_rng(3)
    confidence = rng.random(200_000)
    # The expected squared gap of a bin of 100 is c(1 - c)/100 = 1/600 on average, and far less in larger bins.
    assert of(confidence, rng.random(200_000) < confidence) < 1.1 / 600**0.5


@pytest.mark.parametrize("of", ALL)
@pytest.mark.parametrize(
    ("confidence", "right"),
    [([], []), ([0.5], [True, False]), ([np.nan], [True]), ([1.5], [True]), ([-0.1], [True]), ([0.5], [2])],
)
def test_what_is_undefined_is_an_error(of, confidence, right):
    with pytest.raises(OodometerError):
        of(np.array(confidence), np.array(right))


def test_unknown_norms_and_bins_are_errors():
    with pytest.raises(UsageError, match="l1, l2"):
        rms_calibration_error(*answers(200), norm="l3")
    with pytest.raises(OodometerError, match="0 bins"):
        expected_calibration_error(*answers(200), bins=0)
    with pytest.raises(OodometerError, match="-1 images to a bin"):
        rms_calibration_error(*answers(200), bin_size=-1)


@pytest.mark.parametrize("name", NAMES)
def test_metrics_are_these_functions_of_rows(name):
    rng = np.random.default_rng(2)
    rows = from_logits(rng.normal(0, 3, (500, 4)), rng.integers(-1, 4, 500), np.arange(500))
    metric = metrics.get(name)
    labelled = rows.label >= 0
    expected = NAMES[name](rows.confidence[labelled], (rows.prediction == rows.label)[labelled])
    assert (metric.name, metric.kind, metric.better) == (name, "whole", "lower")
    assert value_of(metric, rows) == pytest.approx(expected, abs=1e-12)
