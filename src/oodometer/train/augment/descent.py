"""How the small networks that make copies are learned: Adam with half a cosine, on one thread, from keyed draws."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from oodometer.core.random import rng_for
from oodometer.train.schedule import cosine
from oodometer.train.torch_threads import torch_threads


@dataclass(frozen=True)
class Descent:
    """The numbers of a training.

    Args:
        name: What the draws are keyed by.
        steps: Of Adam.
        rate: At the first step.
    """

    name: str
    steps: int
    rate: float
    seed: int


def descend(descent: Descent, parameters: list[Any], loss_of: Callable[[np.random.Generator], Any]) -> list[float]:
    """Change parameters such that a loss becomes small; the loss of each step.

    Args:
        loss_of: From the generator of a step to the loss of what it draws.
    """
    import torch

    optimizer = torch.optim.Adam(parameters, lr=descent.rate)
    losses: list[float] = []
    with torch_threads(1), torch.enable_grad():
        for step in range(descent.steps):
            for group in optimizer.param_groups:
                group["lr"] = cosine(step, descent.steps, first=descent.rate)
            loss = loss_of(rng_for("descent", descent.name, step, seed=descent.seed))
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(parameters, 1.0)
            optimizer.step()
            losses.append(float(loss.detach()))
    return losses
