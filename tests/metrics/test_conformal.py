"""Conformal sets: against plain loops and closed forms, and what they promise by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta, binomtest, kstest

from oodometer.analysis.conformal_scores import size_estimate
from oodometer.analysis.intervals import IntervalOptions
from oodometer.core.errors import OodometerError, UsageError
from oodometer.metrics.conformal import (
    adaptive_scores,
    adaptive_sizes,
    conformal_threshold,
    coverage_by_chance,
    least_likely_scores,
    least_likely_sizes,
    place_of_threshold,
)
from oodometer.stats.intervals import clopper_pearson_bounds
from simulated_answers import drawn_labels, probabilities

quick = settings(deadline=None, derandomize=True, max_examples=100)
ALPHAS = [0.05, 0.1, 0.32, 0.5]


def softmax(logits):
    exps = np.exp(np.asarray(logits, np.float64))
    return exps / exps.sum(axis=1, keepdims=True)


def plain_adaptive_score(p, label, u):
    """The classes from the best on, until the label's turn."""
    total = 0.0
    for k in sorted(range(len(p)), key=lambda k: (-p[k], k)):
        if k == label:
            return total + u * p[k]
        total += p[k]
    raise AssertionError


@quick
@given(st.lists(st.integers(0, 30), min_size=25, max_size=60), st.sampled_from(ALPHAS))
def test_the_threshold_is_the_least_that_enough_scores_stay_below(scores, alpha):
    found = conformal_threshold(np.array(scores, float), alpha=alpha)
    enough = (1 - alpha) * (len(scores) + 1) - 1e-9
    # reference: the definition
    assert found == min(one for one in scores if sum(other <= one for other in scores) >= enough)


@pytest.mark.parametrize(("alpha", "fewest"), [(0.1, 9), (0.05, 19), (0.5, 1), (0.01, 99)])
def test_the_fewest_images_that_can_promise(alpha, fewest):
    assert place_of_threshold(fewest, alpha) == fewest
    assert conformal_threshold(np.arange(float(fewest)), alpha=alpha) == fewest - 1
    with pytest.raises(OodometerError, match=f"^{fewest - 1} calibration images: to promise .* takes {fewest} or more"):
        conformal_threshold(np.arange(float(fewest - 1)), alpha=alpha)


@pytest.mark.parametrize("alpha", [0, 1, -0.1, 90, np.nan])
def test_no_alpha_is_an_error(alpha):
    with pytest.raises(UsageError, match=r"for example 0\.1"):
        conformal_threshold(np.arange(100.0), alpha=alpha)


@pytest.mark.parametrize("scores", [np.zeros((3, 3)), np.array([0.1] * 20 + [np.nan])])
def test_scores_that_are_none(scores):
    with pytest.raises(OodometerError, match="one for each calibration image"):
        conformal_threshold(scores)


@pytest.mark.parametrize("n_classes", [2, 3, 40])
def test_scores_and_sizes_against_plain_loops(n_classes):
    rng = np.random.default_rng(n_classes)
    logits = rng.normal(size=(60, n_classes)).round(1)  # some are equal
    p, labels, uniform = softmax(logits), rng.integers(n_classes, size=60), rng.random(60)
    rows = range(60)
    expected = [plain_adaptive_score(p[i], labels[i], uniform[i]) for i in rows]
    assert adaptive_scores(logits, labels, uniform) == pytest.approx(expected, abs=1e-12)
    for threshold in (0.02, 0.5, 0.93):
        members = [[plain_adaptive_score(p[i], k, uniform[i]) <= threshold for k in range(n_classes)] for i in rows]
        assert adaptive_sizes(logits, threshold, uniform).tolist() == [sum(some) for some in members]
        least = -np.log(threshold)
        assert least_likely_sizes(logits, least).tolist() == (p >= threshold).sum(axis=1).tolist()
    of_label = np.log(p[rows, labels])
    assert least_likely_scores(of_label) == pytest.approx(-of_label)
    # in the order of 1 − p, by which the sets are usually told
    assert np.diff(1 - p[rows, labels][np.argsort(least_likely_scores(of_label))]).min() >= 0


def test_many_rows_are_done_in_blocks(monkeypatch):
    rng = np.random.default_rng(0)
    logits, labels, uniform = rng.normal(size=(50, 7)), rng.integers(7, size=50), rng.random(50)
    whole = (
        adaptive_scores(logits, labels, uniform),
        adaptive_sizes(logits, 0.8, uniform),
        least_likely_sizes(logits, 2),
    )
    monkeypatch.setattr("oodometer.metrics.probabilities.BLOCK", 21)
    parts = (
        adaptive_scores(logits, labels, uniform),
        adaptive_sizes(logits, 0.8, uniform),
        least_likely_sizes(logits, 2),
    )
    for one, other in zip(whole, parts, strict=True):
        assert one.tolist() == other.tolist()


