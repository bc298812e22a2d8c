"""The fitted temperature against grid searches, closed forms, and simulations of which the temperature is known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import log_softmax
from scipy.stats import binomtest, norm
from sklearn.metrics import log_loss

from oodometer.core.errors import OodometerError
from oodometer.core.predictions import from_logits, with_logits
from oodometer.metrics import temperature
from oodometer.metrics.metric import metrics, value_of
from oodometer.metrics.temperature import (
    fit_temperature,
    fit_temperature_to,
    mean_nll,
    rescaled,
    scaled,
    temperature_of,
)


def simulated(n: int, k: int, t: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Logits, and labels drawn from their softmax at a temperature."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(0, 3, (n, k))
    # The Gumbel trick draws from the softmax.
    return logits, np.argmax(logits / t + rng.gumbel(size=(n, k)), axis=1)


def nll_on_grid(logits: np.ndarray, labels: np.ndarray, grid: np.ndarray) -> np.ndarray:
    rows = np.arange(len(labels))
    return np.array([-log_softmax(logits / t, axis=1)[rows, labels].mean() for t in grid])


@pytest.mark.parametrize("t", [0.5, 1.0, 2.7])
def test_agrees_with_a_grid_search(t):
    logits, labels = simulated(400, 5, t)
    fit = fit_temperature(logits, labels)
    grid = fit.temperature * np.exp(np.linspace(-0.01, 0.01, 2001))
    found = nll_on_grid(logits, labels, grid)
    assert grid[found.argmin()] == pytest.approx(fit.temperature, rel=1.1e-5)
    assert fit.nll_after <= found.min() + 1e-14
    wide = np.exp(np.linspace(np.log(0.05), np.log(20), 400))
    assert nll_on_grid(logits, labels, wide).min() >= fit.nll_after
    assert fit.n == 400


@pytest.mark.parametrize("t", [0.6, 1.0, 3.0])
def test_finds_the_temperature_that_made_the_data(t):
    fit = fit_temperature(*simulated(20_000, 10, t, seed=1))
    # reference: simulation; the standard error of T is about 1 % at this size
    assert fit.temperature == pytest.approx(t, rel=0.04)


def test_nll_before_and_after_against_scikit_learn():
    logits, labels = simulated(300, 4, 2.0)
    fit = fit_temperature(logits, labels)
    for t, found in ((1.0, fit.nll_before), (fit.temperature, fit.nll_after)):
        # reference: sklearn.metrics.log_loss
        expected = log_loss(labels, np.exp(log_softmax(logits / t, axis=1)), labels=list(range(4)))
        assert found == pytest.approx(expected, rel=1e-12)
    assert fit.nll_after < fit.nll_before


def test_two_classes_in_closed_form():
    # 30 of 40 answers of margin 5 are right: sigmoid(5 / T) = 3/4, T = 5 / log 3
    logits, labels = np.tile([5.0, 0.0], (40, 1)), (np.arange(40) >= 30).astype(int)
    assert fit_temperature(logits, labels).temperature == pytest.approx(5 / np.log(3), rel=1e-9)


def test_scaling_the_logits_scales_the_temperature():
    logits, labels = simulated(500, 6, 1.5)
    once, thrice = fit_temperature(logits, labels), fit_temperature(3 * logits, labels)
    assert thrice.temperature == pytest.approx(3 * once.temperature, rel=1e-8)
    assert fit_temperature(scaled(logits, once.temperature), labels).temperature == pytest.approx(1, rel=1e-8)
    moved = logits + np.random.default_rng(0).normal(0, 50, (500, 1))
    assert fit_temperature(moved, labels).temperature == pytest.approx(once.temperature, rel=1e-8)


def test_blocks_change_nothing(monkeypatch):
    logits, labels = simulated(101, 3, 2.0)
    whole = fit_temperature(logits, labels)
    monkeypatch.setattr(temperature, "BLOCK", 30)
    assert fit_temperature(logits, labels).temperature == pytest.approx(whole.temperature, rel=1e-10)


@pytest.mark.parametrize("margin", [1, 1000])
def test_all_right_has_no_temperature(margin):
    # With the larger margin the slope of the likelihood is exactly zero at the coldest temperature.
    logits = margin * simulated(50, 3, 1.0)[0]
    with pytest.raises(OodometerError, match=r"still rises at T = 0.01, since \(nearly\) all 50 answers are right"):
        fit_temperature(logits, logits.argmax(axis=1))


@pytest.mark.parametrize("logits", [np.zeros((6, 2)), np.tile([0.0, 1.0], (6, 1))])
def test_answers_like_chance_have_no_temperature(logits):
    with pytest.raises(OodometerError, match="still rises at T = 100, since the answers are no better than chance"):
        fit_temperature(logits, np.array([0, 0, 0, 1, 1, 1]))


def test_worse_than_chance_has_no_temperature():
    logits, _ = simulated(50, 3, 1.0)
    with pytest.raises(OodometerError, match="labels and logits belong together"):
        fit_temperature(logits, logits.argmin(axis=1))


def test_rows_with_logits_are_fitted_and_scaled():
    logits, labels = simulated(600, 5, 2.0)
    labels[::3] = -1
    stored = logits.astype(np.float16)
    rows = with_logits(from_logits(logits, labels, np.arange(600)), logits)
    fit = fit_temperature_to(rows)
    assert fit == fit_temperature(stored[labels >= 0], labels[labels >= 0])
    after = rescaled(rows, fit.temperature)
    assert value_of(metrics.get("nll"), after) == pytest.approx(fit.nll_after, rel=1e-5)
    # Dividing by a positive number changes no answer.
    assert (after.prediction == from_logits(stored, labels, np.arange(600)).prediction).all()
    assert (after.confidence <= rows.confidence + 1e-3).all()


def test_summary_rows_cannot_be_scaled():
    rows = from_logits(*simulated(5, 3, 1.0), np.arange(5))
    for do in (fit_temperature_to, lambda rows: rescaled(rows, 2.0)):
        with pytest.raises(OodometerError, match="run with --keep logits"):
            do(rows)


@pytest.mark.parametrize(
    ("logits", "labels", "message"),
    [
        (np.empty((0, 3)), np.empty(0, int), "no labelled images"),
        (np.zeros((2, 3)), np.array([0]), r"\(N, K\)"),
        (np.zeros((2, 3)), np.array([0, 3]), r"outside of 0\.\.2"),
        (np.zeros((2, 3)), np.array([0, -1]), "without a label"),
        (np.array([[0.0, np.nan]]), np.array([0]), "not finite"),
        (np.array([[0.0, -np.inf]]), np.array([0]), "not finite"),
    ],
)
def test_what_is_undefined_is_an_error(logits, labels, message):
    with pytest.raises(OodometerError, match=message):
        fit_temperature(logits, labels)
    with pytest.raises(OodometerError, match=message):
        mean_nll(logits, labels)


@pytest.mark.parametrize("t", [0.0, -1.0, np.nan, np.inf])
def test_no_temperature_is_an_error(t):
    with pytest.raises(OodometerError, match="positive"):
        scaled(np.zeros((1, 2)), t)


def kept(logits: np.ndarray, labels: np.ndarray):
    return with_logits(from_logits(logits, labels, np.arange(len(labels))), logits)


def test_the_interval_of_two_classes_in_closed_form():
    logits, labels = np.tile([4.0, 0.0], (80, 1)), np.repeat([0, 0, 0, 1], 20)
    found = temperature_of(kept(logits, labels), level=0.9)
    # 4 / T is the logit of 3/4, and the variance of a share's logit is 1 / (n p q).
    error = np.sqrt(1 / (80 * 0.75 * 0.25)) / np.log(3)
    expected = 4 / np.log(3) * np.exp(norm.ppf(0.95) * error * np.array([-1, 1]))
    assert (found.low, found.high) == pytest.approx(tuple(expected))
    assert (found.n, found.interval) == (80, "sandwich 90%")


def test_images_that_are_there_twice_tell_nothing_more():
    logits, labels = simulated(300, 5, 2.0)
    logits = np.float16(logits).astype(np.float64)
    once = temperature_of(kept(logits, labels))
    twice = temperature_of(
        kept(np.repeat(logits, 2, axis=0), np.repeat(labels, 2)), groups=np.repeat(np.arange(300), 2)
    )
    assert (twice.value, twice.low, twice.high) == pytest.approx((once.value, once.low, once.high), rel=1e-6)
    assert twice.interval == "cluster sandwich 95%"
    alone = temperature_of(kept(logits, labels), groups=np.zeros(300))
    assert (alone.low, alone.interval) == (None, "none: all images are in one cluster")


@pytest.mark.parametrize("wrong", [False, True])
@pytest.mark.parametrize("n", [100, 1000])
def test_the_interval_covers_what_it_says(n, wrong):
    """Also where no temperature makes the model right, since a fifth of the labels are of any class."""

    def drawn(images: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        logits, labels = simulated(images, 5, 2.0, seed)
        rng = np.random.default_rng([seed, 1])
        return logits, np.where(wrong & (rng.random(images) < 0.2), rng.integers(0, 5, images), labels)

    truth = fit_temperature(*drawn(400_000, 10**6)).temperature
    found = [temperature_of(kept(*drawn(n, seed))) for seed in range(400)]
    hits = sum(estimate.low <= truth <= estimate.high for estimate in found)
    # A coverage of 0.94 or more fails with probability below 0.001.
    assert binomtest(hits, 400, 0.94, alternative="less").pvalue > 0.001
    assert hits < 400
