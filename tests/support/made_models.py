"""Answers of many models whose truth is known, as like as can be to those of the public networks on ImageNetV2.

Of 64 such networks four things are known (docs/statistics/few-labels.md): agreement with the others says 5 points more
than is right; as a proxy it makes 200 labels worth 1.9 times as many, that with three other models 1.6 times, with one
1.36 times. The shares below were chosen so that made answers do the same.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtr, ndtri

from oodometer.core.predictions import Predictions, from_top_classes

SHARED, OF_FAMILY = 0.75, 0.08
"""Of the variance of how hard an image is for a model: what all models share, and what those of a family share."""

MISLED = 0.09
"""Of the images: what they look like to every model is not what they are."""

SAME_MISTAKE = 0.65
"""Of wrong answers: those that name what the image is most often taken for."""

FAMILIES = 8


@dataclass(frozen=True)
class MadeModels:
    """What models answer.

    Args:
        labels: The true class of each image, (N,).
        answers: Of each model to each image, (M, N).
        confidences: (M, N).
    """

    labels: np.ndarray
    answers: np.ndarray
    confidences: np.ndarray

    @property
    def right(self) -> np.ndarray:
        """Whether each model is right, (M, N)."""
        return np.asarray(self.answers == self.labels)


def made_models(accuracies: np.ndarray, n_images: int, *, n_classes: int = 1000, seed: int = 0) -> MadeModels:
    """Models that are about as accurate as this on images that do not mislead them."""
    rng = np.random.default_rng(seed)
    n_models = len(accuracies)
    seen = rng.integers(n_classes, size=n_images)
    taken_for = (seen + 1 + rng.integers(n_classes - 1, size=(3, n_images))) % n_classes
    families = rng.normal(size=(FAMILIES, n_images))[np.arange(n_models) % FAMILIES]
    own = rng.normal(size=(n_models, n_images))
    hard = np.sqrt(SHARED) * rng.normal(size=n_images) + np.sqrt(OF_FAMILY) * families
    margins = ndtri(accuracies)[:, None] - hard - np.sqrt(1 - SHARED - OF_FAMILY) * own
    pick = rng.random((n_models, n_images))
    which = (pick > SAME_MISTAKE).astype(int) + (pick > SAME_MISTAKE + (1 - SAME_MISTAKE) / 2)
    wrong = np.take_along_axis(taken_for, which, axis=0)
    misled = rng.random(n_images) < MISLED
    surer = np.abs(margins) * np.where(margins > 0, 1.1, 0.65) + 0.25 * rng.normal(size=margins.shape)
    return MadeModels(
        labels=np.where(misled, (seen + n_classes // 2) % n_classes, seen),
        answers=np.where(margins > 0, seen, wrong),
        confidences=np.clip(ndtr(surer), 0.01, 1.0),
    )


def rows_of(made: MadeModels, model: int, *, labelled: bool = True) -> Predictions:
    """The answers of one model as a store keeps them."""
    labels = made.labels if labelled else np.full(len(made.labels), -1)
    rows = from_top_classes(made.answers[model][:, None], labels, np.arange(len(labels)))
    return replace(rows, confidence=made.confidences[model].astype(np.float32))
