"""Lines with a knee: against separate fits, statsmodels, a search by brute force, and ImageNet-A."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logit
from scipy.stats import linregress
from statsmodels.api import OLS

from oodometer.core.errors import OodometerError
from oodometer.stats.lines import fit_line
from oodometer.stats.scales import SCALES, from_scale, to_scale
from oodometer.stats.two_piece import Hinge, fit_hinge, fit_two_piece
from small_testbed import ABOVE, AT, BELOW

quick = settings(deadline=None, derandomize=True, max_examples=30)


def noisy(seed: int, n: int = 30) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.uniform(0.3, 0.9, n)
    y = np.clip(0.05 + 0.1 * x + 1.5 * np.maximum(x - 0.6, 0) + rng.normal(0, 0.02, n), 0.01, 0.99)
    return x, y


@pytest.mark.parametrize("scale", SCALES)
@quick
@given(seed=st.integers(0, 1000))
def test_two_pieces_are_two_lines_of_their_own(scale, seed):
    x, y = noisy(seed)
    fit = fit_two_piece(x, y, 0.6, scale=scale)
    expected = np.empty_like(y)
    for side in (x <= 0.6, x > 0.6):
        # reference: scipy.stats.linregress on each side
        line = linregress(to_scale(x[side], scale), to_scale(y[side], scale))
        expected[side] = line.intercept + line.slope * to_scale(x[side], scale)
    assert fit.at(x) == pytest.approx(from_scale(expected, scale), abs=1e-9)
    v = to_scale(y, scale)
    assert fit.r2 == pytest.approx(1 - ((v - expected) ** 2).sum() / ((v - v.mean()) ** 2).sum())
    assert (fit.n, fit.left_out) == (len(x), 0)


@pytest.mark.parametrize("scale", SCALES)
@quick
@given(seed=st.integers(0, 1000))
def test_hinges_agree_with_statsmodels(scale, seed):
    x, y = noisy(seed)
    u, v, knee = to_scale(x, scale), to_scale(y, scale), float(to_scale(0.6, scale))
    # reference: statsmodels' OLS on 1, u and max(u − knee, 0)
    expected = OLS(v, np.stack([np.ones_like(u), u, np.maximum(u - knee, 0)], axis=1)).fit()
    fit = fit_hinge(x, y, 0.6, scale=scale)
    assert (fit.intercept, fit.slope, fit.change) == pytest.approx(tuple(expected.params), abs=1e-8)
    assert fit.r2 == pytest.approx(expected.rsquared)
    assert fit.at(x) == pytest.approx(from_scale(expected.fittedvalues, scale), abs=1e-9)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("seed", range(4))
def test_the_search_for_a_bend_finds_the_least_squares(scale, seed):
    x, y = noisy(seed, n=15)
    inner = np.sort(x)
    found = fit_hinge(x, y, scale=scale)
    # reference: brute force over a fine grid; R² of one set of models orders as the squared error does
    grid = np.linspace(inner[1], inner[-2], 500)
    best = max(fit_hinge(x, y, knee, scale=scale).r2 for knee in grid)
    assert found.r2 >= best - 1e-12
    assert found.r2 == pytest.approx(best, abs=1e-3)
    assert inner[1] - 1e-9 <= found.knee <= inner[-2] + 1e-9


@pytest.mark.parametrize("seed", range(4))
def test_the_search_for_a_split_finds_the_least_squares(seed):
    x, y = noisy(seed, n=15)
    found, inner = fit_two_piece(x, y), np.sort(x)
    # reference: every split that leaves three models on each side
    splits = (inner[2:-3] + inner[3:-2]) / 2
    assert found.r2 == pytest.approx(max(fit_two_piece(x, y, split).r2 for split in splits))
    assert (x <= found.knee).sum() in range(3, 13)


@pytest.mark.parametrize("scale", SCALES)
def test_a_known_knee_is_found_again(scale):
    x = np.linspace(0.2, 0.9, 25)
    u, knee = to_scale(x, scale), float(to_scale(0.63, scale))
    y = from_scale(to_scale(0.1, scale) + 0.05 * (u - knee) + 0.4 * np.maximum(u - knee, 0), scale)
    fit = fit_hinge(x, y, scale=scale)
    assert (fit.knee, fit.slope, fit.change) == pytest.approx((0.63, 0.05, 0.4), abs=1e-6)
    split = fit_two_piece(x, y, scale=scale)
    assert x[x <= 0.63].max() < split.knee < x[x > 0.63].min()
    assert (split.below.slope, split.above.slope) == pytest.approx((0.05, 0.45), abs=1e-6)


def test_the_model_at_the_knee_belongs_below():
    x, y = noisy(0)
    knee = float(np.sort(x)[10])
    fit = fit_two_piece(x, y, knee)
    assert (fit.below.n, fit.above.n) == (11, len(x) - 11)
    assert fit.at(knee) == fit.below.at(knee)


def test_a_model_at_nothing_is_left_out_and_counted():
    x, y = noisy(0)
    with_zero = np.append(x, 0.6), np.append(y, 0.0)
    for fit in (fit_two_piece, fit_hinge):
        plain, found = fit(x, y, 0.6), fit(*with_zero, 0.6)
        assert (found.n, found.left_out) == (len(x), 1)
        assert found.at(0.8) == plain.at(0.8)


def test_limits_at_nothing_and_everything():
    assert Hinge("logit", 0.6, 0.1, 2.0, -3.0, 1, 5, 0).at([0.0, 1.0]).tolist() == [0.0, 1.0]
    # falling first, and flat afterwards: the limits are 1 and the height at the knee
    bent = Hinge("logit", 0.6, -1.0, 1.0, 0.0, 1, 5, 0).at([0.0, 0.6, 1.0])
    assert bent == pytest.approx([1.0, 0.4, 0.4])
    assert np.isnan(Hinge("logit", 0.6, 0.0, 0.0, 0.0, 1, 5, 0).at(np.nan))


@pytest.mark.parametrize(
    ("knee", "message"),
    [
        (0.95, "above the knee at 0.95: 0 models"),
        (0.2, "below the knee at 0.2: 0 models"),
        (76.1, "divide percentages"),
        (0.0, "must lie between 0 and 1"),
    ],
)
def test_knees_without_models_on_both_sides_are_errors(knee, message):
    x, y = noisy(0)
    with pytest.raises(OodometerError, match=message):
        fit_two_piece(x, y, knee)
    with pytest.raises(OodometerError, match="knee"):
        fit_hinge(x, y, knee)


def test_a_search_needs_models():
    with pytest.raises(OodometerError, match="at least 3 on each side"):
        fit_two_piece([0.4, 0.5, 0.6, 0.7, 0.8], [0.1, 0.2, 0.3, 0.4, 0.6])
    with pytest.raises(OodometerError, match="3 clean accuracies"):
        fit_hinge([0.4, 0.5, 0.6, 0.6], [0.1, 0.2, 0.3, 0.35])


def test_a_bend_that_was_made_is_found_again(made_testbed):
    x, y = made_testbed["val-on-imagenet-a-classes"], made_testbed["imagenet-a"]
    resnet = made_testbed.models.index("resnet50")
    rows = made_testbed.standard
    fit = fit_two_piece(x[rows], y[rows], x[resnet])
    hinge, line = fit_hinge(x[rows], y[rows], x[resnet]), fit_line(x[rows], y[rows])
    # ResNet-50 has nothing right, and the logit of 0 is infinite
    assert y[resnet] == 0
    assert fit.left_out == hinge.left_out == line.left_out == 1
    # reference: the two pieces by which the column was made
    assert (fit.below.slope, fit.above.slope) == pytest.approx((BELOW, ABOVE), abs=1e-9)
    assert logit(fit.at(x[resnet])) == pytest.approx(AT, abs=1e-9)
    assert (fit.r2, hinge.r2) == pytest.approx((1.0, 1.0), abs=1e-12)
    assert line.r2 < 0.95  # one straight line misses the bend
    assert fit_hinge(*made_testbed.baseline("val-on-imagenet-a-classes", "imagenet-a")).knee == pytest.approx(
        x[resnet], abs=0.01
    )


def test_imagenet_a_bends_at_resnet_50(testbed):
    x, y = testbed["val-on-imagenet-a-classes"], testbed["imagenet-a"]
    resnet = testbed.models.index("resnet50")
    # Hendrycks et al. 2021: the images are those that a ResNet-50 got wrong.
    assert y[resnet] == 0
    rows = testbed.standard & ~np.isnan(x) & ~np.isnan(y)
    fit = fit_two_piece(x[rows], y[rows], x[resnet])
    hinge, line = fit_hinge(x[rows], y[rows], x[resnet]), fit_line(x[rows], y[rows])
    assert fit.left_out == hinge.left_out == line.left_out == 1
    # Taori et al. 2020, section 4.1: near chance below the knee, and quickly up above it. The R² order is that of
    # nested models.
    assert fit.above.slope > 4 * fit.below.slope > 0
    assert fit.r2 >= hinge.r2 > line.r2 + 0.1
    # "every percentage point improvement on ImageNet brings at least 8 % on ImageNet-A" in the high regime, where the
    # class-matched clean accuracy is 96 %.
    assert (fit.at(0.97) - fit.at(0.96)) > 0.08


def test_the_knee_that_is_searched_lies_near_resnet_50(testbed):
    x, y = testbed.baseline("val-on-imagenet-a-classes", "imagenet-a")
    # 91.86 % is the ResNet-50 of the table; the models lie between 76 % and 97 %.
    assert fit_hinge(x, y).knee == pytest.approx(0.9186, abs=0.02)
