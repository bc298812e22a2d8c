"""The ten-step adversary of Hendrycks et al. (2021, section 5.1), of a strength drawn for each image."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from oodometer.attacks.ball import room_of
from oodometer.train.adversaries.draws import radii
from oodometer.train.adversaries.registry import Adversary, Gradients

STEPS = 10


def perturb(pixels: Any, gradients: Gradients, radius: float, rng: np.random.Generator) -> Any:
    """The pixels after ten steps of radius / sqrt(10) each; no image stops early, for the loss can still grow."""
    room = room_of(pixels, radii(pixels, radius, rng))
    perturbed = pixels
    for _ in range(STEPS):
        step = room.radius / math.sqrt(STEPS)
        perturbed = room.project(perturbed + step * room.direction(gradients(perturbed)))
    return perturbed


pgd = Adversary(perturb, eps=8)
