"""Features by a model: what it answers about an image."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from oodometer.build.testset.features import Features
from oodometer.core.errors import DataError
from oodometer.core.model import Compute, Forward, Model, checked_logits

BATCH = 256


def model_features(
    model: Model, views: Iterable[np.ndarray], *, mirror: bool = False, compute: Compute | None = None
) -> Features:
    """The directions of the logits of any model, vectors of length 1.

    Logits count up to a constant for each image, which no softmax sees; their length is mostly how sure the model is,
    which a re-encoded copy changes more than what it sees.

    Args:
        views: Each image as the model wants to see it, (H, W, 3) uint8: ``dataset.views(index, [model.input.view])``.
        mirror: Whether to ask about the mirrored images too, which takes as long again.
    """
    forward = model.open(compute or Compute(threads=0))
    vectors, mirrored = [], []
    for batch in _batches(model, views):
        vectors.append(_answers(model, forward, batch))
        if mirror:
            mirrored.append(_answers(model, forward, np.ascontiguousarray(batch[:, :, ::-1])))
    none = np.empty((0, len(model.space)), np.float32)
    return Features(np.concatenate([none, *vectors]), mirrored=np.concatenate([none, *mirrored]) if mirror else None)


def directions(logits: np.ndarray) -> np.ndarray:
    """Logits without their mean, divided by their length, (N, K) -> (N, K) float32; zeros where all of a row are equal.

    >>> directions(np.array([[1.0, 1.0, 5.0, 5.0], [2.0, 2.0, 2.0, 2.0]])).tolist()
    [[-0.5, -0.5, 0.5, 0.5], [0.0, 0.0, 0.0, 0.0]]
    """
    centred = logits - logits.mean(axis=1, keepdims=True, dtype=np.float64)
    lengths = np.linalg.norm(centred, axis=1, keepdims=True)
    return np.asarray(centred / np.where(lengths > 0, lengths, 1), np.float32)


def _answers(model: Model, forward: Forward, batch: np.ndarray) -> np.ndarray:
    return directions(checked_logits(model, forward(batch), len(batch)))


def _batches(model: Model, views: Iterable[np.ndarray]) -> Iterator[np.ndarray]:
    shape = (model.input.view.height, model.input.view.width, 3)
    batch: list[np.ndarray] = []
    for place, view in enumerate(views):
        if view.shape != shape or view.dtype != np.uint8:
            raise DataError(
                f"image {place} is of shape {view.shape} and type {view.dtype}: model {model.name} wants {shape} uint8"
            )
        batch.append(view)
        if len(batch) == BATCH:
            yield np.stack(batch)
            batch = []
    if batch:
        yield np.stack(batch)
