"""The numbers that a run is to know: the accuracy under a condition, or what sums up a family of corruptions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from oodometer.analysis.family_number import FamilyNumber, number_of_family
from oodometer.core.condition import Condition, Family, Shift
from oodometer.core.errors import UsageError
from oodometer.core.sample import Sample
from oodometer.data.random_order import digest_of_whole, first_of_order, random_order
from oodometer.engine.answerable import same_condition

ONE_ORDER = "images"
"""The order of all conditions that are measured for themselves: they share images, so that they can be compared."""


@dataclass(frozen=True)
class Target:
    """A number, and the conditions that it needs: each contributes as many images.

    Args:
        name: A condition, or a family.
        metric: What `score` calls the number.
        conditions: On whole data sets.
        orders: In which each condition's images come; of a family each has one of its own, so that errors average out.
        positions: The images of each condition in that order.
        wholes: The digest of each condition's data.
        number: What each condition's error weighs.
    """

    name: str
    metric: str
    conditions: tuple[Condition, ...]
    orders: tuple[str, ...]
    positions: tuple[np.ndarray, ...]
    wholes: tuple[str, ...]
    number: FamilyNumber

    @property
    def of(self) -> int:
        """How many images there are: of the smallest data set."""
        return min(len(condition.dataset) for condition in self.conditions)

    def sampled(self, n: int, sample: Sample) -> list[Condition]:
        """The conditions on their first images; on all of them as they are, where so many are asked for."""
        if n >= self.of:
            return list(self.conditions)
        found = []
        for at, condition in enumerate(self.conditions):
            own = replace(sample, of=len(condition.dataset), order=self.orders[at], whole=self.wholes[at])
            found.append(replace(condition, dataset=first_of_order(condition.dataset, self.positions[at], n, own)))
        return found


def targets_of(asked: Sequence[Condition | Shift], *, seed: int) -> list[Target]:
    """What a run over these is to know: a number for each family, and the accuracy on everything else."""
    families: dict[tuple[str, int], list[Shift]] = {}
    alone: list[Condition] = []
    for one in asked:
        if isinstance(one, Condition):
            _add(alone, one)
            continue
        _add(alone, one.standard)
        if one.family is None:
            _add(alone, one.shifted)
        else:
            families.setdefault((one.family.name, id(one.standard)), []).append(one)
    for shifts in [some for some in families.values() if len(some) == 1]:
        _add(alone, shifts[0].shifted)
    for condition in alone:
        _check(condition)
    orders = _Orders(seed)
    targets = [_of_one(condition, orders) for condition in alone]
    return targets + [_of_family(shifts, orders) for shifts in families.values() if len(shifts) > 1]


def _add(conditions: list[Condition], one: Condition) -> None:
    if not any(same_condition(one, other) for other in conditions):
        conditions.append(one)


def _check(condition: Condition) -> None:
    """An error where an accuracy over images drawn by themselves is not what counts."""
    if condition.unit is not None:
        raise UsageError(f"{condition.name}: its images are judged in groups; run it without --within and --until")
    if (condition.dataset.labels < 0).any():
        raise UsageError(f"{condition.name}: some of its images have no class; run it without --within and --until")


class _Orders:
    """Random orders of data sets, each made once."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._known: dict[tuple[int, str], np.ndarray] = {}
        self._wholes: dict[int, str] = {}

    def of(self, condition: Condition, order: str) -> np.ndarray:
        """The positions of the condition's images in an order."""
        key = id(condition.dataset), order
        if key not in self._known:
            self._known[key] = random_order(condition.dataset, order, seed=self._seed)
        return self._known[key]

    def whole(self, condition: Condition) -> str:
        """The digest of the condition's data."""
        key = id(condition.dataset)
        if key not in self._wholes:
            self._wholes[key] = digest_of_whole(condition.dataset)
        return self._wholes[key]


def _of_one(condition: Condition, orders: _Orders) -> Target:
    positions = orders.of(condition, ONE_ORDER)
    number = FamilyNumber("top-1", np.ones(1))
    return Target(
        condition.name, number.metric, (condition,), (ONE_ORDER,), (positions,), (orders.whole(condition),), number
    )


def _of_family(shifts: Sequence[Shift], orders: _Orders) -> Target:
    members = [shift.family for shift in shifts if shift.family is not None]
    conditions = tuple(shift.shifted for shift in shifts)
    for condition in conditions:
        _check(condition)
    names = tuple(condition.name for condition in conditions)
    positions = tuple(orders.of(condition, name) for condition, name in zip(conditions, names, strict=True))
    number = number_of_family(members, len(conditions[0].space))
    wholes = tuple(orders.whole(condition) for condition in conditions)
    return Target(_called(members), number.metric, conditions, names, positions, wholes, number)


def _called(members: Sequence[Family]) -> str:
    """The family, or its only corruption.

    >>> _called([Family("imagenet-c", "fog", 1), Family("imagenet-c", "fog", 2)])
    'imagenet-c/fog'
    """
    corruptions = {member.corruption for member in members}
    return f"{members[0].name}/{members[0].corruption}" if len(corruptions) == 1 else members[0].name
