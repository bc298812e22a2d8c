"""The fast gradient (sign) method (Goodfellow et al. 2015): one step from the image to the edge of the ball."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from oodometer.attacks.ascent import Ascent, climb
from oodometer.attacks.ball import Ball
from oodometer.attacks.batch import Victims, attack_all
from oodometer.attacks.masking import masking_lines
from oodometer.core.attack import Attack, Attacked, Target


@dataclass(frozen=True)
class FGSM:
    """Takes one step of the whole radius.

    Args:
        seed: Of the noise that the outcome is compared with.
    """

    ball: Ball
    seed: int = 0

    def __call__(self, target: Target, images: np.ndarray, labels: np.ndarray, ids: Sequence[str]) -> Attacked:
        """The answers under attack."""
        return attack_all(target, images, labels, ids, self._step)

    def _step(self, victims: Victims) -> tuple[Any, Counter[str]]:
        return climb(victims, victims.images, Ascent(self.ball, steps=1, step=1.0, seed=self.seed))


def fgsm(name: str, apply: FGSM) -> Attack:
    """The attack of that name."""
    return Attack(name, {"attack": "fgsm", **asdict(apply.ball)}, apply, masking_lines)
