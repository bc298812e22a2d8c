"""Models whose answers to images with and without labels are made up, as rows of a store."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from oodometer.core.dataset import Dataset
from oodometer.core.predictions import Predictions, from_logits


@dataclass(frozen=True)
class MadeAnswers:
    """What M models said about N images: their classes, and how sure they were (a logit above all others)."""

    prediction: np.ndarray
    strength: np.ndarray

    def rows(self, model: int, data: Dataset) -> Predictions:
        """The answers of a model, with the labels of the data."""
        logits = np.zeros((len(data), len(data.space)))
        logits[np.arange(len(data)), self.prediction[model]] = self.strength[model]
        return from_logits(logits, data.labels, np.arange(len(data)))


def made_answers(truth: np.ndarray, k: int, skills: np.ndarray, *, harder: float, seed: int) -> MadeAnswers:
    """The answers of models of these skills, (M,), to images of these classes, (N,): easy images most get right."""
    rng = np.random.default_rng(seed)
    n = len(truth)
    margin = skills[:, None] - harder + rng.normal(size=n) + 0.5 * rng.normal(size=(len(skills), n))
    wrong = (truth + rng.integers(1, k, size=(len(skills), n))) % k
    strength = np.log(k - 1) + np.abs(margin)  # at least half sure
    return MadeAnswers(np.where(margin > 0, truth, wrong), strength)
