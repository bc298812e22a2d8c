"""Shifts shown in the way of the 204-model testbed (Taori et al. 2020), where it is another than ours.

There ImageNet-C and Stylized ImageNet from disk go through each model's resize and crop, corruptions in memory are made
at each model's own size, and PGD begins at random. What has another pixel or another start has another name.
"""

from __future__ import annotations

from dataclasses import replace

from oodometer.attacks.pgd import PGD
from oodometer.attacks.spec import parse_attack
from oodometer.catalogue.marks import is_marked, marked
from oodometer.core.attack import Attack
from oodometer.core.condition import Condition, Shift, Transform
from oodometer.shifts.imagenet_c import AS_IT_IS, CANONICAL, CROPPED, GREYSCALE, Corrupting, corrupting


def as_testbed(asked: Condition | Shift) -> Condition | Shift:
    """The same in the testbed's way, under a name that says so; as it is where both ways are the same."""
    if isinstance(asked, Condition):
        return _condition(asked)
    shifted = _condition(asked.shifted)
    if shifted is asked.shifted:
        return asked
    family = asked.family and replace(asked.family, name=marked(asked.family.name))
    return replace(asked, name=marked(asked.name), shifted=shifted, family=family)


def _condition(condition: Condition) -> Condition:
    transform = condition.transform and _transform(condition.transform)
    attack = condition.attack and _attack(condition.attack)
    if (transform, attack) == (condition.transform, condition.attack) or is_marked(condition.name):
        return condition
    return replace(condition, name=marked(condition.name), transform=transform, attack=attack)


def _transform(transform: Transform) -> Transform:
    """At each model's own view, where it is one that the testbed has; of small images it has none."""
    if transform.view not in (CANONICAL, CROPPED):
        return transform
    if isinstance(made := transform.apply, Corrupting):
        return corrupting(made.name, made.severity, quality=made.quality, view=None, seed=made.seed)
    return replace(transform, view=None) if transform.name in (AS_IT_IS, GREYSCALE) else transform


def _attack(attack: Attack) -> Attack:
    """From a random start, where it is PGD."""
    if not isinstance(attack.apply, PGD) or attack.apply.start == "random":
        return attack
    return parse_attack(f"{attack.name},start=random", seed=attack.apply.seed)
