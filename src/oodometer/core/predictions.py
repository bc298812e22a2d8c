"""One model on one condition, one row per image: what running writes and everything after only reads."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from oodometer.core.errors import DataError, OodometerError

UNKNOWN = -1
"""In place of a label, class or rank that is not known."""


@dataclass(frozen=True)
class Predictions:
    """What a model said about each image; all arrays have one row per image.

    Numbers that need all logits are NaN where only the best classes are known.

    Args:
        image: Position in the condition's data set, int32.
        label: The true class, int32; -1 where there is none.
        prediction: The class with the largest logit (the first of equals), int32.
        rank: How many classes stand before the true one, int32: 0 is a correct answer; -1 without a label. Where
            only the best k classes are known and the true one is not among them: k.
        top5: The five best classes in order, (N, 5) int32; -1 beyond the number of classes.
        confidence: Largest softmax probability.
        margin: Largest minus second largest softmax probability.
        energy: log sum exp of the logits.
        max_logit: The largest logit.
        entropy: Of the softmax, in nats.
        label_log_probability: Log softmax of the true class.
        sum_squares: Sum of the squared softmax probabilities (the Brier score needs it).
        logits: All of them, (N, K) float16, where they were kept.
    """

    image: np.ndarray
    label: np.ndarray
    prediction: np.ndarray
    rank: np.ndarray
    top5: np.ndarray
    confidence: np.ndarray
    margin: np.ndarray
    energy: np.ndarray
    max_logit: np.ndarray
    entropy: np.ndarray
    label_log_probability: np.ndarray
    sum_squares: np.ndarray
    logits: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.image)


def from_logits(logits: np.ndarray, labels: np.ndarray, images: np.ndarray) -> Predictions:
    """The rows that belong to these logits, (N, K).

    >>> rows = from_logits(np.array([[1.0, 3.0, 2.0]]), np.array([2]), np.array([0]))
    >>> int(rows.prediction[0]), int(rows.rank[0]), rows.top5[0].tolist(), round(float(rows.confidence[0]), 4)
    (1, 1, [1, 2, 0, -1, -1], 0.6652)
    """
    wide = logits.astype(np.float64)
    n, k = wide.shape
    top5 = _top5(wide)
    best = np.take_along_axis(wide, top5[:, :1], axis=1)
    shifted = wide - best
    exps = np.exp(shifted)
    sums = exps.sum(axis=1)
    probabilities = exps / sums[:, None]
    log_sums = np.log(sums)
    second = np.take_along_axis(probabilities, top5[:, 1:2], axis=1)[:, 0] if k > 1 else np.zeros(n)
    has_label = labels >= 0
    safe = np.where(has_label, labels, 0)[:, None]
    of_label = np.take_along_axis(shifted, safe, axis=1)
    before = (shifted > of_label) | ((shifted == of_label) & (np.arange(k) < safe))
    padded = np.full((n, 5), UNKNOWN, dtype=np.int32)
    padded[:, : top5.shape[1]] = top5
    return Predictions(
        image=images.astype(np.int32),
        label=labels.astype(np.int32),
        prediction=padded[:, 0].copy(),
        rank=np.where(has_label, before.sum(axis=1), UNKNOWN).astype(np.int32),
        top5=padded,
        confidence=(1 / sums).astype(np.float32),
        margin=(1 / sums - second).astype(np.float32),
        energy=(best[:, 0] + log_sums).astype(np.float32),
        max_logit=best[:, 0].astype(np.float32),
        entropy=(log_sums - (probabilities * shifted).sum(axis=1)).astype(np.float32),
        label_log_probability=np.where(has_label, of_label[:, 0] - log_sums, np.nan).astype(np.float32),
        sum_squares=(probabilities**2).sum(axis=1).astype(np.float32),
    )


def _top5(logits: np.ndarray) -> np.ndarray:
    """The best classes in order, the first of equals before the others, (N, min(5, K))."""
    k = logits.shape[1]
    if k <= 64:
        return np.argsort(-logits, axis=1, kind="stable")[:, :5]
    # Select, then sort: a full sort of 1,000 logits would cost more than everything else here.
    fifth = np.partition(logits, k - 5, axis=1)[:, k - 5]
    best = np.empty((len(logits), 5), dtype=np.int64)
    for row, least in enumerate(fifth):
        kept = np.flatnonzero(logits[row] >= least)
        best[row] = kept[np.argsort(-logits[row, kept], kind="stable")[:5]]
    return best


def from_top_classes(classes: np.ndarray, labels: np.ndarray, images: np.ndarray) -> Predictions:
    """The rows of which only the best classes are known, (N, k) in order; the rest is NaN or -1.

    >>> rows = from_top_classes(np.array([[4, 2]]), np.array([7]), np.array([0]))
    >>> int(rows.rank[0]), bool(np.isnan(rows.confidence[0]))
    (2, True)
    """
    n, k = classes.shape
    if k == 0:
        raise DataError("no predicted classes: the table has no column")
    hit = classes == labels[:, None]
    found = hit.any(axis=1) & (labels >= 0)
    rank = np.where(found, hit.argmax(axis=1), np.where(labels >= 0, k, UNKNOWN))
    padded = np.full((n, 5), UNKNOWN, dtype=np.int32)
    padded[:, : min(k, 5)] = classes[:, :5]
    nothing = np.full(n, np.nan, dtype=np.float32)
    return Predictions(
        image=images.astype(np.int32),
        label=labels.astype(np.int32),
        prediction=padded[:, 0].copy(),
        rank=rank.astype(np.int32),
        top5=padded,
        confidence=nothing,
        margin=nothing,
        energy=nothing,
        max_logit=nothing,
        entropy=nothing,
        label_log_probability=nothing,
        sum_squares=nothing,
    )


def with_logits(rows: Predictions, logits: np.ndarray) -> Predictions:
    """The rows with all logits as float16, the way ``--keep logits`` stores them."""
    largest = float(np.abs(logits).max(initial=0.0))
    if largest > float(np.finfo(np.float16).max):
        raise OodometerError(f"a logit of {largest:.3g} does not fit into float16; run without --keep logits")
    return replace(rows, logits=logits.astype(np.float16))


def concatenate(parts: list[Predictions]) -> Predictions:
    """All rows of the parts, one part after the other."""
    if not parts:
        raise OodometerError("no predictions to put together")
    joined = {
        one.name: np.concatenate([getattr(part, one.name) for part in parts])
        for one in fields(Predictions)
        if one.name != "logits"
    }
    logits = [part.logits for part in parts if part.logits is not None]
    return Predictions(**joined, logits=np.concatenate(logits) if len(logits) == len(parts) else None)


def taken(rows: Predictions, places: np.ndarray) -> Predictions:
    """The rows at these places."""
    values: dict[str, Any] = {one.name: getattr(rows, one.name) for one in fields(Predictions)}
    chosen: dict[str, Any] = {name: None if value is None else value[places] for name, value in values.items()}
    return Predictions(**chosen)
