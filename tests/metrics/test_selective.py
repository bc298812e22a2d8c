"""Selective prediction: against plain loops, and against the mean over many orders where confidences tie."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, ndtri
from scipy.stats import binomtest

from oodometer.core.errors import OodometerError
from oodometer.core.predictions import from_logits
from oodometer.metrics.metric import metrics, value_of
from oodometer.metrics.resampled import resampled_answers
from oodometer.metrics.selective import (
    area_under_response_curve,
    area_under_risk_curve,
    coverage_at_risk,
    excess_area_under_risk_curve,
    influences_on_area,
    influences_on_risk,
    response_rate_accuracy,
    risk_at_coverage,
)

quick = settings(deadline=None, derandomize=True, max_examples=150)
ALL = (
    area_under_response_curve,
    area_under_risk_curve,
    excess_area_under_risk_curve,
    coverage_at_risk,
    risk_at_coverage,
)
tied = st.lists(st.tuples(st.integers(0, 6), st.booleans()), min_size=1, max_size=40)


def answers(n: int, seed: int = 0, *, levels: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    confidence = rng.permutation(np.linspace(0, 1, n)) if not levels else rng.integers(0, levels, n) / levels
    return confidence, rng.random(n) < confidence**2


def unpacked(pairs):
    return np.array([c for c, _ in pairs]) / 6, np.array([r for _, r in pairs])


def plain_curve(confidence, right):
    """Accuracy among the k most confident, in the order in which equals come."""
    order = sorted(range(len(right)), key=lambda index: -confidence[index])
    return [sum(right[index] for index in order[:k]) / k for k in range(1, len(order) + 1)]


def plain_coverage(confidence, right, risk):
    coverages = [0.0]
    for threshold in confidence:
        answered = confidence >= threshold
        if (~right[answered]).sum() / answered.sum() <= risk:
            coverages.append(answered.mean())
    return max(coverages)


@pytest.mark.parametrize("n", [1, 2, 3, 57, 300])
def test_without_ties_against_the_plain_loop(n):
    confidence, right = answers(n, seed=n)
    expected = plain_curve(confidence, right)
    curve = response_rate_accuracy(confidence, right)
    assert curve.accuracy == pytest.approx(expected, abs=1e-12)
    assert curve.response_rate == pytest.approx([k / n for k in range(1, n + 1)], abs=1e-15)
    assert area_under_response_curve(confidence, right) == pytest.approx(np.mean(expected), abs=1e-12)
    assert area_under_risk_curve(confidence, right) == pytest.approx(1 - np.mean(expected), abs=1e-12)


def test_ties_are_the_mean_over_all_orders_exactly():
    confidence, right = np.array([0.5, 0.9, 0.5, 0.5, 0.9, 0.2]), np.array([1, 0, 0, 1, 1, 0], dtype=bool)
    orders = [list(order) for order in itertools.permutations(range(6))]
    # reference: the plain loop over all 720 orders
    expected = np.mean([plain_curve(confidence[order], right[order]) for order in orders], axis=0)
    assert response_rate_accuracy(confidence, right).accuracy == pytest.approx(expected, abs=1e-12)


def test_ties_are_the_mean_over_random_orders():
    confidence, right = answers(200, levels=5)
    rng = np.random.default_rng(1)
    areas = []
    for _ in range(2000):
        order = rng.permutation(200)
        areas.append(np.mean(plain_fast(confidence[order], right[order])))
    # reference: simulation
    standard_error = np.std(areas) / 2000**0.5
    assert standard_error > 0
    assert area_under_response_curve(confidence, right) == pytest.approx(np.mean(areas), abs=4 * standard_error)


def plain_fast(confidence, right):
    return np.cumsum(right[np.argsort(-confidence, kind="stable")]) / np.arange(1, len(right) + 1)


@quick
@given(tied, st.randoms(use_true_random=False))
def test_the_order_of_the_images_does_not_matter(pairs, random):
    before = [of(*unpacked(pairs)) for of in ALL]
    random.shuffle(pairs)
    assert [of(*unpacked(pairs)) for of in ALL] == before


@quick
@given(tied, st.sampled_from([0.0, 0.05, 0.1, 1 / 3, 0.5, 1.0]))
def test_coverage_against_all_thresholds(pairs, risk):
    confidence, right = unpacked(pairs)
    found = coverage_at_risk(confidence, right, risk=risk)
    assert found == pytest.approx(plain_coverage(confidence, right, risk), abs=1e-12)


def test_coverage_at_exactly_the_risk_counts():
    # 1 wrong of 20, the twentieth
    confidence, right = np.linspace(1, 0.5, 25), np.arange(25) < 19
    assert coverage_at_risk(confidence, right, risk=0.05) == 20 / 25


def test_coverage_is_the_largest_even_after_a_mistake():
    confidence, right = np.linspace(1, 0.5, 40), np.arange(40) != 0
    assert coverage_at_risk(confidence, right, risk=0.05) == 1.0
    assert coverage_at_risk(confidence, right, risk=0.0) == 0.0


def test_all_right_and_all_wrong():
    confidence, _ = answers(50)
    for right, area, coverage in ((np.ones(50, bool), 1.0, 1.0), (np.zeros(50, bool), 0.0, 0.0)):
        assert area_under_response_curve(confidence, right) == area
        assert area_under_risk_curve(confidence, right) == 1 - area
        assert coverage_at_risk(confidence, right) == coverage
        assert excess_area_under_risk_curve(confidence, right) == 0.0


def test_one_confidence_for_all_is_the_accuracy():
    right = np.arange(100) < 37
    assert area_under_response_curve(np.full(100, 0.5), right) == pytest.approx(0.37, abs=1e-12)


def test_excess_is_zero_for_the_best_order_and_positive_else():
    right = np.random.default_rng(0).random(300) < 0.6
    confidence = np.where(right, 0.6, 0.4)
    assert excess_area_under_risk_curve(confidence, right) == pytest.approx(0, abs=1e-12)
    # closed form of the best AURC: errors only after the right ones, mean over k of max(0, k - right) / k
    best = sum(max(0, k - right.sum()) / k for k in range(1, 301)) / 300
    other, _ = answers(300)
    expected = area_under_risk_curve(other, right) - best
    assert excess_area_under_risk_curve(other, right) == pytest.approx(expected, abs=1e-12)
    assert expected > 0


@pytest.mark.parametrize("of", ALL)
@pytest.mark.parametrize(
    ("confidence", "right"), [([], []), ([0.5], [True, False]), ([np.nan], [True]), ([1.5], [True]), ([0.5], [2])]
)
def test_what_is_undefined_is_an_error(of, confidence, right):
    with pytest.raises(OodometerError):
        of(np.array(confidence), np.array(right))


@pytest.mark.parametrize("risk", [-0.1, 5, np.nan])
def test_no_risk_is_an_error(risk):
    with pytest.raises(OodometerError, match=r"for example 0\.05"):
        coverage_at_risk(*answers(5), risk=risk)


@pytest.mark.parametrize("coverage", [0.0, 1.5, np.nan])
def test_no_coverage_is_an_error(coverage):
    with pytest.raises(OodometerError, match=r"for example 0\.8"):
        risk_at_coverage(*answers(5), coverage=coverage)


@pytest.mark.parametrize("coverage", [0.01, 0.5, 0.8, 1.0])
@pytest.mark.parametrize("n", [1, 5, 57, 300])
def test_risk_at_coverage_is_a_point_of_the_plain_curve(n, coverage):
    confidence, right = answers(n, seed=n)
    answered = next(k for k in range(1, n + 1) if Fraction(k, n) >= Fraction(str(coverage)))
    expected = 1 - plain_curve(confidence, right)[answered - 1]
    assert risk_at_coverage(confidence, right, coverage=coverage) == pytest.approx(expected, abs=1e-12)


def test_risk_at_coverage_of_ties_is_the_mean_over_all_orders():
    confidence, right = np.array([0.9, 0.5, 0.5, 0.5, 0.2]), np.array([1, 1, 0, 0, 0], dtype=bool)
    # of the four most confident, the sure one and all of the tie: two are wrong
    assert risk_at_coverage(confidence, right) == 0.5
    # closed form: three answered, two of the tie, of which each is wrong in two of three cases
    assert risk_at_coverage(confidence, right, coverage=0.6) == pytest.approx(2 * (2 / 3) / 3, abs=1e-12)


@pytest.mark.parametrize("n", [10_000, 50_000])
def test_influences_on_risk_give_an_interval_that_covers(n):
    """By simulation; confidence uniform, right as often as its root."""
    rng = np.random.default_rng(n)
    truth = 1 - (2 / 3) * (1 - 0.2**1.5) / 0.8
    held, sets = 0, 1000 if n == 10_000 else 300
    for _ in range(sets):
        confidence = rng.random(n)
        risk, influences = influences_on_risk(confidence, rng.random(n) < np.sqrt(confidence))
        held += abs(risk - truth) <= ndtri(0.975) * influences.std() / np.sqrt(n)
    assert binomtest(held, sets, 0.95).pvalue > 0.001


@pytest.mark.parametrize("levels", [12, 10**9])
def test_influences_on_risk_are_those_of_the_bootstrap(levels):
    """The deviation over resamples, of images of which many are as sure as each other or none."""
    rng = np.random.default_rng(7)
    confidence = np.ceil(rng.random(4000) * levels) / levels
    right = rng.random(4000) < np.sqrt(confidence)
    risk, influences = influences_on_risk(confidence, right)
    assert risk == pytest.approx(risk_at_coverage(confidence, right), abs=1e-12)
    assert influences.mean() == pytest.approx(0, abs=0.01)
    counts = rng.multinomial(4000, np.full(4000, 1 / 4000), size=1000)
    draws = resampled_answers(["risk@80%"], confidence, right, [counts])["risk@80%"]
    assert influences.std() / np.sqrt(4000) == pytest.approx(draws.std(), rel=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("n", [200, 500])
def test_the_bootstrap_of_risk_at_coverage_covers(n):
    """By simulation: the threshold is not known, so that an exact interval of the answered alone would be too short."""
    rng = np.random.default_rng(n)
    # confidence uniform, right as often as its root: the risk among the upper 80 % in closed form
    truth = 1 - (2 / 3) * (1 - 0.2**1.5) / 0.8
    counts = rng.multinomial(n, np.full(n, 1 / n), size=400)
    held, sets = 0, 1000
    for _ in range(sets):
        confidence = rng.random(n)
        right = rng.random(n) < np.sqrt(confidence)
        draws = resampled_answers(["risk@80%"], confidence, right, [counts])["risk@80%"]
        low, high = np.quantile(draws, [0.025, 0.975])
        held += low <= truth <= high
    assert binomtest(held, sets, 0.94, alternative="less").pvalue > 0.001
    assert binomtest(held, sets, 0.96, alternative="greater").pvalue > 0.001


@pytest.mark.parametrize(
    ("name", "of", "better"),
    [
        ("aurra", area_under_response_curve, "higher"),
        ("aurc", area_under_risk_curve, "lower"),
        ("coverage@5%", coverage_at_risk, "higher"),
        ("risk@80%", risk_at_coverage, "lower"),
    ],
)
def test_metrics_are_these_functions_of_rows(name, of, better):
    rng = np.random.default_rng(2)
    labels = rng.integers(-1, 4, 300)
    rows = from_logits(rng.normal(0, 3, (300, 4)) + 4 * np.eye(5)[labels][:, :4], labels, np.arange(300))
    metric = metrics.get(name)
    labelled = labels >= 0
    expected = of(rows.confidence[labelled], (rows.prediction == labels)[labelled])
    assert (metric.name, metric.kind, metric.better) == (name, "whole", better)
    assert 0 < expected < 1
    assert value_of(metric, rows) == expected


@pytest.mark.parametrize("decimals", [1, 8])
def test_influences_are_those_of_the_jackknife(decimals):
    """What the area loses with each image, times N: a closed form and a plain loop agree up to the order of 1/N."""
    rng = np.random.default_rng(3)
    n = 2_000
    confidence = rng.random(n).round(decimals)
    right = rng.random(n) < confidence
    area = area_under_response_curve(confidence, right)
    order = np.argsort(confidence, kind="stable")[::-1]
    without = [area_under_response_curve(np.delete(confidence, at), np.delete(right, at)) for at in order]
    jackknife = (n - 1) * (area - np.array(without))
    _, found = influences_on_area(confidence, right)
    assert found.mean() == pytest.approx(0, abs=1e-12)
    assert found.std() == pytest.approx(jackknife.std(), rel=0.005)
    assert np.corrcoef(found, jackknife)[0, 1] > 0.999


@pytest.mark.slow
@pytest.mark.parametrize("ease", [-1.5, 0.0, 2.0])
def test_influences_give_an_interval_that_covers(ease):
    """By simulation: 95 % intervals of 10,000 images hold the area of four million."""
    rng = np.random.default_rng(0)

    def drawn(n: int) -> tuple[np.ndarray, np.ndarray]:
        sure = rng.normal(size=n) + ease
        return expit(1.2 * sure), rng.random(n) < expit(2 * sure)

    truth = area_under_response_curve(*drawn(4_000_000))
    held, sets, n = 0, 400, 10_000
    for _ in range(sets):
        confidence, right = drawn(n)
        half = ndtri(0.975) * influences_on_area(confidence, right)[1].std() / np.sqrt(n)
        held += abs(area_under_response_curve(confidence, right) - truth) <= half
    assert binomtest(held, sets, 0.95).pvalue > 0.01
