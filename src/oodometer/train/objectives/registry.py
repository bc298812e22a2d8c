"""Objectives by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from oodometer.core.registry import Registry

if TYPE_CHECKING:
    from oodometer.train.lesson import Lesson

PLAIN = "plain"


@dataclass(frozen=True)
class Objective:
    """What is learned from a batch.

    Args:
        of: From the batch to the loss, a tensor with gradients, and how many answers are right.
        weight: Of the term beside the cross-entropy where nobody says; None where there is none.
        eps: The largest change of a pixel that it makes where nobody says, in levels of 255; None where it makes none.
        compares_copies: Whether it needs augmentations besides mirror and crop, to compare their results.
    """

    of: Callable[[Lesson], tuple[Any, int]]
    weight: float | None = None
    eps: float | None = None
    compares_copies: bool = False


objectives: Registry[Objective] = Registry(
    "objective",
    {
        "consistency": "oodometer.train.objectives.consistency:consistency",
        PLAIN: "oodometer.train.objectives.plain:plain",
        "stability": "oodometer.train.objectives.stability:stability",
    },
    group="oodometer.objectives",
)
