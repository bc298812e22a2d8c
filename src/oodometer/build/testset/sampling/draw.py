"""The order in which candidates come up: a number of each image's own, so that one more or less moves no other."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from oodometer.core.random import key_words


def places_in_line(ids: Sequence[str], seed: int) -> np.ndarray:
    """A random number of each image, (N,) uint64, that depends on its id and the seed alone.

    Who is drawn is whoever has the smallest numbers. That is a uniform draw without replacement; and when an image is
    excluded, the next one in line takes its place and all others stay, on every machine.

    >>> a, b = places_in_line(["a", "b"], 0)
    >>> bool((places_in_line(["b"], 0) == b).all())
    True
    """
    return np.array([key_words("test set", one, seed=seed)[0] for one in ids], dtype=np.uint64)


def drawn(rows: np.ndarray, n: int, line: np.ndarray, kept: Collection[int] = ()) -> np.ndarray:
    """``n`` of these rows, or all where there are fewer: those that are kept first, then the first in line, (n,)."""
    before = np.array([row not in kept for row in rows.tolist()], dtype=bool)
    order = np.lexsort((line[rows], before))
    return rows[order[:n]]
