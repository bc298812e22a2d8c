"""The one-step adversary of Hendrycks et al. (2021, section 5.1), of a strength drawn for each image."""

from __future__ import annotations

from typing import Any

import numpy as np

from oodometer.attacks.ball import room_of
from oodometer.train.adversaries.draws import radii
from oodometer.train.adversaries.registry import Adversary, Gradients


def perturb(pixels: Any, gradients: Gradients, radius: float, rng: np.random.Generator) -> Any:
    """The pixels after one step to the edge of each image's ball."""
    room = room_of(pixels, radii(pixels, radius, rng))
    return room.project(pixels + room.radius * room.direction(gradients(pixels)))


fgsm = Adversary(perturb, eps=8)
