"""Classwise calibration error: against plain loops and scikit-learn, and its interval by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, binomtest
from sklearn.calibration import calibration_curve

from oodometer.core.errors import OodometerError
from oodometer.metrics.calibration_error import expected_calibration_error
from oodometer.metrics.classwise_calibration import (
    class_bins,
    classwise_calibration_error,
    classwise_calibration_estimate,
    error_of_classes,
    mean_distance,
)
from simulated_answers import drawn_labels, probabilities


def answers(n: int, k: int, seed: int = 0, temperature: float = 1.3):
    said, truth = probabilities(temperature, k, n, seed)
    return said, drawn_labels(truth, np.random.default_rng(seed + 1))


def plain_error(p, labels, bins=15):
    n, k = p.shape
    total = 0.0
    for one in range(k):
        for b in range(bins):
            inside = [i for i in range(n) if b / bins < p[i, one] <= (b + 1) / bins or (b == 0 and p[i, one] == 0)]
            if inside:
                gap = sum(p[i, one] for i in inside) - sum(labels[i] == one for i in inside)
                total += abs(gap) / n
    return total / k


@pytest.mark.parametrize(("n", "k"), [(1, 2), (40, 3), (200, 10)])
def test_the_plain_loop(n, k):
    p, labels = answers(n, k, seed=n)
    assert classwise_calibration_error(p, labels) == pytest.approx(plain_error(p, labels), abs=1e-9)
    assert classwise_calibration_error(p, labels, bins=4) == pytest.approx(plain_error(p, labels, 4), abs=1e-9)


def test_the_curves_of_scikit_learn():
    p, labels = answers(3000, 5)
    errors = []
    for k in range(5):
        share, said = calibration_curve(labels == k, p[:, k], n_bins=15)
        sizes = np.histogram(p[:, k], bins=15, range=(0, 1))[0]
        errors.append(np.abs(share - said) @ sizes[sizes > 0] / 3000)
    assert classwise_calibration_error(p, labels) == pytest.approx(np.mean(errors), abs=1e-9)


def test_of_two_classes_it_is_that_of_either_class():
    """The gaps of both are the same ones, so the mean over them is the error of one; bins lie alike on both sides."""
    rng = np.random.default_rng(0)
    p = rng.random(2000)
    labels = (rng.random(2000) < p**2).astype(int)
    found = classwise_calibration_error(np.stack([1 - p, p], axis=1), labels)
    assert found == pytest.approx(expected_calibration_error(p, labels == 1), abs=1e-9)


def test_blocks_and_single_precision(monkeypatch):
    p, labels = answers(300, 6)
    whole = classwise_calibration_estimate(p, labels)
    monkeypatch.setattr("oodometer.metrics.classwise_calibration.BLOCK", 100)
    parts = classwise_calibration_estimate(p, labels)
    assert (parts.low, parts.high) == pytest.approx((whole.low, whole.high), abs=1e-9)
    assert classwise_calibration_error(p, labels) == pytest.approx(whole.value, abs=1e-12)
    assert classwise_calibration_error(p.astype(np.float32), labels) == pytest.approx(whole.value, abs=1e-5)


def test_the_order_of_images_and_the_names_of_classes_do_not_matter():
    rng = np.random.default_rng(3)
    p, labels = answers(200, 5)
    images, classes = rng.permutation(200), rng.permutation(5)
    renamed = np.argsort(classes)[labels]
    assert classwise_calibration_error(p[images], labels[images]) == pytest.approx(
        classwise_calibration_error(p, labels)
    )
    assert classwise_calibration_error(p[:, classes], renamed) == pytest.approx(classwise_calibration_error(p, labels))


def test_the_mean_distance_of_a_count_is_the_sum_over_all_counts():
    n, share, place = (each.ravel() for each in np.meshgrid([1, 2, 7, 40], [0.0, 0.01, 0.4, 1.0], [0.0, 0.3, 1.0, 6.5]))
    # reference: scipy's binomial distribution, count by count
    expected = [
        sum(binom(int(m), q).pmf(x) * abs(x - at) for x in range(int(m) + 1))
        for m, q, at in zip(n, share, place, strict=True)
    ]
    assert mean_distance(n.astype(float), share, place) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("k", [2, 10])
def test_how_far_classes_move_together(k):
    """The standard deviation of the error of a calibrated model: by simulation, and from the bins."""
    p, _ = probabilities(1.0, k, 2000)
    rng = np.random.default_rng(k)
    found = [class_bins(p, drawn_labels(p, rng)) for _ in range(300)]
    together = np.mean([one.together for one in found])
    assert together == pytest.approx(2 if k == 2 else 1.02, abs=0.03)
    spread = np.std([error_of_classes(one) for one in found])
    alone = np.sqrt(sum(found[0].sums * (1 - found[0].sums / found[0].sizes)) * (1 - 2 / np.pi))
    assert spread / (alone * np.sqrt(together) / found[0].n_probabilities) == pytest.approx(1, abs=0.15)


@pytest.mark.parametrize(
    ("p", "labels", "why"),
    [
        (np.zeros((0, 3)), np.zeros(0, int), "no labelled images"),
        (np.full((2, 2), 0.5), np.zeros(3, int), r"must be \(N, K\) and \(N,\)"),
        (np.full((2, 2), np.nan), np.zeros(2, int), r"outside of \[0, 1\]"),
        (np.full((2, 2), 0.3), np.zeros(2, int), r"add up to 0\.6, not 1"),
        (np.full((2, 2), 0.5), np.array([0, 2]), r"a label outside of 0\.\.1"),
        (np.full((2, 2), 0.5), np.array([0, -1]), r"a label outside of 0\.\.1"),
    ],
)
def test_what_is_undefined_is_an_error(p, labels, why):
    with pytest.raises(OodometerError, match=why):
        classwise_calibration_error(p, labels)


def test_few_images_have_no_interval():
    found = classwise_calibration_estimate(*answers(19, 3))
    assert (found.low, found.interval) == (None, "none: fewer than 20 images")


@pytest.mark.parametrize("share", [0.0, 0.5, 0.9, 1.0])
def test_all_probabilities_in_one_bin(share):
    """Two bins, whose accuracies may be 0 and 1: the error is |0.6 − share|, its interval about that of a share."""
    labels = (np.arange(1000) >= 1000 * share).astype(int)
    found = classwise_calibration_estimate(np.array([[0.6, 0.4]] * 1000), labels)
    assert found.value == pytest.approx(abs(0.6 - share), abs=1e-9)
    half = 1.96 * np.sqrt(max(share * (1 - share), 0.003) / 1000)
    assert found.value - 1.5 * half < found.low <= found.value <= found.high < found.value + 1.5 * half


def test_images_that_come_in_groups_widen_it():
    p, labels = answers(400, 5, temperature=2.0)
    p, labels = np.repeat(p, 5, axis=0), np.repeat(labels, 5)
    alone = classwise_calibration_estimate(p, labels)
    grouped = classwise_calibration_estimate(p, labels, clusters=np.repeat(np.arange(400), 5))
    assert grouped.value == alone.value
    assert grouped.high - grouped.low > 1.5 * (alone.high - alone.low)
    assert grouped.interval == "inverted test with clusters 95%"


@pytest.mark.slow
@pytest.mark.parametrize(("k", "n", "sets"), [(2, 300, 1000), (10, 1000, 1000), (100, 1000, 150)])
@pytest.mark.parametrize("temperature", [1.0, 1.15, 1.5])
def test_the_interval_covers(k, n, sets, temperature):
    """By simulation, of models whose logits are the true ones times a temperature."""
    said, truth = probabilities(temperature, k, 50_000)
    which = np.ceil(said * 15).astype(int) + 100 * np.arange(k)
    error = np.abs(np.bincount(which.ravel(), weights=(said - truth).ravel())).sum() / said.size
    rng = np.random.default_rng(k)
    held = 0
    for _ in range(sets):
        some = rng.integers(len(said), size=n)
        found = classwise_calibration_estimate(said[some], drawn_labels(truth[some], rng))
        held += found.low <= error <= found.high
    assert binomtest(held, sets, 0.94, alternative="less").pvalue > 0.001
