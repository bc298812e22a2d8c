"""How often the intervals of estimates without labels hold what the method says of very many images."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import beta, binomtest

from oodometer.analysis.unlabelled_answers import Answers, SideAnswers
from oodometer.analysis.unlabelled_methods import Estimator
from oodometer.metrics.agreement import agreement_matrix
from oodometer.stats.agreement_line import aline_d, aline_s
from oodometer.stats.confidence_estimates import NONE_SHARED, Shared
from oodometer.stats.grouped_jackknife import groups_of_images

TIMES = 1000
N = 400


def side(prediction: np.ndarray, right: np.ndarray, scores: np.ndarray, seed: int) -> SideAnswers:
    """Answers whose entropy is one minus the confidence."""
    shape = np.broadcast_shapes(prediction.shape, scores.shape)
    scores = np.broadcast_to(scores, shape)
    group = groups_of_images(shape[1], seed=seed)
    return SideAnswers(np.broadcast_to(prediction, shape), (~right).astype(np.int8), scores, 1 - scores, group)


def answers(clean: SideAnswers, shifted: SideAnswers, *, same: bool = False) -> Answers:
    names = tuple(f"m{place}" for place in range(len(clean.prediction)))
    shared = Shared(np.arange(N), np.arange(N)) if same else NONE_SHARED
    return Answers(names, (), clean, shifted, shared, ())


def holds(make: Callable[[np.random.Generator], Answers], method: str, truth: np.ndarray) -> np.ndarray:
    """In how many repetitions each model's interval holds its truth."""
    hits = np.zeros(len(truth), dtype=int)
    rng = np.random.default_rng(1)
    for _ in range(TIMES):
        found = Estimator(make(rng)).estimates(method, level=0.95)
        hits += [one.low <= value <= one.high for one, value in zip(found, truth, strict=True)]
    return hits


def as_often_as_it_says(hits: np.ndarray) -> bool:
    """Judged by binomial tests of each model; 94 % is near enough, and above 97 % it would be too wide."""
    return all(
        binomtest(int(one), TIMES, 0.94, alternative="less").pvalue > 0.001
        and binomtest(int(one), TIMES, 0.97, alternative="greater").pvalue > 0.001
        for one in hits
    )


# Closed forms: on clean images scores are uniform and 70 % of the answers are right, so that the threshold is 0.3.


def apart(rng: np.random.Generator) -> Answers:
    """Other images on the other side, with scores from Beta(2, 3)."""
    nothing, clean = np.zeros((1, N), int), rng.random((1, N))
    right = rng.random((1, N)) < 0.4 + 0.6 * clean
    return answers(side(nothing, right, clean, 1), side(nothing, nothing == 1, rng.beta(2, 3, (1, N)), 2))


def same_images(rng: np.random.Generator) -> Answers:
    """The same images on the other side, with the squares of their scores."""
    nothing, clean = np.zeros((1, N), int), rng.random((1, N))
    right = rng.random((1, N)) < 0.4 + 0.6 * clean
    return answers(side(nothing, right, clean, 1), side(nothing, nothing == 1, clean**2, 1), same=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "method", "truth"),
    [
        (apart, "atc-confidence", beta(2, 3).sf(0.3)),
        (apart, "atc-entropy", beta(2, 3).sf(0.3)),
        (apart, "confidence-difference", 0.7 - 0.5 + 0.4),
        (same_images, "atc-confidence", 1 - np.sqrt(0.3)),
        (same_images, "confidence-difference", 0.7 - 0.5 + 1 / 3),
    ],
)
def test_by_confidence(make: Callable[[np.random.Generator], Answers], method: str, truth: float) -> None:
    assert as_often_as_it_says(holds(make, method, np.array([truth])))


# Images of so many kinds, on which all answers are known: what the method says of all kinds is the truth.


@pytest.mark.slow
@pytest.mark.parametrize(("method", "by"), [("aline-s", aline_s), ("aline-d", aline_d)])
@pytest.mark.parametrize("same", [False, True])
def test_by_agreement(method: str, by: Callable[..., np.ndarray], same: bool) -> None:
    rng = np.random.default_rng(0)
    n_models, n_kinds = 5, 300
    ease = rng.normal(size=n_kinds)
    skills = np.linspace(-0.5, 1.5, n_models)[:, None]
    kinds = [
        np.where(skills + ease - harder + rng.normal(size=(n_models, n_kinds)) > 0, 0, rng.integers(1, 4, n_kinds))
        for harder in (0.0, 0.7)
    ]
    truth = by((kinds[0] == 0).mean(axis=1), *(agreement_matrix(predictions) for predictions in kinds))

    def make(rng: np.random.Generator) -> Answers:
        drawn = rng.integers(n_kinds, size=(2, N))
        clean, shifted = (kinds[at][:, drawn[0 if same else at]] for at in (0, 1))
        nothing = np.zeros((n_models, N))
        return answers(side(clean, clean == 0, nothing, 1), side(shifted, shifted == 0, nothing, 1 if same else 2))

    assert as_often_as_it_says(holds(make, method, truth))
