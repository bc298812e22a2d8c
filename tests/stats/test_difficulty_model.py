"""The difficulty model: its closed form, its line, and what a line and answers tell of it, by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import binomtest, multivariate_normal, norm

from oodometer.core.errors import OodometerError
from oodometer.core.estimate import Estimate
from oodometer.stats.bootstrap import Resampling
from oodometer.stats.difficulty_model import (
    WIDEST,
    Difficulty,
    accuracy_at,
    line_between,
    reading_of,
    simulated_answers,
    spread_of_difficulty,
    spreads_of,
)
from oodometer.stats.line_intervals import line_spread, moved_by_images
from oodometer.stats.lines import fit_line

quick = settings(deadline=None, derandomize=True, max_examples=50)
difficulties = st.builds(Difficulty, st.floats(-2, 2), st.floats(0, 3))
FIRST, SECOND = Difficulty(0.0, 1.4), Difficulty(0.5, 1.0)
SKILLS = np.linspace(-0.5, 3.0, 12)


@quick
@given(st.floats(-3, 3), difficulties)
def test_the_closed_form_is_the_mean_over_images(skill, difficulty):
    # scipy.integrate: E[Φ(s - i)] over i from N(μ, σ²)
    def integrand(z):
        return norm.pdf(z) * norm.cdf(skill - difficulty.mean - difficulty.sd * z)

    assert accuracy_at(skill, difficulty) == pytest.approx(quad(integrand, -9, 9, limit=200)[0], abs=1e-9)


def test_the_simulation_has_the_accuracies_of_the_closed_form():
    n = 20_000
    right = simulated_answers(SKILLS, FIRST, n, np.random.default_rng(0))
    for hits, expected in zip(right.sum(axis=1).tolist(), accuracy_at(SKILLS, FIRST).tolist(), strict=True):
        assert binomtest(hits, n, expected).pvalue > 1e-4


@quick
@given(difficulties, difficulties, st.lists(st.floats(-2, 2), min_size=3, max_size=6))
def test_all_models_lie_on_the_line(first, second, skills):
    line = line_between(first, second)
    x, y = (norm.ppf(accuracy_at(np.array(skills), one)) for one in (first, second))
    np.testing.assert_allclose(y, line.slope * x + line.offset, atol=1e-6)


@quick
@given(difficulties, difficulties, st.floats(-3, 3))
def test_a_move_of_all_means_moves_nothing_that_is_seen(first, second, by):
    moved = [Difficulty(one.mean + by, one.sd) for one in (first, second)]
    here, there = line_between(first, second), line_between(*moved)
    assert (there.slope, there.offset) == pytest.approx((here.slope, here.offset))


def test_two_pairs_of_spreads_give_one_line():
    """Accuracies identify the ratio of the widths, not the widths."""
    wider = Difficulty(0.0, np.sqrt(4 * 2.96 - 1)), Difficulty(0.5 * 2, np.sqrt(4 * 2 - 1))
    here, there = line_between(FIRST, SECOND), line_between(*wider)
    assert (there.slope, there.offset) == pytest.approx((here.slope, here.offset))


def test_a_line_of_the_model_is_read_back():
    line = line_between(FIRST, SECOND)
    x, y = accuracy_at(SKILLS, FIRST), accuracy_at(SKILLS, SECOND)
    fitted = fit_line(x, y, scale="probit")
    assert (fitted.slope, fitted.intercept, fitted.r2) == pytest.approx((line.slope, line.offset, 1.0))
    exact = [Estimate(value, value, value, 12, "") for value in (fitted.slope, fitted.intercept)]
    found = reading_of(*exact)
    assert found.width_ratio.value == pytest.approx(FIRST.width / SECOND.width)
    assert found.harder_by.value == pytest.approx((SECOND.mean - FIRST.mean) / SECOND.width)
    assert 0 < found.least_sd_first.value <= FIRST.sd  # and of the narrower set nothing is known
    assert found.least_sd_second.value == 0


def test_the_least_spreads_change_places_with_the_sets():
    slope, offset = Estimate(0.8, 0.7, 0.9, 9, "a"), Estimate(0.1, 0.0, 0.3, 9, "b")
    found = reading_of(slope, offset)
    ends = (found.least_sd_second.low, found.least_sd_second.high)
    assert ends == pytest.approx((np.sqrt(0.9**-2 - 1), np.sqrt(0.7**-2 - 1)))
    assert (found.least_sd_first.low, found.least_sd_first.high) == (0.0, 0.0)
    assert (found.harder_by.low, found.harder_by.high) == (-0.3, -0.0)
    with pytest.raises(OodometerError, match="better on one set are worse on the other"):
        reading_of(Estimate(-0.1, -0.2, 0.1, 9, ""), offset)


def test_a_slope_whose_interval_goes_below_zero_tells_no_least_spread():
    found = reading_of(Estimate(0.599, -16.4, 17.6, 5, ""), Estimate(0.0, -1.0, 1.0, 5, ""))
    first, second = found.least_sd_first, found.least_sd_second
    assert (first.low, first.value) == (0.0, 0.0)
    assert first.high == pytest.approx(np.sqrt(17.6**2 - 1))
    assert (second.low, second.value, second.high) == (0.0, pytest.approx(np.sqrt(0.599**-2 - 1)), np.inf)


@pytest.mark.parametrize("sd", [0.3, 1.0, 2.5])
def test_the_spread_is_that_at_which_pairs_are_right_together_as_often(sd):
    right = simulated_answers(np.array([0.0, 0.7, 1.5, 2.5]), Difficulty(0.4, sd), 3000, np.random.default_rng(3))
    together = sum((right[a] & right[b]).mean() for a in range(4) for b in range(a))
    probits = norm.ppf(right.mean(axis=1))

    def lacking(sigma):  # scipy's bivariate normal, pair by pair
        r = sigma**2 / (1 + sigma**2)
        normal = multivariate_normal(mean=[0, 0], cov=[[1, r], [r, 1]])
        return together - sum(normal.cdf([probits[a], probits[b]]) for a in range(4) for b in range(a))

    assert spread_of_difficulty(right).value == pytest.approx(brentq(lacking, 0.01, 4.9), abs=1e-3)


def test_each_image_moves_the_spread_as_leaving_it_out_does():
    """The linearised interval against a jackknife, image by image."""
    right = simulated_answers(np.array([0.0, 0.7, 1.5]), Difficulty(0.4, 1.0), 400, np.random.default_rng(4))
    logs = np.array(
        [np.log(np.hypot(spread_of_difficulty(np.delete(right, at, axis=1)).value, 1)) for at in range(400)]
    )
    error = np.sqrt(399 / 400 * ((logs - logs.mean()) ** 2).sum())
    found = spread_of_difficulty(right)
    half = (np.log(np.hypot(found.high, 1)) - np.log(np.hypot(found.low, 1))) / 2
    assert half / 1.966 == pytest.approx(error, rel=0.02)  # Student's t with 399 degrees of freedom


def test_the_edges_of_the_spread():
    rng = np.random.default_rng(5)
    alone = rng.random((3, 2000)) < 0.6
    found = spread_of_difficulty(alone)
    assert found.low == 0
    assert found.value < 0.4
    same = np.repeat(alone[:1], 3, axis=0)
    assert spread_of_difficulty(same).value == pytest.approx(WIDEST)
    perfect = spread_of_difficulty(np.ones((3, 50), dtype=bool))
    assert (perfect.value, perfect.low, perfect.interval) == (0.0, None, "none: all images are alike")
    with_perfect = spread_of_difficulty(np.vstack([alone, np.ones((1, 2000), dtype=bool)]))
    assert with_perfect.value == pytest.approx(found.value, abs=1e-6)
    with pytest.raises(OodometerError, match="3 models at least"):
        spread_of_difficulty(alone[:2])


@pytest.mark.parametrize("sd", [0.3, 1.0, 2.0])
@pytest.mark.parametrize("same_images", [False, True])
def test_coverage_of_the_spreads_and_their_slope(sd, same_images):
    rng, times, second = np.random.default_rng([7, same_images]), 1000, Difficulty(0.8, 1.0)
    held = np.zeros(3, dtype=int)
    for _ in range(times):
        skills = rng.uniform(0, 2, 6)
        right_x = simulated_answers(skills, Difficulty(0.3, sd), 300, rng)
        right_y = right_x if same_images else simulated_answers(skills, second, 300, rng)
        found = spreads_of(right_x, right_y, same_images=same_images)
        truths = (sd, sd if same_images else second.sd, 1.0 if same_images else np.hypot(sd, 1) / second.width)
        for at, (one, truth) in enumerate(zip((found.sd_first, found.sd_second, found.slope), truths, strict=True)):
            held[at] += one.low <= truth <= one.high if one.low is not None else abs(one.value - truth) < 1e-12
    for number in held.tolist():
        # a coverage of 94 % is denied one time in a thousand
        assert binomtest(number, times, 0.94, alternative="less").pvalue > 0.001


def test_coverage_of_what_a_line_says():
    rng, times = np.random.default_rng(11), 1000
    line = line_between(FIRST, SECOND)
    held = np.zeros(2, dtype=int)
    for _ in range(times):
        skills = rng.uniform(0, 2.5, 10)
        right = simulated_answers(skills, FIRST, 400, rng), simulated_answers(skills, SECOND, 400, rng)
        x, y = (one.mean(axis=1) for one in right)
        fitted = fit_line(x, y, scale="probit")
        moved = moved_by_images(*right, fitted, same_images=False, resampling=Resampling())
        spread = line_spread(x, y, fitted, by_images=moved)
        found = reading_of(spread.estimate(fitted.slope, 1, 10, 0.95), spread.estimate(fitted.intercept, 0, 10, 0.95))
        held += [
            found.width_ratio.low <= line.slope <= found.width_ratio.high,
            found.harder_by.low <= -line.offset <= found.harder_by.high,
        ]
    for number in held.tolist():
        # a coverage of 94 % is denied one time in a thousand
        assert binomtest(number, times, 0.94, alternative="less").pvalue > 0.001


def test_models_that_share_more_than_difficulty_look_as_if_images_differed_more():
    rng, skills = np.random.default_rng(8), np.linspace(0, 2, 6)
    own, shared = (simulated_answers(skills, Difficulty(0.3, 1.0), 5000, rng, own=share) for share in (1.0, 0.5))
    assert shared.mean(axis=1) == pytest.approx(own.mean(axis=1), abs=0.03)  # accuracies say nothing of it
    assert spread_of_difficulty(shared).low > spread_of_difficulty(own).high
    with pytest.raises(OodometerError, match="own 2: a share"):
        simulated_answers(skills, Difficulty(0, 1), 5, rng, own=2)
