"""The learning rate at every step: half a cosine or steps down, maybe after a warm-up."""

from __future__ import annotations

import math

from oodometer.core.errors import UsageError

COSINE, STEPS = "cosine", "steps:"
DROP = 0.1
"""By how much a step down multiplies the rate."""


def cosine(step: int, n_steps: int, *, first: float) -> float:
    """The learning rate at ``step`` of ``n_steps``: half a cosine from ``first`` down (Loshchilov & Hutter 2017).

    >>> [round(cosine(step, 4, first=0.1), 4) for step in range(4)]
    [0.1, 0.0854, 0.05, 0.0146]
    """
    return first * (1 + math.cos(math.pi * step / n_steps)) / 2


def drops_of(schedule: str) -> tuple[int, ...]:
    """The epochs after which the rate drops, of ``steps:30,60,80``; none of ``cosine``.

    >>> drops_of("steps:30,60,80"), drops_of("cosine")
    ((30, 60, 80), ())
    """
    if schedule == COSINE:
        return ()
    epochs = [text.strip() for text in schedule.removeprefix(STEPS).split(",")]
    numbers = [int(text) for text in epochs if text.isdecimal()]
    if not schedule.startswith(STEPS) or len(numbers) < len(epochs) or numbers != sorted({*numbers} - {0}):
        raise UsageError(f"--schedule {schedule}: cosine, or the epochs after which the rate drops: steps:30,60,80")
    return tuple(numbers)


def rate_at(step: int, n_per_epoch: int, *, schedule: str, epochs: int, warm_up: int, first: float) -> float:
    """The learning rate at a step of a whole training.

    Args:
        step: From 0 on, over all epochs.
        n_per_epoch: Steps of an epoch.
        warm_up: So many epochs in which the rate grows linearly to ``first``.

    >>> said = {"schedule": "steps:2,3", "epochs": 4, "warm_up": 1, "first": 0.1}
    >>> [round(rate_at(step, 2, **said), 4) for step in range(8)]
    [0.05, 0.1, 0.1, 0.1, 0.01, 0.01, 0.001, 0.001]
    """
    n_warm = warm_up * n_per_epoch
    if step < n_warm:
        return first * (step + 1) / n_warm
    if schedule == COSINE:
        return cosine(step - n_warm, epochs * n_per_epoch - n_warm, first=first)
    return float(first * DROP ** sum(step >= epoch * n_per_epoch for epoch in drops_of(schedule)))
