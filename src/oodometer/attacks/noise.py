"""Uniform noise in a ball: the attack that knows nothing of the model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from oodometer.attacks.answers import import_torch, wrong
from oodometer.attacks.ball import Ball
from oodometer.attacks.batch import Victims, attack_all
from oodometer.attacks.masking import masking_lines
from oodometer.core.attack import Attack, Attacked, Target


@dataclass(frozen=True)
class Noise:
    """Shows each image with one uniform draw out of the ball.

    Args:
        seed: Of the draws.
    """

    ball: Ball
    seed: int = 0

    def __call__(self, target: Target, images: np.ndarray, labels: np.ndarray, ids: Sequence[str]) -> Attacked:
        """The answers under noise."""
        return attack_all(target, images, labels, ids, self._draw)

    def _draw(self, victims: Victims) -> tuple[Any, Counter[str]]:
        torch = import_torch()
        noisy = self.ball.uniform(victims.images, victims.ids, what="noise", seed=self.seed)
        self.ball.around(victims.images).check(noisy)
        with torch.no_grad():
            logits = victims.answers(noisy).float()
        return logits, Counter(survived=int((~wrong(logits, victims.labels)).sum()))


def noise(name: str, apply: Noise) -> Attack:
    """The attack of that name."""
    # It looks for no signs and so is warned of nothing; the default of ``judge`` can't be sent to other processes.
    return Attack(name, {"attack": "noise", **asdict(apply.ball), "seed": apply.seed}, apply, masking_lines)
