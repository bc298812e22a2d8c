"""Stability training (Zheng et al. 2016): the answer to a noisy copy is to be that to the image."""

from __future__ import annotations

from typing import Any

from oodometer.attacks.ball import room_of
from oodometer.core.random import rng_for
from oodometer.train.adversaries.draws import uniform
from oodometer.train.lesson import LEVELS, Lesson
from oodometer.train.objectives.registry import Objective


def of(lesson: Lesson) -> tuple[Any, int]:
    """The loss of the images, plus the weighted cross-entropy from their probabilities to those of noisy copies.

    Both pass the network together, so that batch normalisation sees them as one batch.
    """
    import torch

    recipe, moment = lesson.recipe, lesson.moment
    assert recipe.eps is not None
    pixels = lesson.pixels(lesson.augmented())
    rng = rng_for("stability", moment.epoch, moment.step, seed=moment.seed)
    room = room_of(pixels, recipe.eps / LEVELS)
    noisy = room.project(pixels + room.radius * uniform(pixels, rng))
    clean, other = lesson.ask_pixels(torch.cat([pixels, noisy])).chunk(2)
    loss, n_right = lesson.judge(clean)
    return loss + recipe.weight * cross_entropy(clean, other), n_right


def cross_entropy(clean: Any, noisy: Any) -> Any:
    """The mean cross-entropy of the noisy answers where the clean ones are the truth, both logits (N, K)."""
    return -(clean.softmax(dim=1) * noisy.log_softmax(dim=1)).sum(dim=1).mean()


stability = Objective(of, weight=0.05, eps=0.05 * LEVELS)
