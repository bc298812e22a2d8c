"""A run whose size is planned: as many images as the wished interval needs, and with a control fewer."""

from __future__ import annotations

import numpy as np

from oodometer.analysis.controlled import control_cells, controlled
from oodometer.core.condition import Condition
from oodometer.core.sample import Sample
from oodometer.sampling.aim import Aim
from oodometer.sampling.asking import Asking
from oodometer.sampling.plan import PILOT, images_needed
from oodometer.sampling.targets import Target
from oodometer.stats.control_variate import residual_variances
from oodometer.stats.images_for_width import images_for_sum
from oodometer.store.index import look

SURPLUS = 1.05
"""The pilot may have been lucky: so many times the images that it suggests."""


def planned_conditions(asking: Asking, target: Target) -> list[Condition]:
    """The conditions of a target on as many images as its aim needs."""
    n = min(images_needed(target, asking.aim), target.of)
    if asking.aim.control is not None and len(target.conditions) > 1:
        n = images_with_control(asking, target)
    return sampled_within(target, n, asking.aim)


def sampled_within(target: Target, n: int, aim: Aim) -> list[Condition]:
    """The conditions of a target on as many images as were planned."""
    sample = Sample(target.of, "", aim.seed, "within", ((n, aim.width),), len(target.conditions))
    return target.sampled(n, sample)


def images_with_control(asking: Asking, target: Target) -> int:
    """How many images of each condition are needed beside the control's answers to all of them.

    A pilot asks about a few of each. What the models' answers differ from the control's is all that is uncertain.
    """
    aim = asking.aim
    assert aim.control is not None
    without = min(images_needed(target, aim), target.of)
    pilot = min(PILOT, without)
    done = asking.about(sampled_within(target, pilot, aim))
    index = look(asking.store)
    needed = pilot
    for model in {cell.model.key: cell.model for cell in done.cells}.values():
        cells = [cell for cell in done.cells if cell.model.key == model.key]
        beside = controlled(index, cells, control_cells(index, aim.control, cells))
        variances = residual_variances(beside.kinds)
        # Of so few images of each condition only the mean variance is known well.
        mean = np.full(len(cells), float(np.mean(variances)))
        needed = max(needed, images_for_sum(target.number.weights, SURPLUS * mean, aim.width, level=aim.level))
    return min(needed, without)
