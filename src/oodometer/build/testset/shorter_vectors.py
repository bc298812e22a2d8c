"""Vectors of fewer numbers that are never further apart than the ones they are made from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from oodometer.core.errors import DataError
from oodometer.core.random import rng_for

DIMENSIONS = 64
"""A search through vectors of fewer is hardly faster: from here on reading and comparing distances is most of it."""

_SAMPLE, _ROUNDS, _AT_ONCE = 4096, 2, 4096


@dataclass(frozen=True)
class Shortening:
    """A move to the middle of the vectors and an orthogonal projection, neither of which lengthens a distance.

    So all that is close in full is close in short, and a search there misses nothing: it only finds more.

    Args:
        middle: What is subtracted, (D,): small numbers lose less to rounding where distances are made of products.
        basis: Orthonormal columns, (D, d); None: the vectors keep their length.
    """

    middle: np.ndarray
    basis: np.ndarray | None

    def of(self, vectors: np.ndarray) -> np.ndarray:
        """The short vectors, (N, D) float32 -> (N, d) float32."""
        width = len(self.middle) if self.basis is None else self.basis.shape[1]
        short = np.empty((len(vectors), width), np.float32)
        for start in range(0, len(vectors), _AT_ONCE):
            rows = slice(start, start + _AT_ONCE)
            moved = vectors[rows] - self.middle
            if not np.isfinite(moved).all():
                raise DataError("some features are NaN or infinite: leave out the images that they are of")
            short[rows] = moved if self.basis is None else moved @ self.basis
        return short


def moving(vectors: np.ndarray) -> Shortening:
    """The move alone, by the mean of some of the vectors (N, D)."""
    sample = vectors[:: -(-len(vectors) // _SAMPLE) or 1]
    middle = sample.mean(axis=0, dtype=np.float64) if len(sample) else np.zeros(vectors.shape[1])
    return Shortening(middle, None)


def shortening(vectors: np.ndarray, dimensions: int = DIMENSIONS) -> Shortening:
    """To about the principal components of some of the vectors (N, D), which keep distances best.

    Found by subspace iteration (Halko, Martinsson and Tropp, SIAM Review 53, 2011): whatever it finds is orthonormal,
    so that a bad basis costs time and never a neighbour.

    >>> vectors = np.random.default_rng(0).normal(size=(50, 200)).astype(np.float32)
    >>> short = shortening(vectors, dimensions=8).of(vectors)
    >>> short.shape, bool(np.linalg.norm(short[0] - short[1]) < np.linalg.norm(vectors[0] - vectors[1]))
    ((50, 8), True)
    """
    plain = moving(vectors)
    if vectors.shape[1] <= dimensions:
        return plain
    sample = vectors[:: -(-len(vectors) // _SAMPLE) or 1] - plain.middle
    basis = rng_for("shorter vectors").normal(size=(vectors.shape[1], dimensions))
    for _ in range(_ROUNDS):
        basis = sample.T @ (sample @ basis)
    return Shortening(plain.middle, np.linalg.qr(basis / (np.abs(basis).max() or 1)).Q)
