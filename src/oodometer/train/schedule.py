"""The learning rate at every step."""

from __future__ import annotations

import math


def cosine(step: int, n_steps: int, *, first: float) -> float:
    """The learning rate at ``step`` of ``n_steps``: half a cosine from ``first`` down (Loshchilov & Hutter 2017).

    >>> [round(cosine(step, 4, first=0.1), 4) for step in range(4)]
    [0.1, 0.0854, 0.05, 0.0146]
    """
    return first * (1 + math.cos(math.pi * step / n_steps)) / 2