def test_closed_forms():
    # a model that says the same of all classes: the threshold lets in all of them, or none
    flat = np.zeros((100, 4))
    threshold = conformal_threshold(least_likely_scores(np.full(100, -np.log(4))))
    assert least_likely_sizes(flat, threshold).tolist() == [4] * 100
    # adaptive: of K equal classes those whose (rank + u) / K is not above it, of the calibration's uniform numbers
    assert adaptive_sizes(flat, 0.9, np.full(100, 0.5)).tolist() == [4] * 100  # 0.125, 0.375, 0.625, 0.875
    assert adaptive_sizes(flat, 0.8, np.full(100, 0.5)).tolist() == [3] * 100
    # a model that is surely right: one class
    sure = 50 * np.eye(4)
    assert least_likely_sizes(sure, conformal_threshold(least_likely_scores(np.zeros(100)))).tolist() == [1] * 4


def sets_of(adaptive: bool, logits, labels, rng):
    """The scores of the labels."""
    if adaptive:
        return adaptive_scores(logits, labels, rng.random(len(labels)))
    return least_likely_scores(np.log(softmax(logits)[np.arange(len(labels)), labels]))


@pytest.mark.parametrize("adaptive", [False, True])
@pytest.mark.parametrize("n", [19, 100])
def test_what_is_promised_holds_for_any_model(n, adaptive):
    """By simulation: over calibration sets, one new image is in its set in k / (n + 1) of all cases, k the place."""
    said, truth = probabilities(1.5, 10, 4000)
    rng = np.random.default_rng(n)
    held, sets = 0, 2000
    for _ in range(sets):
        some = rng.integers(len(said), size=n + 1)
        scores = sets_of(adaptive, np.log(said[some]), drawn_labels(truth[some], rng), rng)
        held += scores[-1] <= conformal_threshold(scores[:-1])
    assert binomtest(held, sets, place_of_threshold(n, 0.1) / (n + 1)).pvalue > 0.001


@pytest.mark.parametrize("adaptive", [False, True])
def test_coverage_by_chance_is_a_beta(adaptive):
    """By simulation: the coverage that a threshold has, of many new images, over 1,000 calibration sets."""
    said, truth = probabilities(1.5, 10, 200_000)
    rng = np.random.default_rng(1)
    scores = np.sort(sets_of(adaptive, np.log(said), drawn_labels(truth, rng), rng))
    n, coverages = 200, []
    for _ in range(1000):
        threshold = conformal_threshold(scores[rng.integers(len(scores), size=n)])
        coverages.append(np.searchsorted(scores, threshold, side="right") / len(scores))
    place = place_of_threshold(n, 0.1)
    assert kstest(coverages, beta(place, n + 1 - place).cdf).pvalue > 0.001
    low, high = coverage_by_chance(n)
    inside = int(sum(low <= one <= high for one in coverages))
    assert binomtest(inside, 1000, 0.95).pvalue > 0.001
    assert coverage_by_chance(5) == (1.0, 1.0)


def test_intervals_of_coverage_and_of_size_hold_those_of_the_threshold():
    """By simulation: 2,000 sets of 150 shifted images, and the truth of the same threshold on 100,000."""
    said, truth = probabilities(1.5, 10, 100_000)
    rng = np.random.default_rng(4)
    clean = least_likely_scores(np.log(said[np.arange(500), drawn_labels(said[:500], rng)]))
    threshold = conformal_threshold(clean)
    inside = -np.log(said) <= threshold
    sizes, shares = inside.sum(axis=1), (truth * inside).sum(axis=1)
    some = rng.integers(100_000, size=(2000, 150))
    covered = (rng.random(some.shape) < shares[some]).sum(axis=1)
    low, high = clopper_pearson_bounds(covered, 150, 0.95)
    held = int(((low <= shares.mean()) & (shares.mean() <= high)).sum())
    assert binomtest(held, 2000, 0.95, alternative="less").pvalue > 0.001
    assert held < 2000
    means = [size_estimate(one, 10, IntervalOptions()) for one in sizes[some]]
    held = sum(one.low <= sizes.mean() <= one.high for one in means)
    assert binomtest(held, 2000, 0.95).pvalue > 0.001


def test_under_a_shift_the_promise_is_void():
    """The evidence is weaker and the model does not know."""
    rng = np.random.default_rng(2)
    said, truth = probabilities(1.0, 10, 5000)
    threshold = conformal_threshold(sets_of(False, np.log(said), drawn_labels(truth, rng), rng))
    weaker = truth**0.3 / (truth**0.3).sum(axis=1, keepdims=True)
    covered = sets_of(False, np.log(said), drawn_labels(weaker, rng), rng) <= threshold
    assert covered.mean() < 0.8
    # as the threshold's own probability says: the sum of the true ones of the classes that are let in
    inside = -np.log(said) <= threshold
    expected = (weaker * inside).sum(axis=1).mean()
    assert binomtest(int(covered.sum()), 5000, expected).pvalue > 0.001


def test_what_is_undefined_is_an_error():
    for of in (lambda: least_likely_sizes(np.zeros((0, 4)), 1.0), lambda: least_likely_sizes(np.zeros(4), 1.0)):
        with pytest.raises(OodometerError, match=r"must be \(N, K\), of some images"):
            of()
