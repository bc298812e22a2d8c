"""The loss against the labels: of the augmented images, or of what an adversary makes of them."""

from __future__ import annotations

from typing import Any

from oodometer.train.lesson import Lesson
from oodometer.train.objectives.registry import Objective


def of(lesson: Lesson) -> tuple[Any, int]:
    """The loss against the labels; with an adversary, that of the perturbed images alone."""
    images = lesson.augmented()
    if lesson.recipe.adversarial is None:
        return lesson.judge(lesson.ask(images))
    return lesson.judge(lesson.ask_pixels(lesson.perturbed(images)))


plain = Objective(of)
