"""What the answers themselves tell: probabilities instead of logits, one answer to everything, mere chance."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from oodometer.core.labels import LabelSpace
from oodometer.preflight.finding import Finding
from oodometer.stats.intervals import clopper_pearson

SUMS_APART = 1e-3
"""Half precision leaves the sum of a softmax over 1,000 classes so far from 1, at the most."""

LEAST_ASKED = 30
"""Fewer answers say nothing about a model."""

BY_CHANCE = 1e-3
"""How seldom a right model may be accused by chance alone, by each check."""


SURELY_LITTLE = 0.15
"""n is large enough to speak of chance where the model surely knows less than this share of what guessing leaves."""


def about_outputs(logits: np.ndarray, labels: np.ndarray, space: LabelSpace) -> Iterator[Finding]:
    """What is wrong with logits (N, K), if anything."""
    if are_probabilities(logits):
        yield Finding(
            "outputs",
            "the answers are probabilities (each row sums to 1), and logits are expected: confidences, calibration and "
            "out-of-distribution scores would be wrong",
            "leave the softmax out of the network, or end it with the logarithm",
        )
        return
    if len(logits) < LEAST_ASKED:
        return
    answers, true = logits.argmax(axis=1), labels
    if len(np.unique(answers)) == 1 and len(np.unique(true)) > 1:
        yield Finding(
            "outputs",
            f"class {space.classes[int(answers[0])]!r} is the answer to all {len(answers)} images",
            "are the weights loaded, and the pixels scaled as the network wants them?",
        )
        return
    if _is_saturated(logits) and (answers == true).mean() < 0.99:
        yield Finding(
            "outputs",
            f"the confidence is 1 for nearly all of {len(logits)} images, right or wrong",
            "is the input scaled as the network wants it (--mean, --std), and are these logits?",
        )
    if is_chance(int((answers == true).sum()), len(true), len(np.unique(true)), len(space)):
        right = 100 * float((answers == true).mean())
        yield Finding(
            "outputs",
            f"{right:.1f} % of {len(true)} images right, no more than by chance",
            "check the weights, the order of the classes and the preprocessing",
        )


def are_probabilities(logits: np.ndarray) -> bool:
    """Whether every row is a softmax already.

    >>> are_probabilities(np.array([[0.2, 0.8], [0.5, 0.5]])), are_probabilities(np.array([[-1.0, 2.0]]))
    (True, False)
    """
    sums = logits.sum(axis=1, dtype=np.float64)
    return bool(logits.min() >= 0 and logits.max() <= 1 + SUMS_APART and (np.abs(sums - 1) < SUMS_APART).all())


def is_chance(right: int, n: int, n_true: int, n_classes: int) -> bool:
    """Whether so many right are no more than guessing gives, and n is large enough to say so.

    Guessing is right in one of the classes that occur, or of all: whichever is more.

    >>> is_chance(0, 256, 256, 1000), is_chance(26, 256, 10, 10), is_chance(60, 256, 10, 10), is_chance(1, 20, 10, 10)
    (True, True, False, False)
    """
    chance = 1 / min(n_true, n_classes)
    low, high = clopper_pearson(right, n, 1 - 2 * BY_CHANCE)
    return low <= chance and high < chance + SURELY_LITTLE * (1 - chance)


def _is_saturated(logits: np.ndarray) -> bool:
    shifted = logits - logits.max(axis=1, keepdims=True)
    others = np.exp(shifted.astype(np.float64)).sum(axis=1) - 1
    return bool((others < np.finfo(np.float32).eps).mean() > 0.99)
