"""Intervals of calibration errors: their distribution against simulation, and how often they hold the true error."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import binomtest, chi2, foldnorm, gamma, ncx2

from oodometer.core.errors import OodometerError
from oodometer.metrics.calibration_error import BINNINGS, Bins, norm_of
from oodometer.metrics.calibration_interval import (
    Cumulants,
    _share_below,
    calibration_estimate,
    calibration_interval,
    calibration_intervals,
    cumulants_of,
    design_effect,
    quantile_of,
)
from oodometer.metrics.metric import metrics
from simulated_answers import population


def true_error(name: str, n: int, confidence: np.ndarray, right: np.ndarray) -> float:
    """The error of the whole population in the bins that n images have: a plain sum over them."""
    order = np.argsort(confidence)
    confidence, right = confidence[order], right[order]
    if name == "ece":
        edges = np.searchsorted(confidence, np.arange(16) / 15)
    else:
        bins = 15 if name == "adaptive-ece" else n // 100
        edges = np.arange(bins + 1) * len(confidence) // bins
    parts = [slice(low, high) for low, high in pairwise(edges) if high > low]
    gaps = np.array([confidence[part].mean() - right[part].mean() for part in parts])
    weights = np.array([part.stop - part.start for part in parts]) / len(confidence)
    return float(np.sqrt(weights @ gaps**2) if name.startswith("rms") else weights @ np.abs(gaps))


@pytest.mark.slow
@pytest.mark.parametrize("temperature", [1.0, 1.15, 1.5])
@pytest.mark.parametrize(
    ("name", "n", "sets"),
    [
        *((name, n, 300) for name in ("ece", "adaptive-ece") for n in (50, 300, 1000)),
        *(("rms-calibration", n, 300) for n in (200, 1000)),
        *((name, 50_000, 30) for name in ("ece", "adaptive-ece", "rms-calibration")),
    ],
)
def test_coverage(name, n, sets, temperature):
    confidence, right = population(temperature)
    truth = 0.0 if temperature == 1 else true_error(name, n, confidence, right)
    bins_of, norm = BINNINGS[name]
    rng = np.random.default_rng([n, sets])
    covered = 0
    for _ in range(sets):
        some = rng.integers(len(confidence), size=n)
        bins = bins_of(confidence[some], rng.random(n) < right[some])
        low, high = calibration_interval(bins, norm)
        assert low <= norm_of(bins.weights, bins.gaps, norm) <= high
        covered += low <= truth <= high
    # a coverage of 94 % is denied one time in a thousand
    assert binomtest(covered, sets, 0.94, alternative="less").pvalue > 0.001


@pytest.mark.slow
@pytest.mark.parametrize(("clustered", "share"), [(True, 0.93), (False, None)])
def test_coverage_of_clusters(clustered, share):
    """Ten frames of each video that are all right or all wrong: without its clusters the interval is far too short."""
    rng = np.random.default_rng(12)
    clusters = np.repeat(np.arange(60), 10)
    covered = 0
    for _ in range(200):
        sure = np.repeat(rng.uniform(0.4, 1.0, 60), 10)
        right = np.repeat(rng.random(60), 10) < sure
        found = calibration_estimate("ece", sure, right, value=0.1, clusters=clusters if clustered else None)
        covered += found.low == 0
    if share is None:
        assert covered < 100
    else:
        assert binomtest(covered, 200, share, alternative="less").pvalue > 0.001


GAPS, VARIANCE, WEIGHTS = np.array([0.0, 0.05, -0.1]), np.array([0.01, 0.004, 0.001]), np.array([0.2, 0.5, 0.3])


def test_moments_of_sizes_are_those_of_folded_normal_values():
    found = cumulants_of(WEIGHTS, GAPS, VARIANCE, "l1")
    # reference: scipy.stats.foldnorm; cumulants of independent values add up
    parts = [
        foldnorm(abs(gap) / np.sqrt(variance), scale=weight * np.sqrt(variance)).stats("mvs")
        for gap, variance, weight in zip(GAPS, VARIANCE, WEIGHTS, strict=True)
    ]
    mean, variance = (sum(float(part[at]) for part in parts) for at in (0, 1))
    third = sum(float(skewness * of**1.5) for _, of, skewness in parts)
    assert [float(one) for one in found] == pytest.approx([mean, variance, third], rel=1e-9)


def test_moments_of_squares_are_those_of_noncentral_chi_squares():
    found = cumulants_of(WEIGHTS, GAPS, VARIANCE, "l2")
    # reference: scipy.stats.ncx2, of which scipy wants a shift above 0
    parts = [
        ncx2(1, max(gap**2 / variance, 1e-12), scale=weight * variance).stats("mvs")
        for gap, variance, weight in zip(GAPS, VARIANCE, WEIGHTS, strict=True)
    ]
    mean, variance = (sum(float(part[at]) for part in parts) for at in (0, 1))
    third = sum(float(skewness * of**1.5) for _, of, skewness in parts)
    assert [float(one) for one in found] == pytest.approx([mean, variance, third], rel=1e-6)


@given(st.integers(1, 400), st.floats(0.01, 0.99))
def test_the_distribution_is_exact_where_it_is_a_chi_square(free, share):
    # closed form: cumulants n, 2 n and 8 n
    cumulants = Cumulants(*(np.array([float(times * free)]) for times in (1, 2, 8)))
    assert quantile_of(cumulants, share)[0] == pytest.approx(chi2.ppf(share, free), rel=1e-6, abs=1e-9)
    assert _share_below(cumulants, float(chi2.ppf(share, free)))[0] == pytest.approx(share, abs=1e-6)


@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_the_distribution_is_that_of_simulated_gaps(norm):
    # three bins of 100 images at accuracies of 60, 80 and 90 %
    variance, weights = np.array([0.0024, 0.0016, 0.0009]), np.full(3, 1 / 3)
    drawn = GAPS + np.sqrt(variance) * np.random.default_rng(1).normal(size=(200_000, 3))
    sums = norm_of(weights, drawn, norm) ** (2 if norm == "l2" else 1)
    cumulants = Cumulants(*(one[None] for one in cumulants_of(weights, GAPS, variance, norm)))
    for share in (0.025, 0.5, 0.975):
        # three moments of three bins: shares to a percent, of which 0.1 are the simulation's
        assert (sums < quantile_of(cumulants, share)[0]).mean() == pytest.approx(share, abs=0.012)


def test_a_calibrated_model_reaches_down_to_0_and_a_worse_one_lies_higher():
    sizes = np.full(10, 1000)
    confidence = np.linspace(0.5, 0.95, 10)
    ends = [
        calibration_interval(Bins(sizes, sizes * confidence, sizes * (confidence - gap), 10_000), "l1")
        for gap in (0.0, 0.005, 0.05, 0.2)
    ]
    assert ends[0][0] == ends[1][0] == 0
    assert 0.03 < ends[2][0] < 0.05 < ends[2][1] < 0.07
    assert ends[2][1] < ends[3][0] < 0.2 < ends[3][1]
    wide, narrow = (
        calibration_interval(Bins(sizes, sizes * confidence, sizes * (confidence - 0.2), 10_000), "l1", level=level)
        for level in (0.99, 0.8)
    )
    assert wide[0] < narrow[0] < narrow[1] < wide[1]


@pytest.mark.parametrize("name", BINNINGS)
def test_a_model_that_always_says_1_and_is_right(name):
    """No gap anywhere, and yet nothing is sure: of 600 images without an error up to 0.6 % may be wrong."""
    found = calibration_estimate(name, np.ones(600), np.ones(600, dtype=bool), value=0.0)
    assert (found.value, found.low) == (0.0, 0.0)
    assert 0.001 < found.high < 0.1


def test_where_there_is_no_interval_it_says_why():
    sure, right = np.linspace(0.3, 0.9, 199), np.arange(199) % 2 == 0
    found = calibration_estimate("rms-calibration", sure, right, value=0.1)
    assert (found.value, found.low, found.high, found.n) == (0.1, None, None, 199)
    assert found.interval == "none: fewer than 200 images are one bin, the error of the mean confidence alone"
    found = calibration_estimate("ece", sure[:19], right[:19], value=0.1)
    assert (found.low, found.interval) == (None, "none: fewer than 20 images")
    with pytest.raises(OodometerError, match="all images are in one cluster"):
        calibration_estimate("ece", sure, right, value=0.1, clusters=np.zeros(199))


def test_the_design_effect_is_that_of_means_of_clusters():
    rng = np.random.default_rng(3)
    clusters = np.repeat(np.arange(50), 4)
    sure, right = rng.random(200), np.repeat(rng.random(50), 4) < 0.6
    gaps = sure - right
    means = gaps.reshape(50, 4).mean(axis=1)
    # closed form: the variance of the mean of 50 means over that of a mean of 200 independent images
    expected = (means.var(ddof=1) / 50) / (gaps.var() / 200)
    assert design_effect(sure, right, clusters) == pytest.approx(expected)
    assert design_effect(sure, right, np.arange(200)) == pytest.approx(1.0, abs=0.01)


@given(st.lists(st.tuples(st.sampled_from([0.1, 1 / 15, 0.5, 0.93, 1.0]), st.booleans()), min_size=20, max_size=260))
def test_every_interval_holds_its_value(answers):
    confidence, right = (np.array(column) for column in zip(*answers, strict=True))
    for name in BINNINGS:
        try:
            value = metrics.get(name).of(confidence, np.where(right, 0, 1))
        except OodometerError:
            continue
        found = calibration_estimate(name, confidence, right, value=value)
        bins_of, norm = BINNINGS[name]
        bins = bins_of(confidence, right)
        assert norm_of(bins.weights, bins.gaps, norm) == pytest.approx(value, abs=1e-12)
        assert found.low is None or 0 <= found.low <= value <= found.high <= 1


def bins_of_models(name: str) -> list[Bins]:
    """Of models too sure, too unsure and calibrated, and of few images and many."""
    rng = np.random.default_rng(5)
    many = []
    for n in (250, 1_000, 5_000):
        for times in (0.3, 0.8, 1.0, 1.3, 4.0):
            confidence = rng.beta(4, 1.5, n).astype(np.float32)
            odds = (confidence / (1 - confidence)) ** times
            many.append(BINNINGS[name][0](confidence, rng.random(n) < odds / (1 + odds)))
    return many


@pytest.mark.parametrize("name", sorted(BINNINGS))
def test_many_at_once_have_the_intervals_of_each_alone_to_the_last_digit(name):
    many, norm = bins_of_models(name), BINNINGS[name][1]
    assert calibration_intervals(many, norm) == [calibration_interval(bins, norm) for bins in many]
    assert calibration_intervals([], norm) == []


def plain_interval(bins: Bins, norm: str, tail: float) -> tuple[float, float]:
    """The same interval by loops over bins, scipy's gamma distribution, and its search for a root."""
    weights, confidence, gaps = (column.tolist() for column in (bins.weights, bins.confidence, bins.gaps))
    noise = [
        np.sqrt((c * n + 0.5) / (n + 1) * (1 - (c * n + 0.5) / (n + 1)) / n)
        for c, n in zip(confidence, bins.sizes.tolist(), strict=True)
    ]
    side = -1 if sum(w * gap for w, gap in zip(weights, gaps, strict=True)) < 0 else 1

    def size(of: list[float]) -> float:
        if norm == "l1":
            return sum(w * abs(gap) for w, gap in zip(weights, of, strict=True))
        return sum(w * gap**2 for w, gap in zip(weights, of, strict=True)) ** 0.5

    def gaps_at(times: float, shape: list[float]) -> list[float]:
        return [c - min(max(c - times * part / size(shape), 0), 1) for c, part in zip(confidence, shape, strict=True)]

    def seen_under(times: float, shape: list[float]):
        moments = [0.0, 0.0, 0.0]
        for w, c, n, gap in zip(weights, confidence, bins.sizes.tolist(), gaps_at(times, shape), strict=True):
            share = ((c - gap) * n + 0.5) / (n + 1)
            deviation = (share * (1 - share) / n) ** 0.5
            law = foldnorm(abs(gap) / deviation, scale=w * deviation)
            if norm == "l2":
                law = ncx2(1, max((gap / deviation) ** 2, 1e-12), scale=w * deviation**2)
            mean, variance, skewness = (float(moment) for moment in law.stats("mvs"))
            moments = [moments[0] + mean, moments[1] + variance, moments[2] + skewness * variance**1.5]
        shape_ = 4 / max(moments[2] / moments[1] ** 1.5, 0.01) ** 2
        scale = (moments[1] / shape_) ** 0.5
        return gamma(shape_, loc=moments[0] - shape_ * scale, scale=scale)

    value = size(gaps)
    seen = value if norm == "l1" else value**2
    lows, highs = [value], [value]
    for shape in (gaps, [side * one for one in noise]):
        usual = max(seen, seen_under(0.0, shape).median())
        if seen_under(0.0, shape).cdf(seen) <= 1 - tail:
            lows.append(0.0)
        else:
            root = brentq(lambda t, s=shape: seen_under(t, s).cdf(seen) - (1 - tail), 0, 2)
            lows.append(size(gaps_at(root, shape)))
        root = brentq(lambda t, s=shape, u=usual: seen_under(t, s).cdf(u) - tail, 0, 2)
        highs.append(size(gaps_at(root, shape)))
    return min(lows), max(highs)


@pytest.mark.parametrize("name", ["adaptive-ece", "ece", "rms-calibration"])
def test_the_interval_is_that_of_plain_loops(name):
    """Of few bins, since scipy's distributions take their time."""
    norm = BINNINGS[name][1]
    for bins in bins_of_models(name)[:4]:
        # accurate to a ten-millionth of the range, and to scipy's moments
        assert calibration_interval(bins, norm) == pytest.approx(plain_interval(bins, norm, 0.025), abs=2e-6)
