"""The zero-step adversary of Hendrycks et al. (2021, section 5.1): uniform noise, scaled at random for each image."""

from __future__ import annotations

from typing import Any

import numpy as np

from oodometer.attacks.ball import room_of
from oodometer.train.adversaries.draws import radii, uniform
from oodometer.train.adversaries.registry import Adversary, Gradients


def perturb(pixels: Any, gradients: Gradients, radius: float, rng: np.random.Generator) -> Any:  # noqa: ARG001
    """The pixels with noise; no gradient is asked for."""
    room = room_of(pixels, radii(pixels, radius, rng))
    return room.project(pixels + room.radius * uniform(pixels, rng))


zero_step = Adversary(perturb, eps=8, asks_network=False)
