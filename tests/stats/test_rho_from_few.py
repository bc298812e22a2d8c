"""Effective robustness from few labels: the same ρ where all are labelled, and an interval that holds it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr, ndtri
from scipy.stats import binomtest

from made_models import MadeModels, made_models
from oodometer.core.errors import OodometerError
from oodometer.few_labels.proxies import agreement_with_others
from oodometer.stats.effective_robustness import effective_robustness, rho_from_images
from oodometer.stats.lines import Line, fit_line
from oodometer.stats.prediction_powered import labelled_images, mean_from_few
from oodometer.stats.rho_from_few import rho_beside, rho_from_few

REPETITIONS = 1000
MODELS = 7
EVERY = np.ones(MODELS, dtype=bool)


def both_sides(n: int = 3000) -> tuple[MadeModels, MadeModels]:
    """Clean images, and others on which all models are worse; the last model more than a line leads to expect."""
    accuracies = np.linspace(0.6, 0.92, MODELS)
    beyond = np.zeros(MODELS)
    beyond[-1] = -0.3
    return made_models(accuracies, 8000, seed=1), made_models(ndtr(0.95 * ndtri(accuracies) - 0.4 + beyond), n, seed=2)


def test_with_all_labels_it_is_the_usual_rho():
    # reference: rho_from_images, which is tested where it is
    clean, shifted = both_sides(400)
    found = rho_from_few(shifted.right, [], labelled_images(np.arange(400), 400), clean.right, EVERY)
    usual = rho_from_images(clean.right, shifted.right, EVERY, same_images=False)
    assert [one.estimate.value for one in found] == pytest.approx([one.value for one in usual])


def test_the_labels_move_it_as_the_jackknife_says():
    # reference: the whole computation without each labelled image in turn (the jackknife), a loop; no proxies
    clean, shifted = both_sides()
    some = np.random.default_rng(0).permutation(3000)[:250]
    right = shifted.right[:, some]
    whole = rho_from_few(right, [], labelled_images(some, 3000), clean.right, EVERY, level=0.9)
    x = clean.right.mean(axis=1)

    def rho(values: np.ndarray) -> np.ndarray:
        y = values.mean(axis=1)
        return effective_robustness(x, y, fit_line(x, y))

    without = np.array([rho(np.delete(right, at, axis=1)) for at in range(250)])
    error = np.sqrt(249 / 250 * ((without - without.mean(axis=0)) ** 2).sum(axis=0) * (1 - 250 / 3000))
    # what is not the labels' doing is known from a set that is labelled as a whole
    rest = rho_from_few(right, [], labelled_images(np.arange(250), 250), clean.right, EVERY, level=0.9)
    for found, other, se in zip(whole, rest, error, strict=True):
        half, more = ((one.estimate.high - one.estimate.low) / 2 for one in (found, other))
        assert np.sqrt(half**2 - more**2) / 1.651 == pytest.approx(se, rel=0.02)  # t with 249 degrees, two-sided 90 %


def test_beside_a_given_line_the_accuracy_is_moved():
    # closed form: on the linear scale ρ = y - a - b x, and b times the error of x adds to the squares
    clean, shifted = both_sides()
    some = np.random.default_rng(0).permutation(3000)[:200]
    labelled = labelled_images(some, 3000)
    accuracy = mean_from_few(shifted.right[0, some], agreement_with_others(shifted.answers)[0], labelled)
    found = rho_beside(Line("linear", 0.9, -0.1, 1.0, 5, 0), accuracy, clean.right[0])
    x = clean.right[0].mean()
    assert found.estimate.value == pytest.approx(accuracy.estimate.value + 0.1 - 0.9 * x)
    half = (accuracy.estimate.high - accuracy.estimate.low) / 2
    of_x = 0.9 * 1.959964 * np.sqrt(x * (1 - x) / 7999)
    assert (found.estimate.high - found.estimate.low) / 2 == pytest.approx(np.hypot(half, of_x), rel=1e-5)


def test_it_is_surer_than_the_accuracy():
    """What is hard for all models moves the line as it moves the model."""
    clean, shifted = both_sides()
    some = np.random.default_rng(0).permutation(3000)[:200]
    labelled, agreement = labelled_images(some, 3000), agreement_with_others(shifted.answers)
    found = rho_from_few(shifted.right[:, some], [agreement], labelled, clean.right, EVERY)
    accuracy = mean_from_few(shifted.right[5, some], agreement[5], labelled).estimate
    assert found[5].estimate.high - found[5].estimate.low < 0.9 * (accuracy.high - accuracy.low)


@pytest.mark.slow
def test_the_interval_holds_rho_as_often_as_it_says():
    # simulation, 1,000 repetitions, judged by a one-sided binomial test at 0.1 %: labels and clean images are drawn
    # again, the models of the line stay; what these add to the interval makes it wider, so that it may hold more often
    clean, shifted = both_sides()
    x, y = clean.right.mean(axis=1), shifted.right.mean(axis=1)
    truth = effective_robustness(x, y, fit_line(x, y))
    agreement, rng = agreement_with_others(shifted.answers), np.random.default_rng(8)
    held = np.zeros(MODELS, dtype=int)
    for _ in range(REPETITIONS):
        some = rng.permutation(3000)[:150]
        seen = clean.right[:, rng.permutation(8000)[:500]]
        found = rho_from_few(shifted.right[:, some], [agreement], labelled_images(some, 3000), seen, EVERY)
        held += [one.estimate.low <= value <= one.estimate.high for one, value in zip(found, truth, strict=True)]
    for times in held.tolist():
        assert binomtest(times, REPETITIONS, 0.95, alternative="less").pvalue > 0.001


def test_without_a_line_there_is_an_error():
    clean, shifted = both_sides(300)
    with pytest.raises(OodometerError, match="2 models"):
        rho_from_few(shifted.right, [], labelled_images(np.arange(300), 300), clean.right, np.arange(MODELS) < 2)
