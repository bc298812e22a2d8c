"""Expectation maximisation for Dawid and Skene's model with two classes: `dawid_skene` says what it is for.

An image shows its class with probability ``prevalence``. To one that does a worker says "yes" with probability
``sensitivity``, to one that does not "no" with probability ``specificity``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from oodometer.build.testset.answers import CANDIDATE, NEAR_CLASS, SHOWS_CLASS, Answers

CLOSE_ENOUGH = 1e-7
"""EM ends where no rate moves by more in a step."""

Rate = Literal["prevalence", "sensitivity", "specificity"]


class Held(NamedTuple):
    """A rate that is kept at a value; the prevalence is of no worker."""

    rate: Rate
    worker: int
    value: float


@dataclass(frozen=True, eq=False)
class Rates:
    """What is to be found; those of the workers are (n_workers,)."""

    prevalence: float
    sensitivity: np.ndarray
    specificity: np.ndarray

    def with_held(self, held: Held | None) -> Rates:
        """The same with one rate at its value."""
        if held is None:
            return self
        if held.rate == "prevalence":
            return replace(self, prevalence=held.value)
        changed = getattr(self, held.rate).copy()
        changed[held.worker] = held.value
        return Rates(
            self.prevalence,
            changed if held.rate == "sensitivity" else self.sensitivity,
            changed if held.rate == "specificity" else self.specificity,
        )

    def farthest(self, other: Rates) -> float:
        """By how much the two differ at most in any rate."""
        return max(
            abs(self.prevalence - other.prevalence),
            float(np.abs(self.sensitivity - other.sensitivity).max()),
            float(np.abs(self.specificity - other.specificity).max()),
        )


@dataclass(frozen=True, eq=False)
class Problem:
    """Whose likelihood is to be maximised.

    Args:
        answers: One or more of them about a candidate.
        smoothing: Answers of each kind, right and wrong, that are added to each worker's: on images that show the
            class, and on those that do not, (2, n_workers).
        held: A rate that does not move.
    """

    answers: Answers
    smoothing: np.ndarray
    held: Held | None = None

    @cached_property
    def asked(self) -> np.ndarray:
        """Which images are candidates with answers, (n_images,) bool."""
        return np.asarray((self.answers.n_answers > 0) & self.answers.is_candidate)

    @cached_property
    def kind(self) -> np.ndarray:
        """Who said what in each answer, (A,), as one number: twice the worker, and one more for "yes"."""
        return np.asarray(2 * self.answers.worker.astype(np.int64) + self.answers.selected)

    @cached_property
    def n_of_kind(self) -> np.ndarray:
        """How often each worker said "no" and "yes", (n_workers, 2)."""
        return np.bincount(self.kind, minlength=2 * self.answers.n_workers).reshape(-1, 2)


@dataclass(frozen=True, eq=False)
class Climb:
    """Where EM came to.

    Args:
        rates: The last ones.
        posterior: Of each image, (n_images,); of one that was not asked about it means nothing.
        height: The logarithm of the likelihood, in which the smoothing counts as answers.
        n_steps: That it took.
        converged: Whether the last step moved nothing.
    """

    rates: Rates
    posterior: np.ndarray
    height: float
    n_steps: int
    converged: bool


def climb(problem: Problem, start: Rates, most_steps: int) -> Climb:
    """The hill that is reached from here, in so many steps at most. No step goes down."""
    rates = start.with_held(problem.held)
    n_steps, converged = 0, False
    while n_steps < most_steps and not converged:
        new = maximised(problem, posterior_of(problem, rates)).with_held(problem.held)
        n_steps, converged, rates = n_steps + 1, new.farthest(rates) <= CLOSE_ENOUGH, new
    return Climb(rates, posterior_of(problem, rates), height_of(problem, rates), n_steps, converged)


def posterior_of(problem: Problem, rates: Rates) -> np.ndarray:
    """The E step: the probability that each image shows its class, given the answers about it, (n_images,)."""
    from scipy.special import expit

    shows, other = _logs(rates)
    known = problem.answers.known
    odds = _per_image(problem, shows - other) + _log(rates.prevalence) - _log(1 - rates.prevalence)
    return np.where(known == CANDIDATE, expit(odds), known)


def maximised(problem: Problem, posterior: np.ndarray) -> Rates:
    """The M step: the rates that make the answers likeliest where images show their class with these probabilities."""
    return Rates(float(posterior[problem.asked].mean()), *rates_of_workers(problem, posterior))


def rates_of_workers(problem: Problem, posterior: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The sensitivities and specificities of the M step, (n_workers,) both."""
    kinds, of_shown, of_others = problem.n_of_kind, *problem.smoothing
    weights = np.bincount(problem.kind, posterior[problem.answers.image], minlength=kinds.size)
    shown = weights.reshape(-1, 2)
    others = (kinds - shown).clip(min=0)  # not below 0 by rounding
    sensitivity = _share(shown[:, 1] + of_shown, shown.sum(axis=1) + 2 * of_shown)
    return sensitivity, _share(others[:, 0] + of_others, others.sum(axis=1) + 2 * of_others)


def height_of(problem: Problem, rates: Rates) -> float:
    """The logarithm of the likelihood of these rates, in which the smoothing counts as answers."""
    known, asked = problem.answers.known, problem.asked
    shows, other = (_per_image(problem, logs) for logs in _logs(rates))
    candidates = np.logaddexp(shows[asked] + _log(rates.prevalence), other[asked] + _log(1 - rates.prevalence))
    # The prevalence has no part in controls: how many there are of each kind is no chance.
    controls = shows[known == SHOWS_CLASS].sum() + other[known == NEAR_CLASS].sum()
    both = np.stack([rates.sensitivity, rates.specificity])
    return float(candidates.sum() + controls + (problem.smoothing * (_log(both) + _log(1 - both))).sum())


def _share(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Part of whole, not above 1 by rounding; of nothing 0.5, which is as likely as any other."""
    shares: np.ndarray = np.divide(part, whole, out=np.full(len(part), 0.5), where=whole > 0)
    return shares.clip(max=1.0)


def _logs(rates: Rates) -> tuple[np.ndarray, np.ndarray]:
    """The logarithms of the chances of "no" and "yes", (n_workers, 2): of images that show the class, of the others."""
    shows = np.column_stack([1 - rates.sensitivity, rates.sensitivity])
    other = np.column_stack([rates.specificity, 1 - rates.specificity])
    return _log(shows), _log(other)


def _per_image(problem: Problem, of_kind: np.ndarray) -> np.ndarray:
    """The sum over all answers about each image, (n_images,), of a number for each kind, (n_workers, 2)."""
    return np.bincount(problem.answers.image, of_kind.reshape(-1)[problem.kind], minlength=problem.answers.n_images)


def _log(chance: np.ndarray | float) -> np.ndarray:
    """The logarithm; of 0 a number so low that it is never added up to a likely one, since ∞ − ∞ is none."""
    return np.asarray(np.log(np.maximum(chance, 1e-300)))
