"""Paired bootstrap over images and over classes: against closed forms, a slow own one, and by coverage."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest, norm, ttest_rel

from oodometer.core.errors import OodometerError
from oodometer.stats.bootstrap import Resampling
from oodometer.stats.paired import PairedCounts, mcnemar_mid_p
from oodometer.stats.paired_bootstrap import PairedBootstrap, p_of_draws

MANY = Resampling(10_000)


def answers(only_a: int, only_b: int, n: int) -> np.ndarray:
    """Two models, of which each is right alone on so many of n images, and both on the rest."""
    right = np.ones((2, n), dtype=bool)
    right[1, :only_a] = False
    right[0, only_a : only_a + only_b] = False
    return right


@pytest.mark.parametrize(("only_a", "only_b", "n"), [(30, 60, 500), (100, 100, 1000), (10, 25, 5000)])
def test_of_single_images_it_is_the_distribution_of_the_counts(only_a, only_b, n):
    """A resample of the images is a multinomial draw of the counts: the quantiles of many of those are the interval."""
    found = PairedBootstrap(answers(only_a, only_b, n), resampling=MANY)
    difference = found.difference(0, 1)
    rng = np.random.default_rng(1)
    drawn_a, drawn_b, _ = rng.multinomial(n, np.array([only_a, only_b, n - only_a - only_b]) / n, 200_000).T
    low, high = np.quantile((drawn_b - drawn_a) / n, [0.025, 0.975])
    sd = np.sqrt((only_a + only_b) / n - ((only_b - only_a) / n) ** 2) / np.sqrt(n)
    assert difference.value == pytest.approx((only_b - only_a) / n)
    assert (difference.low, difference.high) == pytest.approx((low, high), abs=0.1 * sd)
    assert found.p_value(0, 1) == pytest.approx(mcnemar_mid_p(PairedCounts(0, only_a, only_b, 0)), rel=0.2, abs=0.002)
    assert found.p_value(1, 0) == found.p_value(0, 1)
    assert found.difference(1, 0).value == -difference.value


def test_the_p_value_is_the_level_at_which_the_interval_reaches_nought():
    right = answers(30, 48, 400)
    p = PairedBootstrap(right, resampling=MANY).p_value(0, 1)
    clusters = np.random.default_rng(0).integers(0, 12, 400)
    by_class = PairedBootstrap(right, clusters, MANY).p_value(0, 1)
    for p_value, groups in ((p, None), (by_class, clusters)):
        for factor, excluded in ((1.25, True), (0.8, False)):
            level = 1 - factor * p_value
            found = PairedBootstrap(right, groups, Resampling(10_000, level)).difference(0, 1)
            assert (found.low > 0) == excluded


def test_classes_are_resampled_whole():
    """Against a plain loop over drawn classes, in which images of a class stay together."""
    rng = np.random.default_rng(3)
    classes = np.repeat(np.arange(40), rng.integers(5, 15, 40))
    right = rng.random((2, len(classes))) < np.array([[0.7], [0.75]]) + 0.2 * rng.standard_normal(40)[classes] / 2
    found = PairedBootstrap(right, classes, MANY)
    sums = np.array([[row[classes == one].sum() for one in range(40)] for row in right])
    sizes = np.bincount(classes)
    drawn = rng.integers(0, 40, (10_000, 40))
    means = sums[:, drawn].sum(axis=2) / sizes[drawn].sum(axis=1)
    assert found.draws.std(axis=0) == pytest.approx(means.std(axis=1), rel=0.05)
    assert (found.draws[:, 1] - found.draws[:, 0]).std() == pytest.approx((means[1] - means[0]).std(), rel=0.05)


def test_of_equal_clusters_it_is_the_paired_t_test_of_their_means():
    """With 12 clusters of one size: the stretched interval and its p-value are Student's, up to the draws' noise."""
    rng = np.random.default_rng(4)
    means = np.stack([np.zeros(12), rng.normal(0.05, 0.08, 12)])
    right, classes = np.repeat(means, 30, axis=1), np.repeat(np.arange(12), 30)
    found = PairedBootstrap(right, classes, Resampling(50_000))
    reference = ttest_rel(means[1], means[0])
    interval = reference.confidence_interval(0.95)
    difference = found.difference(0, 1)
    half = (interval.high - interval.low) / 2
    # the draws of twelve values are not quite normal
    assert (difference.low, difference.high) == pytest.approx((interval.low, interval.high), abs=0.12 * half)
    assert found.p_value(0, 1) == pytest.approx(reference.pvalue, rel=0.3)


@pytest.mark.parametrize("by_class", [False, True])
def test_coverage_by_simulation(by_class):
    """2,000 sets of 600 images of 30 classes; where classes are drawn, an image's difference has their part in it.

    Over images the truth is that of the images' distribution; over classes that of the classes'.
    """
    rng = np.random.default_rng(6)
    covered, rejected, times = 0, 0, 2000
    for _ in range(times):
        of_class = rng.normal(0, 0.1, 30)[np.repeat(np.arange(30), 20)] if by_class else 0.0
        u, v = rng.random((2, 600))
        shared = u < 0.7
        second = np.where(v < 0.3, rng.random(600) < 0.7 + of_class, shared)
        found = PairedBootstrap(
            np.stack([shared, second]),
            np.repeat(np.arange(30), 20) if by_class else None,
            Resampling(400, seed=int(rng.integers(1 << 30))),
        )
        difference = found.difference(0, 1)
        covered += difference.low <= 0 <= difference.high
        rejected += found.p_value(0, 1) <= 0.05
    # 400 draws make ends unsure by a hundredth of coverage
    assert binomtest(covered, times, 0.935, alternative="less").pvalue > 0.001
    assert binomtest(covered, times, 0.965, alternative="greater").pvalue > 0.001
    assert binomtest(rejected, times, 0.065, alternative="greater").pvalue > 0.001


def test_resampling_images_is_too_sure_where_classes_are_drawn():
    rng = np.random.default_rng(7)
    classes = np.repeat(np.arange(30), 20)
    of_class = rng.normal(0, 0.2, 30)[classes]
    right = np.stack([np.full(600, 0.5), 0.5 + of_class])
    alone, whole = PairedBootstrap(right), PairedBootstrap(right, classes)
    assert (whole.draws[:, 1] - whole.draws[:, 0]).std() > 3 * (alone.draws[:, 1] - alone.draws[:, 0]).std()


def test_where_nothing_is_known_nothing_is_told():
    same = PairedBootstrap(np.ones((2, 50), dtype=bool))
    assert same.p_value(0, 1) == 1.0
    assert same.difference(0, 1).interval == "none: all bootstrap draws are equal"
    always = PairedBootstrap(np.stack([np.zeros(50), np.ones(50)]).astype(bool))
    assert np.isnan(always.p_value(0, 1))
    with pytest.raises(OodometerError, match="expected a row of images for each model"):
        PairedBootstrap(np.ones(5, dtype=bool))


def test_p_values_are_never_below_what_so_many_draws_tell():
    draws = np.random.default_rng(0).normal(10, 1, 1000)
    assert p_of_draws(draws, 10.0) == p_of_draws(-draws, -10.0) == 0.002
    near = np.random.default_rng(0).normal(1.5, 1, 100_000)
    assert p_of_draws(near, 1.5) == pytest.approx(2 * norm.sf(1.5), rel=0.03)
