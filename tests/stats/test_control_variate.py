"""Another model's answers to all images as a control."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest

from oodometer.stats.bootstrap import Resampling
from oodometer.stats.control_variate import control_weight, errors_with_control, residual_variances
from oodometer.stats.drawn_apart import errors_drawn_apart

REPETITIONS = 1000
DRAWS = Resampling(draws=400)


def kinds_of(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Counts of the four kinds under each condition, from where both err, (C, n) bool."""
    return np.stack([np.bincount(2 * a.astype(int) + b, minlength=4) for a, b in zip(first, second, strict=True)])


def test_the_weight_is_the_slope_of_a_regression():
    # reference: numpy's least squares of the model's errors on the control's, of one condition
    rng = np.random.default_rng(0)
    first, second = rng.random((2, 1, 500)) < 0.4
    first = np.where(rng.random((1, 500)) < 0.6, second, first)
    kinds = kinds_of(first, second)
    slope, _ = np.polyfit(second[0].astype(float), first[0].astype(float), 1)
    assert control_weight(kinds) == pytest.approx(slope)
    r = np.corrcoef(first[0], second[0])[0, 1]
    assert residual_variances(kinds)[0] == pytest.approx(first.var() * (1 - r**2))


def test_a_control_that_says_nothing_has_no_weight():
    never_wrong = np.array([[60, 0, 40, 0]])
    assert control_weight(never_wrong) == 0
    assert residual_variances(never_wrong)[0] == pytest.approx(0.24)
    avoided = np.array([[0, 50, 50, 0]])
    assert control_weight(avoided) == 0, "errors that avoid each other are no reason to bet against the control"


def test_a_model_that_errs_where_the_control_does_is_known_exactly():
    kinds = np.array([[60, 0, 0, 40], [90, 0, 0, 10]])
    found = errors_with_control(kinds, np.array([0.38, 0.12]), DRAWS)
    assert found == pytest.approx(np.broadcast_to([0.38, 0.12], found.shape))


@pytest.mark.slow
def test_it_holds_the_truth_as_often_as_it_says_and_is_narrower():
    # simulation, 1,000 samples of 10 conditions x 60 of 5,000 images
    rng = np.random.default_rng(4)
    total, n, conditions = 5000, 60, 10
    shared = rng.random((conditions, total))
    level = np.linspace(0.2, 0.6, conditions)[:, None]
    model = np.where(rng.random((conditions, total)) < 0.9, shared, rng.random((conditions, total))) < level
    control = shared < level + 0.05
    truth = model.mean()
    held, widths, plain = 0, [], []
    for _ in range(REPETITIONS):
        chosen = rng.integers(total, size=(conditions, n))
        kinds = kinds_of(np.take_along_axis(model, chosen, 1), np.take_along_axis(control, chosen, 1))
        draws = errors_with_control(kinds, control.mean(axis=1), DRAWS)[1:].mean(axis=1)
        low, high = np.quantile(draws, [0.025, 0.975])
        widths.append(high - low)
        alone = errors_drawn_apart(kinds, DRAWS)[1:, :conditions].mean(axis=1)
        plain.append(np.subtract(*np.quantile(alone, [0.975, 0.025])))
        held += low <= truth <= high
    assert binomtest(held, REPETITIONS, 0.94, alternative="less").pvalue > 0.001
    r = np.mean([np.corrcoef(a, b)[0, 1] for a, b in zip(model, control, strict=True)])
    assert np.mean(widths) / np.mean(plain) == pytest.approx(np.sqrt(1 - r**2), rel=0.05)
