"""What duplicates did to an accuracy: the paper's example, closed forms, and the interval by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, binomtest, norm
from statsmodels.stats.proportion import confint_proportions_2indep

from oodometer.core.errors import DataError, UsageError
from oodometer.stats.contamination import accuracy_over_others, contamination, gained_by_mean
from oodometer.stats.intervals import clopper_pearson, difference_of, share_of

quick = settings(deadline=None, derandomize=True, max_examples=100)


def images(right_duplicates: int, m: int, right_others: int, others: int) -> tuple[np.ndarray, np.ndarray]:
    right = np.concatenate([np.arange(m) < right_duplicates, np.arange(others) < right_others])
    return right, np.arange(m + others) < m


def test_the_example_of_the_paper():
    # Recht et al. 2019, B.2.2: 8 % near-duplicates, all right, 93 % in all: 92.4 % on the others, 0.6 points lower
    found = contamination(*images(800, 800, 8500, 9200))
    assert found.over_all.value == pytest.approx(0.93, abs=1e-12)
    assert round(found.over_others.value, 3) == 0.924
    assert round(found.gained.value, 3) == 0.006
    assert found.over_duplicates.value == 1
    assert accuracy_over_others(0.93, share=0.08, on_duplicates=1.0) == pytest.approx(
        found.over_others.value, abs=1e-12
    )


counts = st.tuples(st.integers(1, 40), st.floats(0, 1), st.integers(1, 200), st.floats(0, 1))


@quick
@given(counts)
def test_values_and_intervals(drawn):
    m, share, others, other_share = drawn
    hits, other_hits = round(share * m), round(other_share * others)
    right, has = images(hits, m, other_hits, others)
    found = contamination(right, has, level=0.9)
    n = m + others
    assert found.gained.value == pytest.approx(right.mean() - right[~has].mean(), abs=1e-12)  # closed form
    assert found.gap.value == pytest.approx(right[has].mean() - right[~has].mean(), abs=1e-12)
    # reference: statsmodels, Newcombe's method 10
    low, high = confint_proportions_2indep(hits, m, other_hits, others, method="newcomb", alpha=0.1)
    assert (found.gap.low, found.gap.high) == pytest.approx((low, high), abs=1e-9)
    assert (found.gained.low, found.gained.high) == pytest.approx((low * m / n, high * m / n), abs=1e-9)
    assert (found.over_others.low, found.over_others.high) == clopper_pearson(other_hits, others, 0.9)
    assert (found.over_all.n, found.over_others.n, found.over_duplicates.n) == (n, others, m)
    assert found.gained.interval == found.gap.interval == "newcombe 90%"


def test_shared_images_make_the_interval_narrow():
    """As if the two accuracies shared no image the interval would be many times as wide."""
    found = contamination(*images(800, 800, 8500, 9200))
    both = (share_of(9300, 10_000, interval="wilson"), share_of(8500, 9200, interval="wilson"))
    wrong = difference_of(*both, n=10_000, level=0.95)
    assert wrong.high - wrong.low > 10 * (found.gained.high - found.gained.low)


@quick
@given(counts, st.randoms(use_true_random=False))
def test_the_order_of_the_images_does_not_matter(drawn, random):
    m, share, others, other_share = drawn
    right, has = images(round(share * m), m, round(other_share * others), others)
    order = list(range(len(right)))
    random.shuffle(order)
    assert contamination(right[order], has[order]) == contamination(right, has)


@pytest.mark.parametrize(("m", "others", "on_duplicates", "on_others"), [(800, 9200, 0.99, 0.92), (30, 400, 0.9, 0.6)])
def test_the_interval_covers_by_the_binomial_distribution(m, others, on_duplicates, on_others):
    """Exactly, over all counts that are not all but impossible."""
    covered = 0.0
    truth = m / (m + others) * (on_duplicates - on_others)
    likely = [
        np.arange(*binom.interval(1 - 1e-6, n, p), dtype=int) for n, p in ((m, on_duplicates), (others, on_others))
    ]
    for hits in np.unique(np.append(likely[0], likely[0].max() + 1)):
        for other_hits in likely[1][:: max(1, len(likely[1]) // 60)]:
            found = contamination(*images(hits, m, other_hits, others)).gained
            weight = binom.pmf(hits, m, on_duplicates) * binom.pmf(other_hits, others, on_others)
            covered += weight * max(1, len(likely[1]) // 60) * (found.low <= truth <= found.high)
    assert 0.94 < covered < 0.97


@pytest.mark.slow
@pytest.mark.parametrize("m", [20, 80, 400])
def test_the_interval_covers_by_simulation(m):
    """In 4,000 test sets of 1,000 images; not less often than it says, and not much more."""
    rng = np.random.default_rng(m)
    sets, n, on_duplicates, on_others = 4000, 1000, 0.97, 0.8
    has = np.arange(n) < m
    truth = m / n * (on_duplicates - on_others)
    held = 0
    for _ in range(sets):
        right = rng.random(n) < np.where(has, on_duplicates, on_others)
        found = contamination(right, has).gained
        held += found.low <= truth <= found.high
    assert binomtest(held, sets, 0.95, alternative="less").pvalue > 0.01
    assert held / sets < 0.985


@pytest.mark.parametrize(
    ("right", "has", "message"),
    [
        ([True, False], [True], "expected one bool for each image in both"),
        ([1, 0], [True, False], "expected one bool for each image in both"),
        ([True, False], [False, False], "^none of the 2 images has a duplicate"),
        ([True, False], [True, True], "^all of the 2 images has a duplicate"),
        (np.empty(0, bool), np.empty(0, bool), "^none of the 0 images"),
    ],
)
def test_what_is_undefined_is_an_error(right, has, message):
    with pytest.raises(DataError, match=message):
        contamination(np.array(right), np.array(has))


@pytest.mark.parametrize("given", [(1.2, 0.1, 1.0), (0.9, -0.1, 1.0), (0.9, 0.1, np.nan)])
def test_what_is_no_share_is_an_error(given):
    with pytest.raises(UsageError, match=r"must lie in \[0, 1\]"):
        accuracy_over_others(*given)


@pytest.mark.parametrize("given", [(0.1, 0.5, 1.0), (0.9, 0.5, 0.1), (0.9, 1.0, 0.9)])
def test_what_can_not_be_is_an_error(given):
    with pytest.raises(UsageError, match="no accuracy of the others gives that"):
        accuracy_over_others(*given)


def test_what_duplicates_add_to_a_mean_is_the_mean_of_what_they_add_to_each():
    rng = np.random.default_rng(0)
    right, has = rng.random((5, 400)) < 0.7, np.arange(400) < 60
    right[:, has] |= rng.random((5, 60)) < 0.5
    each = [contamination(one, has).gained.value for one in right]
    found = gained_by_mean(right, has)
    assert found.value == pytest.approx(np.mean(each))
    assert found.low < found.value < found.high
    right[:, has] = True
    assert gained_by_mean(right, has).low < gained_by_mean(right, has).value
    with pytest.raises(DataError, match="none of the 400 images"):
        gained_by_mean(right, has & False)


@pytest.mark.parametrize("hardness", [0.0, 1.0])
@pytest.mark.parametrize("m", [80, 400])
def test_the_interval_of_the_mean_covers_by_simulation(m, hardness):
    """Four models on the same images, which are more or less hard for all of them."""
    rng = np.random.default_rng([m, int(hardness)])
    sets, n, has, held = 2000, 1000, np.arange(1000) < m, 0
    level = norm.ppf(np.where(has, 0.97, 0.8)) * np.hypot(hardness, 1)
    for _ in range(sets):
        right = hardness * rng.normal(size=n) + rng.normal(size=(4, n)) < level
        found = gained_by_mean(right, has)
        held += found.low <= m / n * 0.17 <= found.high
    # a coverage of 93.5 % is denied one time in a thousand
    assert binomtest(held, sets, 0.935, alternative="less").pvalue > 0.001
