"""Two models on the same images: McNemar against statsmodels, Tango's interval against a numerical likelihood."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.stats import binom, binomtest, multinomial, norm
from statsmodels.stats.contingency_tables import mcnemar

from oodometer.core.errors import OodometerError
from oodometer.stats.bootstrap import Resampling
from oodometer.stats.paired import (
    PairedCounts,
    error_consistency_of,
    mcnemar_exact,
    mcnemar_mid_p,
    mcnemar_p_values,
    paired_difference,
)

quick = settings(deadline=None, derandomize=True, max_examples=80)
counts_of = st.builds(PairedCounts, *[st.integers(0, 60)] * 4)


def differing(b: int, c: int, n: int) -> PairedCounts:
    """n images of which b are right by B alone and c by A alone."""
    return PairedCounts(both=n - b - c, only_a=c, only_b=b, neither=0)


@quick
@given(counts_of)
def test_mcnemar_agrees_with_statsmodels(counts):
    table = [[counts.both, counts.only_a], [counts.only_b, counts.neither]]
    expected = min(float(mcnemar(table, exact=True).pvalue), 1.0)  # reference: statsmodels
    assert mcnemar_exact(counts) == pytest.approx(expected, abs=1e-12)


def test_mcnemar_is_not_moved_by_images_on_which_the_models_agree():
    assert mcnemar_exact(PairedCounts(0, 9, 2, 0)) == mcnemar_exact(PairedCounts(1000, 9, 2, 500))


def test_mcnemar_without_disagreement_shows_nothing():
    assert mcnemar_exact(PairedCounts(10, 0, 0, 5)) == 1.0


@pytest.mark.parametrize("n", [1, 5, 6, 20, 51, 300])
def test_mcnemar_rejects_equal_models_no_more_often_than_it_says(n):
    # Exact: given n disagreements of equally good models, "only A right" is binomial(n, 1/2).
    p_values = np.array([mcnemar_exact(PairedCounts(0, a, n - a, 0)) for a in range(n + 1)])
    for alpha in (0.001, 0.01, 0.05, 0.2):
        assert binom.pmf(np.arange(n + 1), n, 0.5)[p_values <= alpha].sum() <= alpha + 1e-12


@quick
@given(counts_of)
def test_mid_p_counts_what_was_seen_half(counts):
    b, c = counts.only_b, counts.only_a
    # Fagerland, Lydersen & Laake, BMC Medical Research Methodology 13:91 (2013): the exact p less the probability of
    # what was seen; scipy has it. Of as many on both sides nothing is shown.
    expected = 1.0 if b == c else mcnemar_exact(counts) - binom.pmf(min(b, c), b + c, 0.5)
    assert mcnemar_mid_p(counts) == pytest.approx(float(expected), abs=1e-12)


def test_mid_p_of_a_published_table():
    # The same paper, table 1: 1 and 7 changed; exact p 0.0703, mid-p 0.0391
    counts = PairedCounts(both=1, only_a=1, only_b=7, neither=12)
    assert mcnemar_exact(counts) == pytest.approx(0.0703, abs=5e-5)
    assert mcnemar_mid_p(counts) == pytest.approx(0.0391, abs=5e-5)


def test_many_pairs_at_once_are_single_pairs():
    a, b = np.meshgrid(np.arange(12), np.arange(12))
    for test, alone in (("exact", mcnemar_exact), ("mid-p", mcnemar_mid_p)):
        expected = [alone(PairedCounts(3, int(one), int(other), 4)) for one, other in zip(a.flat, b.flat, strict=True)]
        assert mcnemar_p_values(a, b, test).ravel() == pytest.approx(expected)


@pytest.mark.parametrize(("n", "disagreement"), [(40, 0.3), (200, 0.1), (1000, 0.05)])
def test_exact_keeps_the_level_and_mid_p_is_near_it(n, disagreement):
    """Equal models on n images: 20,000 draws of the images on which only one is right."""
    rng = np.random.default_rng(n)
    only_a, only_b, _ = rng.multinomial(n, [disagreement / 2, disagreement / 2, 1 - disagreement], 20_000).T
    rejected = {test: int((mcnemar_p_values(only_a, only_b, test) <= 0.05).sum()) for test in ("exact", "mid-p")}
    assert binomtest(rejected["exact"], 20_000, 0.05, alternative="greater").pvalue > 0.001
    # Fagerland et al. 2013: mid-p hardly ever exceeds the level, and the exact test lies well below it
    assert binomtest(rejected["mid-p"], 20_000, 0.055, alternative="greater").pvalue > 0.001
    assert rejected["mid-p"] / 20_000 > 0.035
    assert rejected["exact"] < rejected["mid-p"]


def score_statistic(delta: float, b: int, c: int, n: int) -> float:
    """|z| of "the difference is delta": Rao's score test, from a numerical maximum of the likelihood.

    For a multinomial, Rao's statistic is Pearson's chi-square with the counts expected under the hypothesis, whose
    one free share (only A right) is found here by searching for the largest likelihood.
    """

    def expected(share: float) -> np.ndarray:
        return np.array([share + delta, share, 1 - 2 * share - delta])

    observed = np.array([b, c, n - b - c])

    def loss(share: float) -> float:
        shares = expected(share)[observed > 0]
        return -(observed[observed > 0] * np.log(np.maximum(shares, 1e-300))).sum()

    low, high = max(0.0, -delta), (1 - delta) / 2
    inner = minimize_scalar(loss, bounds=(low, high), method="bounded", options={"xatol": 1e-13, "maxiter": 2000}).x
    best = min((low, inner, high), key=loss)
    shares = n * expected(best)
    used = shares > 1e-9
    return float(np.sqrt((((observed - shares) ** 2)[used] / shares[used]).sum()))


GRID = [
    (0, 0, 1), (0, 0, 25), (0, 0, 1000), (1, 0, 1), (0, 1, 1), (1, 0, 10), (5, 0, 5), (0, 5, 5), (7, 0, 30),
    (0, 7, 30), (30, 0, 30), (15, 15, 30), (1, 1, 40), (8, 2, 100), (2, 8, 100), (40, 35, 100), (99, 1, 100),
    (60, 40, 100), (120, 90, 1000), (3, 0, 50_000), (900, 1100, 50_000),
]  # fmt: skip


@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
@pytest.mark.parametrize(("b", "c", "n"), GRID)
def test_at_tangos_bounds_the_score_test_is_just_at_its_limit(b, c, n, level):
    found = paired_difference(differing(b, c, n), level=level)
    z = norm.ppf((1 + level) / 2)
    assert -1 <= found.low <= found.value <= found.high <= 1
    # reference: `score_statistic`. A bound at -1 or 1 ends the scale: nothing beyond it is there to be rejected.
    if found.low > -1:
        assert score_statistic(found.low, b, c, n) == pytest.approx(z, abs=1e-4)
    if found.high < 1:
        assert score_statistic(found.high, b, c, n) == pytest.approx(z, abs=1e-4)
    assert (found.low == -1) == (c == n)
    assert (found.high == 1) == (b == n)


def test_what_the_interval_holds_is_what_the_score_test_does_not_reject():
    for b, c, n in [(0, 0, 12), (3, 1, 12), (12, 0, 12), (5, 7, 12), (0, 4, 12)]:
        found = paired_difference(differing(b, c, n))
        for delta in np.linspace(-0.995, 0.995, 80):
            assert (found.low <= delta <= found.high) == (score_statistic(float(delta), b, c, n) <= norm.ppf(0.975))


@pytest.mark.parametrize(
    ("b", "c", "n", "level", "bounds", "digits"),
    [
        # Fagerland, Lydersen & Laake, Statistics in Medicine 33 (2014), airway hyper-responsiveness (Bentur et al.
        # 2009): table 1, 1, 7, 12; Tango's interval (-0.517, -0.026)
        (1, 7, 21, 0.95, (-0.517, -0.026), 3),
        # R package PropCIs: scoreci.mp(25, 28, 618, conf.level = 0.90) is (-0.0148, 0.0247)
        (28, 25, 618, 0.90, (-0.0148, 0.0247), 4),
    ],
)
def test_published_intervals(b, c, n, level, bounds, digits):
    found = paired_difference(differing(b, c, n), level=level)
    assert (round(found.low, digits), round(found.high, digits)) == bounds


@pytest.mark.parametrize("n", [1, 3, 50, 1000])
def test_without_disagreement_the_bounds_are_closed(n):
    # closed form for b = c = 0: z^2 / (n + z^2) on both sides
    z2 = norm.ppf(0.975) ** 2
    found = paired_difference(differing(0, 0, n))
    assert (found.low, found.high) == pytest.approx((-z2 / (n + z2), z2 / (n + z2)), abs=1e-9)


@quick
@given(counts_of.filter(lambda counts: counts.n > 0), st.sampled_from((0.9, 0.95, 0.995)))
def test_exchanging_the_models_mirrors_the_interval(counts, level):
    here = paired_difference(counts, level=level)
    there = paired_difference(PairedCounts(counts.both, counts.only_b, counts.only_a, counts.neither), level=level)
    assert there.value == -here.value
    assert (there.low, there.high) == pytest.approx((-here.high, -here.low), abs=1e-9)
    assert here.interval == f"tango score {100 * level:g}%"
    assert here.n == counts.n


def test_more_wins_of_b_move_the_interval_up():
    for n, c in [(20, 0), (20, 6), (200, 10)]:
        found = [paired_difference(differing(b, c, n)) for b in range(n - c + 1)]
        assert (np.diff([one.value for one in found]) > 0).all()
        assert (np.diff([one.low for one in found]) > 0).all()
        highs = [one.high for one in found]
        assert (np.diff(highs[:-1]) > 0).all()
        assert highs[-1] >= highs[-2]


def test_a_higher_level_gives_a_wider_interval():
    narrow, middle, wide = (paired_difference(differing(9, 4, 80), level=level) for level in (0.9, 0.95, 0.99))
    assert wide.low < middle.low < narrow.low < narrow.high < middle.high < wide.high


def test_the_interval_of_many_images_is_the_usual_one():
    # Wald's formula, right for many disagreements: d +- z sqrt(b + c - (b - c)^2 / n) / n; they differ by O(1/n).
    b, c, n = 60_000, 50_000, 1_000_000
    half = norm.ppf(0.975) * np.sqrt(b + c - (b - c) ** 2 / n) / n
    found = paired_difference(differing(b, c, n))
    assert (found.low, found.high) == pytest.approx(((b - c) / n - half, (b - c) / n + half), abs=1e-6)


def coverage(n: int, shares: list[tuple[float, float]]) -> np.ndarray:
    """The exact probability that the interval holds p_b - p_c: the sum over all outcomes (b, c) in which it does."""
    outcomes = np.array([(b, c) for b in range(n + 1) for c in range(n + 1 - b)])
    upper = outcomes[outcomes[:, 0] >= outcomes[:, 1]]
    bounds = {}
    for b, c in upper.tolist():  # the others by symmetry, which has its own test
        found = paired_difference(differing(b, c, n))
        bounds[b, c], bounds[c, b] = (found.low, found.high), (-found.high, -found.low)
    low, high = np.array([bounds[b, c] for b, c in outcomes.tolist()]).T
    counts = np.column_stack([outcomes, n - outcomes.sum(axis=1)])
    return np.array(
        [multinomial.pmf(counts, n, [p, q, 1 - p - q])[(low <= p - q) & (p - q <= high)].sum() for p, q in shares]
    )


SMALL = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4)
SHARES = [(p, q) for p in SMALL for q in SMALL]


@pytest.mark.parametrize("n", [30, 100])
def test_coverage_is_close_to_nominal(n):
    # A score interval of counts is right on average and swings around the level, the less the more disagreements
    # there are: with five or more expected, by less than 0.02 below and 0.025 above (Tango 1998, Newcombe 1998).
    found = coverage(n, [(p, q) for p, q in SHARES if n * (p + q) >= 5])
    assert found.min() > 0.93
    assert found.max() < 0.975
    assert found.mean() == pytest.approx(0.95, abs=0.005)


def test_with_hardly_any_disagreement_the_interval_errs_on_the_safe_side():
    assert coverage(30, [(0.0, 0.0), (0.002, 0.001), (0.01, 0.01)]).min() > 0.95


def test_coverage_by_simulation():
    # 3,000 draws of 100 images with shares 0.12 and 0.05. The exact coverage lies between 0.93 and 0.975 (above); a
    # right interval fails with probability below 0.001 on either side.
    rng, truth = np.random.default_rng(11), 0.12 - 0.05
    draws = rng.multinomial(100, [0.12, 0.05, 0.83], 3000)
    found = [paired_difference(differing(int(b), int(c), 100)) for b, c, _ in draws]
    covered = sum(one.low <= truth <= one.high for one in found)
    assert binomtest(covered, 3000, 0.93, alternative="less").pvalue > 0.001
    assert binomtest(covered, 3000, 0.975, alternative="greater").pvalue > 0.001


def test_no_images_have_no_difference():
    with pytest.raises(OodometerError, match=r"^no images in common: the difference is undefined$"):
        paired_difference(PairedCounts(0, 0, 0, 0))


def test_error_consistency_is_cohens_kappa_of_scikit_learn_with_a_bootstrap_over_images():
    from sklearn.metrics import cohen_kappa_score

    counts = PairedCounts(both=70, only_a=8, only_b=2, neither=20)
    kinds = [(1, 1)] * 70 + [(1, 0)] * 8 + [(0, 1)] * 2 + [(0, 0)] * 20
    images = np.array(kinds)
    found = error_consistency_of(counts, resampling=Resampling(draws=4000))
    assert found.value == pytest.approx(cohen_kappa_score(*images.T))
    # reference: a plain bootstrap of the hundred images; its quantiles have a standard error of about 0.005
    rng = np.random.default_rng(1)
    drawn = [cohen_kappa_score(*images[rng.integers(100, size=100)].T) for _ in range(1000)]
    assert (found.low, found.high) == pytest.approx(np.quantile(drawn, [0.025, 0.975]), abs=0.025)


def test_error_consistency_where_it_is_undefined_or_too_little_is_known():
    assert error_consistency_of(PairedCounts(both=9, only_a=0, only_b=0, neither=0)) is None
    assert error_consistency_of(PairedCounts(both=0, only_a=0, only_b=0, neither=9)) is None
    few = error_consistency_of(PairedCounts(both=3, only_a=0, only_b=0, neither=1))
    assert (few.value, few.low, few.interval) == (1.0, None, "none: too few images for a bootstrap")


def test_error_consistency_of_a_and_b_is_that_of_b_and_a():
    assert error_consistency_of(PairedCounts(70, 8, 2, 20)) == error_consistency_of(PairedCounts(70, 2, 8, 20))
