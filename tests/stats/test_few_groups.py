"""A bootstrap of whole groups: stretched by Student's t, so that it covers where there are few."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest, norm, t

from oodometer.stats.bootstrap import Resampling, bootstrap_means, stretch


@pytest.mark.parametrize("groups", [2, 5, 30, 1000])
def test_the_stretch_is_students_quantile_for_the_normal_one(groups):
    expected = t.ppf(0.95, groups - 1) / norm.ppf(0.95) * np.sqrt(groups / (groups - 1))  # reference: scipy
    assert stretch(groups, 0.05) == pytest.approx(expected)


def test_ends_stay_where_a_share_can_be():
    right = np.array([1] * 95 + [0] * 5)
    found = bootstrap_means(right, clusters=np.repeat(np.arange(4), 25))
    assert (found.high, found.interval) == (1.0, "cluster bootstrap 95%")
    assert found.low == pytest.approx(0.95 + (0.80 - 0.95) * stretch(4, 0.025), abs=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("groups", [5, 10, 30])
@pytest.mark.parametrize("alike", [0.05, 0.3])
def test_coverage(groups, alike):
    """Groups of 10 to 60 images, a share of the variance theirs; unstretched percentiles hold 81 to 93 %."""
    rng, held, sets = np.random.default_rng([groups, int(100 * alike)]), 0, 300
    for number in range(sets):
        sizes = rng.integers(10, 60, groups)
        shares = np.clip(0.7 + np.sqrt(alike * 0.21) * rng.uniform(-np.sqrt(3), np.sqrt(3), groups), 0, 1)
        right = np.concatenate([rng.random(size) < share for size, share in zip(sizes, shares, strict=True)])
        found = bootstrap_means(
            right, clusters=np.repeat(np.arange(groups), sizes), resampling=Resampling(draws=400, seed=number)
        )
        held += found.low is not None and found.low <= 0.7 <= found.high
    assert binomtest(held, sets, 0.93, alternative="less").pvalue > 0.001, held
