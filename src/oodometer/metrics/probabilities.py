"""Probabilities from logits, some images at a time: those of 50,000 images in double precision are half a gigabyte."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from oodometer.core.errors import OodometerError

BLOCK = 1 << 21
"""Logits worked on at once."""


def log_probabilities(logits: np.ndarray) -> Iterator[np.ndarray]:
    """Log softmax of some rows at a time, (n, K) in double precision.

    >>> next(log_probabilities(np.log([[3.0, 1.0]]))).round(4)
    array([[-0.2877, -1.3863]])
    """
    logits = np.asarray(logits)
    if logits.ndim != 2 or logits.size == 0:
        raise OodometerError(f"logits {logits.shape}: must be (N, K), of some images")
    step = max(BLOCK // logits.shape[1], 1)
    for start in range(0, len(logits), step):
        part = logits[start : start + step].astype(np.float64)
        part -= part.max(axis=1, keepdims=True)
        part -= np.log(np.exp(part).sum(axis=1, keepdims=True))
        yield part


def probabilities_of(logits: np.ndarray) -> np.ndarray:
    """Softmax in single precision, (N, K).

    >>> probabilities_of(np.log([[3.0, 1.0]]))
    array([[0.75, 0.25]], dtype=float32)
    """
    return np.concatenate([np.exp(some).astype(np.float32) for some in log_probabilities(logits)])
