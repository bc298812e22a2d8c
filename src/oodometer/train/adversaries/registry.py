"""Adversaries by name, and what each may do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from oodometer.core.registry import Registry

Gradients = Callable[[Any], Any]
"""From pixels (N, 3, H, W) in [0, 1] to the gradients of each image's loss by them, of the same shape."""


class Perturb(Protocol):
    """Changes the pixels of a batch within a radius."""

    def __call__(self, pixels: Any, gradients: Gradients, radius: float, rng: np.random.Generator) -> Any:
        """The perturbed pixels, (N, 3, H, W) in [0, 1], none of them further away than the radius."""
        ...


@dataclass(frozen=True)
class Adversary:
    """Who perturbs training images.

    Args:
        perturb: What it does.
        eps: The largest change of a pixel where nobody says, in levels of 255.
        asks_network: Whether it climbs the network's loss; otherwise it is noise, and no one is its adversary.
    """

    perturb: Perturb
    eps: float
    asks_network: bool = True


adversaries: Registry[Adversary] = Registry(
    "adversary",
    {
        "fast": "oodometer.train.adversaries.fast:fast",
        "fgsm": "oodometer.train.adversaries.fgsm:fgsm",
        "pgd": "oodometer.train.adversaries.pgd:pgd",
        "zero-step": "oodometer.train.adversaries.zero_step:zero_step",
    },
    group="oodometer.adversaries",
)
