"""Fast adversarial training (Wong et al. 2020): one step from a random start, 1.25 times as long as the radius."""

from __future__ import annotations

from typing import Any

import numpy as np

from oodometer.attacks.ball import room_of
from oodometer.train.adversaries.draws import uniform
from oodometer.train.adversaries.registry import Adversary, Gradients

STEP = 1.25


def perturb(pixels: Any, gradients: Gradients, radius: float, rng: np.random.Generator) -> Any:
    """The pixels after a random start in the ball and one step, projected back into it; all images have one radius."""
    room = room_of(pixels, radius)
    start = room.project(pixels + radius * uniform(pixels, rng))
    return room.project(start + STEP * radius * room.direction(gradients(start)))


fast = Adversary(perturb, eps=4)
