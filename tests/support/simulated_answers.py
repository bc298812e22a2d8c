"""Answers of models of which it is known how calibrated they are."""

from __future__ import annotations

import numpy as np

LOGIT_SPREAD = 2.0
"""Of the ten true logits of an image: mean confidences of about 70 %."""


def population(temperature: float, size: int = 200_000, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """The confidence of a model whose logits are the true ones times this, and how often it is right."""
    logits = np.random.default_rng(seed).normal(scale=LOGIT_SPREAD, size=(size, 10))
    truth, said = (np.exp(times * logits) for times in (1.0, temperature))
    best = logits.argmax(axis=1)[:, None]
    confidence, right = (np.take_along_axis(odds, best, 1)[:, 0] / odds.sum(axis=1) for odds in (said, truth))
    return confidence, right


def probabilities(temperature: float, n_classes: int, size: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """What such a model says of each class, and how likely each is in truth, (size, K) both."""
    logits = np.random.default_rng(seed).normal(scale=LOGIT_SPREAD, size=(size, n_classes))
    said, truth = (np.exp(times * logits) for times in (temperature, 1.0))
    return said / said.sum(axis=1, keepdims=True), truth / truth.sum(axis=1, keepdims=True)


def drawn_labels(truth: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A label of each image, drawn from how likely each class is, (N, K) -> (N,)."""
    ends = np.cumsum(truth, axis=1)
    return np.minimum((ends < rng.random((len(truth), 1)) * ends[:, -1:]).sum(axis=1), truth.shape[1] - 1)
