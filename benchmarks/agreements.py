"""Accuracy without labels of many models: the agreements of all pairs, and everything that is made of them.

    python benchmarks/agreements.py [--models 67] [--images 60000]

The agreements of all pairs are counted for each of 20 groups of images at once, which is what the intervals need. The
peer is a plain loop of numpy over the pairs, which gives the agreements on all images alone. The answers are made up:
models of very different accuracy that err on the same images more often than by chance.
"""

from __future__ import annotations

import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")  # before numpy: threads that wait take time as well

import argparse
import time
from collections.abc import Callable

import numpy as np

from oodometer.analysis.unlabelled_answers import Answers, SideAnswers
from oodometer.analysis.unlabelled_methods import METHODS, Estimator
from oodometer.metrics.agreement import agreement_counts
from oodometer.stats.confidence_estimates import NONE_SHARED
from oodometer.stats.grouped_jackknife import groups_of_images

PROMISED_SECONDS = 5
N_CLASSES = 1000


def made_side(n_models: int, n: int, *, harder: float, seed: int) -> SideAnswers:
    """The answers of models to images, ``harder`` of which fewer models get right."""
    rng = np.random.default_rng(seed)
    skill = np.linspace(-0.5, 1.5, n_models)[:, None] - harder
    ease, truth = rng.normal(size=n), rng.integers(N_CLASSES, size=n)
    margin = (skill + ease + 0.5 * rng.normal(size=(n_models, n))).astype(np.float32)
    wrong = (truth + 1 + rng.integers(5, size=(n_models, n))) % N_CLASSES
    confidence = 1 / (1 + np.exp(-2 * np.abs(margin)))
    prediction = np.where(margin > 0, truth, wrong).astype(np.int32)
    return SideAnswers(prediction, (margin <= 0).astype(np.int8), confidence, 1 - confidence, groups_of_images(n))


def plain_loop(predictions: np.ndarray) -> np.ndarray:
    """The agreements of all pairs, one pair after the other."""
    n = len(predictions)
    shares = np.ones((n, n))
    for first in range(n):
        for second in range(first + 1, n):
            shares[first, second] = shares[second, first] = np.mean(predictions[first] == predictions[second])
    return shares


def least_seconds(work: Callable[[], object], times: int = 3) -> float:
    """How long it takes when nothing stands in its way."""
    taken = []
    for _ in range(times):
        begun = time.perf_counter()
        work()
        taken.append(time.perf_counter() - begun)
    return min(taken)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=67)
    parser.add_argument("--images", type=int, default=60_000)
    given = parser.parse_args()
    clean, shifted = (
        made_side(given.models, given.images, harder=harder, seed=seed) for seed, harder in enumerate((0.0, 0.7))
    )
    counts = agreement_counts(clean.prediction, clean.group).sum(axis=0)
    assert np.array_equal(counts / given.images, plain_loop(clean.prediction)), "not the same agreements"
    ours = least_seconds(lambda: agreement_counts(clean.prediction, clean.group))
    theirs = least_seconds(lambda: plain_loop(clean.prediction))
    print(f"all pairs of {given.models} models on {given.images:,} images, in 20 groups: {ours:.2f} s")
    print(f"by a plain loop of numpy, in one: {theirs:.2f} s; ratio {ours / theirs:.2f}")
    names = tuple(f"model-{place}" for place in range(given.models))
    total = 0.0
    for method in METHODS:
        begun = time.perf_counter()
        found = Estimator(Answers(names, (), clean, shifted, NONE_SHARED, ())).estimates(method, level=0.95)
        total += time.perf_counter() - begun
        assert len(found) == given.models
        print(f"{method} with intervals: {time.perf_counter() - begun:.2f} s")
    print(f"both sides and all methods: {total:.2f} s   (promised: agreements in at most {PROMISED_SECONDS} s)")


if __name__ == "__main__":
    main()
