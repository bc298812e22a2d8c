"""The smooth calibration error: against plain sums over images, closed forms, and simulation of its interval."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import binomtest, norm

from oodometer.core.errors import OodometerError
from oodometer.metrics.metric import metrics
from oodometer.metrics.smooth_calibration import (
    errors_at,
    own_bandwidths,
    smooth_calibration_error,
    smooth_reliability,
    smoothed,
    spread_out,
)
from oodometer.metrics.smooth_calibration_interval import smooth_calibration_estimate
from simulated_answers import population

quick = settings(deadline=None, derandomize=True, max_examples=25)


def kernel(t, at, bandwidth):
    """The Gaussian reflected at 0 and 1, by its images at at + 2 k and −at + 2 k."""
    return sum(norm.pdf(t - side * at - 2 * times, scale=bandwidth) for times in range(-4, 5) for side in (1, -1))


def plain_error_at(confidence, right, bandwidth, places=1500):
    """The integral by the midpoint rule, of a sum over the images."""
    t = (np.arange(places) + 0.5) / places
    gaps = sum(kernel(t, c, bandwidth) * (r - c) for c, r in zip(confidence, right, strict=True)) / len(right)
    return np.abs(gaps).mean()


@pytest.mark.parametrize("n", [1, 7, 40])
def test_the_plain_integral_at_its_own_bandwidth(n):
    rng = np.random.default_rng(n)
    confidence = rng.random(n)
    right = rng.random(n) < confidence**2
    expected = brentq(lambda width: plain_error_at(confidence, right, width) - width, 0.01, 1, xtol=1e-6)
    assert smooth_calibration_error(confidence, right) == pytest.approx(expected, abs=2e-5)


@pytest.mark.parametrize("bandwidth", [0.02, 0.1, 0.5])
def test_the_kernel_is_the_reflected_gaussian(bandwidth):
    places = 1000
    t = (np.arange(places) + 0.5) / places
    for at in (0, 300, 997):
        found = smoothed(np.eye(places)[at][None], bandwidth)[0] * places
        assert found == pytest.approx(kernel(t, t[at], bandwidth), abs=1e-3 / bandwidth)
        assert found.mean() == pytest.approx(1, abs=1e-12)


def test_one_confidence_for_all_is_the_gap():
    """All gaps have one sign: smoothing moves them and loses nothing."""
    right = np.arange(1000) < 370
    for confidence in (0.0, 0.2, 0.37, 0.9, 1.0):
        found = smooth_calibration_error(np.full(1000, confidence), right)
        assert found == pytest.approx(abs(confidence - 0.37), abs=1e-6)


def test_calibrated_answers_tend_to_nought():
    rng = np.random.default_rng(0)
    errors = []
    for n in (100, 10_000, 1_000_000):
        confidence = rng.random(n)
        errors.append(smooth_calibration_error(confidence, rng.random(n) < confidence))
    # chance makes gaps of the order of n to the power of −1/3
    assert errors[0] > errors[1] > errors[2] > 0
    assert errors[2] < 0.005


def test_too_sure_everywhere_is_the_mean_gap():
    """Gaps of one sign: the error is their mean, in closed form 1/2 − 1/3."""
    rng = np.random.default_rng(1)
    confidence = rng.random(400_000)
    right = rng.random(400_000) < confidence**2
    assert smooth_calibration_error(confidence, right) == pytest.approx(1 / 6, abs=0.003)


def test_gaps_of_both_signs_that_lie_close_cancel():
    """Sure by 0.001 more, and wrong: bins may part them, the smooth error does not."""
    confidence, right = np.repeat([0.4995, 0.5005], 500), np.repeat([True, False], 500)
    assert smooth_calibration_error(confidence, right) < 0.05


@quick
@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=50), st.randoms(use_true_random=False))
def test_it_is_an_error(pairs, random):
    confidence, right = (np.array(column) for column in zip(*pairs, strict=True))
    found = smooth_calibration_error(confidence, right)
    assert 0 <= found <= 1
    # never above the mean size of the gaps, and never below the size of their mean
    assert abs((confidence - right).mean()) - 1e-6 <= found <= np.abs(confidence - right).mean() + 1e-6
    random.shuffle(pairs)
    confidence, right = (np.array(column) for column in zip(*pairs, strict=True))
    assert smooth_calibration_error(confidence, right) == pytest.approx(found, abs=1e-9)


def test_wider_is_never_more():
    rng = np.random.default_rng(2)
    gaps = rng.normal(size=(20, 128)) / 128
    errors = np.array([errors_at(gaps, width) for width in np.linspace(0.001, 1, 60)])
    assert (np.diff(errors, axis=0) <= 1e-12).all()
    for row, width in zip(gaps, own_bandwidths(gaps), strict=True):
        assert errors_at(row[None], width)[0] == pytest.approx(width, abs=1e-6)


def test_the_curve_tells_where_the_error_comes_from():
    rng = np.random.default_rng(3)
    confidence = rng.random(200_000)
    right = rng.random(200_000) < confidence**2
    curve = smooth_reliability(confidence, right)
    inside = (curve.confidence > 0.1) & (curve.confidence < 0.5)
    # closed form: smoothing t² with the variance s² adds s²
    expected = curve.confidence**2 + smooth_calibration_error(confidence, right) ** 2
    assert curve.accuracy[inside] == pytest.approx(expected[inside], abs=0.02)
    assert curve.density == pytest.approx(1, abs=0.05)
    assert curve.density.mean() == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize(("confidence", "right"), [([], []), ([0.5], [True, False]), ([np.nan], [True]), ([0.5], [2])])
@pytest.mark.parametrize("of", [smooth_calibration_error, smooth_calibration_estimate, smooth_reliability])
def test_what_is_undefined_is_an_error(of, confidence, right):
    with pytest.raises(OodometerError):
        of(np.array(confidence), np.array(right))


def test_few_images_have_no_interval():
    found = smooth_calibration_estimate(np.linspace(0, 1, 19), np.arange(19) % 2 == 0)
    assert (found.low, found.high, found.interval) == (None, None, "none: fewer than 20 images")


def test_the_same_seed_gives_the_same_interval():
    rng = np.random.default_rng(4)
    confidence = rng.random(300)
    right = rng.random(300) < confidence
    first, again, other = (smooth_calibration_estimate(confidence, right, seed=seed) for seed in (0, 0, 1))
    assert first == again
    assert other.high == pytest.approx(first.high, rel=0.1)
    assert first.interval == "inverted test 95%"
    assert metrics.get("smooth-ece").of(confidence, (~right).astype(int)) == first.value


def test_an_error_that_no_gap_of_the_other_sign_explains():
    """Far too unsure: gaps of the other sign are never as large, and say nothing about the least that is."""
    rng = np.random.default_rng(6)
    confidence = rng.uniform(0.05, 0.15, 20_000)
    found = smooth_calibration_estimate(confidence, rng.random(20_000) < 0.8)
    # all gaps are of one sign, so the error is their mean: the interval is that of a mean
    half = 1.96 * np.sqrt(0.8 * 0.2 / 20_000)
    assert (found.value - found.low, found.high - found.value) == pytest.approx((half, half), rel=0.25)


def test_images_that_come_in_groups_widen_it():
    rng = np.random.default_rng(5)
    confidence, groups = np.repeat(rng.random(60), 10), np.repeat(np.arange(60), 10)
    right = np.repeat(rng.random(60), 10) < confidence
    alone = smooth_calibration_estimate(confidence, right)
    grouped = smooth_calibration_estimate(confidence, right, clusters=groups)
    assert grouped.low < alone.low
    assert grouped.low == 0
    assert grouped.interval == "inverted test with clusters 95%"


@pytest.mark.slow
@pytest.mark.parametrize(("n", "sets"), [(50, 400), (300, 1000), (5000, 300)])
@pytest.mark.parametrize("temperature", [0.7, 1.0, 1.15, 1.5])
def test_the_interval_covers(n, sets, temperature):
    """By simulation, of models whose logits are the true ones times a temperature."""
    confidence, right = population(temperature)
    places = spread_out(confidence, confidence - right, 4096) / len(right)
    truth = 0.0 if temperature == 1 else float(own_bandwidths(places)[0])
    rng = np.random.default_rng(n)
    held = 0
    for _ in range(sets):
        some = rng.integers(len(right), size=n)
        found = smooth_calibration_estimate(confidence[some], rng.random(n) < right[some])
        held += found.low <= truth <= found.high
    assert binomtest(held, sets, 0.94, alternative="less").pvalue > 0.001
