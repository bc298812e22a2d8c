"""The three gaps: the paper's numbers, exact coverage, and what of adaptivity a line shows and what it cannot."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom, binomtest, norm

from oodometer.core.errors import OodometerError
from oodometer.core.estimate import Estimate
from oodometer.stats.images_for_width import sampling_error
from oodometer.stats.intervals import share_of
from oodometer.stats.line_intervals import line_spread
from oodometer.stats.lines import fit_line
from oodometer.stats.three_gaps import adaptivity_of, gap_bounds, most_by_duplicates


def test_the_sizes_that_the_paper_names():
    # Recht et al. 2019, section 2: with 10,000 images at most 1 % at 95 %, at most 2 % at 99.99 %
    assert 0.0095 < sampling_error(10_000) <= 0.01
    assert 0.019 < sampling_error(10_000, level=0.9999) <= 0.02
    with pytest.raises(OodometerError, match="no images"):
        sampling_error(0)


def test_the_near_duplicates_of_the_paper():
    # appendix B.2.2: 93 % with 8 % near-duplicates is 92.4 % without them, 0.6 % less
    assert most_by_duplicates(0.93, 0.08) == pytest.approx(0.93 - (0.93 - 0.08) / 0.92)
    assert round(most_by_duplicates(0.93, 0.08), 3) == 0.006


@pytest.mark.parametrize("n", [20, 100, 1000])
@pytest.mark.parametrize("truth", [0.3, 0.63, 0.95])
def test_the_generalisation_gap_is_bounded_as_often_as_it_says_exactly(n, truth):
    """Over all outcomes of a set of n images, by their binomial weights."""
    clean, covered, rest = share_of(700, 1000), 0.0, 0.0
    for hits, weight in enumerate(binom.pmf(np.arange(n + 1), n, truth)):
        found = gap_bounds(clean, share_of(hits, n))
        covered += weight * (found.generalisation.low <= truth - hits / n <= found.generalisation.high)
        whole = found.adaptivity_and_distribution
        rest += weight * (whole.low <= clean.value - truth <= whole.high)
    assert covered >= 0.95 - 1e-9
    assert rest >= 0.95 - 1e-9


def test_the_parts_add_up():
    found = gap_bounds(share_of(760, 1000), share_of(630, 1000))
    whole, chance = found.adaptivity_and_distribution, found.generalisation
    assert whole.value + chance.value == pytest.approx(0.13)
    assert (whole.low, whole.high) == pytest.approx((0.13 - chance.high, 0.13 - chance.low))
    unknown = Estimate(0.63, None, None, None, "none: n is not known")
    bare = gap_bounds(unknown, unknown)
    assert (bare.generalisation.low, bare.adaptivity_and_distribution.low, bare.adaptivity_by_chance) == (None,) * 3


def test_what_a_slope_says():
    steep = adaptivity_of(Estimate(1.1, 1.02, 1.2, 9, "a"), 0.5, 0.9)
    flat = adaptivity_of(Estimate(0.8, 0.7, 0.9, 9, "a"), 0.5, 0.9)
    open_ = adaptivity_of(Estimate(1.0, 0.9, 1.1, 9, "a"), 0.5, 0.9)
    bare = adaptivity_of(Estimate(0.5, None, None, 9, "none"), 0.5, 0.9)
    assert [one.returns for one in (steep, flat, open_, bare)] == ["growing", "diminishing", "not told", "not told"]
    grown = flat.could_have_grown
    assert (grown.low, grown.value, grown.high) == pytest.approx((0.04, 0.08, 0.12))


def models(m: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """True accuracies on both distributions: a constant distribution gap."""
    x = rng.uniform(0.6, 0.8, m)
    return x, x - 0.1


def slope_through(x: np.ndarray, y: np.ndarray) -> Estimate:
    line = fit_line(x, y, scale="linear")
    return line_spread(x, y, line).estimate(line.slope, 1, len(x), 0.95)


def seen(x: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """On sets of 50,000 and 10,000 images."""
    return rng.binomial(50_000, x) / 50_000, rng.binomial(10_000, y) / 10_000


def test_growing_adaptivity_is_seen_and_constant_adaptivity_is_not():
    rng = np.random.default_rng(2)
    x, y = models(40, rng)
    growing = (x - 0.6) * 0.3
    found = [
        adaptivity_of(slope_through(*seen(x + gap, y, rng)), (x + gap).min(), (x + gap).max())
        for gap in (0.0, 0.05, growing)
    ]
    assert [one.returns for one in found] == ["not told", "not told", "diminishing"]
    grown = found[2].could_have_grown
    assert grown.low <= np.ptp(growing) <= grown.high


@pytest.mark.parametrize("rate", [0.0, 0.25])
def test_coverage_of_the_adaptivity_that_grew(rate):
    rng, times, held, wrong = np.random.default_rng(3), 1000, 0, 0
    for _ in range(times):
        x, y = models(15, rng)
        gap = (x - 0.6) * rate
        there, under = seen(x + gap, y, rng)
        least, most = there.argmin(), there.argmax()
        found = adaptivity_of(slope_through(there, under), (x + gap)[least], (x + gap)[most])
        held += found.could_have_grown.low <= gap[most] - gap[least] <= found.could_have_grown.high
        wrong += found.returns == ("diminishing" if rate == 0 else "growing")
    # a coverage of 94 % is denied one time in a thousand
    assert binomtest(held, times, 0.94, alternative="less").pvalue > 0.001
    assert binomtest(wrong, times, 0.03, alternative="greater").pvalue > 0.001


def test_a_slope_above_one_on_points_need_not_be_one_on_probits():
    """The same models, by the difficulty model: its line bends on the linear scale."""
    x = np.linspace(0.6, 0.83, 30)
    y = norm.cdf(0.95 * norm.ppf(x) - 0.3)
    assert fit_line(x, y, scale="probit").slope == pytest.approx(0.95)
    assert fit_line(x, y, scale="linear").slope > 1
