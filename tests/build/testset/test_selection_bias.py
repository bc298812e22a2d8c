"""The mean frequency without the luck that images were chosen for, against what is true in simulated pools."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest

from oodometer.build.testset.candidates import Candidates
from oodometer.build.testset.sampling.matched_frequency import matched_frequency
from oodometer.build.testset.selection_bias import PoolAnswers, mean_without_selection
from oodometer.core.errors import DataError

ANSWERS = 10


def true_frequencies(pool: str, shape: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
    if pool == "beta":
        return rng.beta(1.2, 1, shape)
    if pool == "classes differ":
        mean, size = rng.beta(4, 3, (shape[0], 1)), rng.uniform(1, 4, (shape[0], 1))
        return rng.beta(mean * size, (1 - mean) * size, shape)
    return np.where(rng.random(shape) < 0.5, rng.beta(1, 12, shape), rng.beta(8, 2, shape))


def matched(pool: str, seed: int, *, classes: int, per_class: int) -> tuple[PoolAnswers, np.ndarray, np.ndarray]:
    """Answers about a pool, true frequencies, and which images MatchedFrequency takes; originals are Beta(3, 1.2)."""
    rng = np.random.default_rng(seed)
    true = true_frequencies(pool, (classes, per_class), rng).ravel()
    hits, label = rng.binomial(ANSWERS, true), np.repeat(np.arange(classes), per_class)
    n = np.full(len(true), ANSWERS)
    original = rng.binomial(ANSWERS, rng.beta(3, 1.2, (classes, 10))) / ANSWERS
    candidates = Candidates(tuple(map(str, range(len(true)))), label, hits / n, n)
    chosen = np.zeros(len(true), dtype=bool)
    chosen[matched_frequency(candidates, dict(enumerate(original)), per_class=10).rows] = True
    return PoolAnswers(label, hits, n), true, chosen


@pytest.mark.slow
@pytest.mark.parametrize("pool", ["beta", "classes differ", "many wrong"])
def test_it_is_right_on_average_and_as_sure_as_it_says(pool: str) -> None:
    """Simulation: 25 sets of 100 classes; the measured mean is off by 0.03 where the pool is Beta(1.2, 1)."""
    errors, measured, inside = [], [], 0
    for seed in range(25):
        answers, true, chosen = matched(pool, seed, classes=100, per_class=60)
        estimate = mean_without_selection(answers, chosen)
        truth = true[chosen].mean()
        errors.append(estimate.value - truth)
        measured.append((answers.n_selected / answers.n_answers)[chosen].mean() - truth)
        inside += estimate.low <= truth <= estimate.high
    assert abs(np.mean(errors)) < 0.003
    if pool != "many wrong":
        assert np.mean(measured) > 0.02
    assert binomtest(inside, 25, 0.95).pvalue > 0.001


def test_the_measured_mean_is_not_covered_and_the_true_one_is() -> None:
    answers, true, chosen = matched("beta", 1, classes=300, per_class=40)
    estimate = mean_without_selection(answers, chosen)
    assert estimate.low <= true[chosen].mean() <= estimate.high
    assert (answers.n_selected / answers.n_answers)[chosen].mean() > estimate.high
    assert estimate.n == chosen.sum()


def test_many_answers_need_no_correction() -> None:
    rng = np.random.default_rng(0)
    n = np.full(400, 1000)
    hits = rng.binomial(n, rng.beta(2, 2, 400))
    chosen = hits / n > 0.6
    estimate = mean_without_selection(PoolAnswers(np.arange(400) % 4, hits, n), chosen)
    assert estimate.value == pytest.approx((hits / n)[chosen].mean(), abs=0.002)


def test_the_order_of_images_and_the_numbers_of_classes_do_not_matter() -> None:
    answers, _, chosen = matched("beta", 2, classes=20, per_class=30)
    estimate = mean_without_selection(answers, chosen)
    order = np.random.default_rng(1).permutation(len(chosen))
    other = PoolAnswers(*(part[order] for part in (answers.classes * 7 + 3, answers.n_selected, answers.n_answers)))
    again = mean_without_selection(other, chosen[order])
    assert (again.value, again.low) == pytest.approx((estimate.value, estimate.low))


def test_nobody_was_asked() -> None:
    pool = PoolAnswers(np.zeros(3, dtype=int), np.zeros(3, dtype=int), np.array([0, 0, 5]))
    with pytest.raises(DataError, match="nobody was asked about any of the chosen images"):
        mean_without_selection(pool, np.array([True, False, False]))
