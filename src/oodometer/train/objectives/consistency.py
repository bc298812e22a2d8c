"""AugMix's objective (Hendrycks et al. 2020): three views of an image are to be answered alike."""

from __future__ import annotations

from typing import Any

import numpy as np

from oodometer.train.lesson import Lesson
from oodometer.train.objectives.registry import Objective

N_COPIES = 2
LEAST = 1e-7
"""Probabilities of the mean answer below this count as this, lest their logarithm be infinite."""


def of(lesson: Lesson) -> tuple[Any, int]:
    """The loss of the plain images, plus the weighted Jensen-Shannon divergence among them and two augmented copies.

    All three pass the network together, so that batch normalisation sees them as one batch.
    """
    views = lesson.plain_and_copies(N_COPIES)
    logits = lesson.ask(np.concatenate(views))
    answers = logits.chunk(len(views))
    loss, n_right = lesson.judge(answers[0])
    return loss + lesson.recipe.weight * jensen_shannon(answers), n_right


def jensen_shannon(several_logits: Any) -> Any:
    """The mean over images of the divergence among the answers to them, each (N, K): 0 where all answer alike."""
    import torch

    logs = [logits.log_softmax(dim=1) for logits in several_logits]
    mean = torch.stack([one.exp() for one in logs]).mean(dim=0).clamp(min=LEAST).log()
    each = [(one.exp() * (one - mean)).sum(dim=1).mean() for one in logs]
    return torch.stack(each).mean()


consistency = Objective(of, weight=12.0, compares_copies=True)
