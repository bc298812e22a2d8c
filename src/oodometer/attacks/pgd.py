"""Projected gradient descent (Madry et al. 2018), untargeted, on the cross-entropy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

import numpy as np

from oodometer.attacks.ascent import Ascent, climb
from oodometer.attacks.ball import Ball, Norm
from oodometer.attacks.batch import Victims, attack_all
from oodometer.attacks.masking import masking_lines
from oodometer.core.attack import Attack, Attacked, Target

Start = Literal["zero", "random"]
STARTS: tuple[Start, ...] = get_args(Start)
STEPS = 100
# Of the 204-model testbed: L∞ 3 % of the budget; L2 0.01 of 0.1 and 0.05 of 0.5. There the L2 budget grows with the
# size of the image and the step does not; here both do, so that as many steps reach as far at every size. Its attack
# flees from the network's own answer, clips to no range of pixels and takes the last iterate: some wrong answers turn
# right, and its published accuracies are higher than these, which are about the true label.
STEP: Mapping[Norm, float] = {"linf": 0.03, "l2": 0.1}
REACH = 3
"""How many radii all steps together should span, as 100 steps of 3 % do."""


def default_step(norm: Norm, steps: int) -> float:
    """The length of a step, as a part of the radius: the testbed's, and longer where few steps have to reach as far.

    >>> default_step("linf", 100), default_step("l2", 100), default_step("linf", 20), default_step("linf", 1)
    (0.03, 0.1, 0.15, 1.0)
    """
    return max(STEP[norm], min(1.0, REACH / steps))


@dataclass(frozen=True)
class PGD:
    """Climbs the loss within a ball.

    Args:
        steps: At most so many; an image that is fooled takes no further one.
        step: The length of a step, as a part of the ball's radius.
        start: From the image itself, or from a uniform draw out of the ball.
        seed: Of the draws.
    """

    ball: Ball
    steps: int
    step: float
    start: Start = "zero"
    seed: int = 0

    def __call__(self, target: Target, images: np.ndarray, labels: np.ndarray, ids: Sequence[str]) -> Attacked:
        """The answers under attack."""
        return attack_all(target, images, labels, ids, self._climb)

    def _climb(self, victims: Victims) -> tuple[Any, Counter[str]]:
        start = victims.images
        if self.start == "random":
            start = self.ball.uniform(start, victims.ids, what="pgd", seed=self.seed)
        return climb(victims, start, Ascent(self.ball, self.steps, self.step, self.seed))


def pgd(name: str, apply: PGD) -> Attack:
    """The attack of that name."""
    parameters = {**asdict(apply), **asdict(apply.ball)}
    del parameters["ball"]
    if apply.start == "zero":  # nothing is drawn that the answers depend on
        del parameters["seed"]
    return Attack(name, {"attack": "pgd", **parameters}, apply, masking_lines)
