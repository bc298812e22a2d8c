"""Adversarial shifts: images as they are, and the same images under attack."""

from __future__ import annotations

from oodometer.attacks.spec import parse_attack
from oodometer.catalogue.names import ShiftEntry
from oodometer.core.condition import Condition, Shift
from oodometer.shifts.sources import Sources

ATTACKS = ("pgd-linf-0.5", "pgd-linf-2", "pgd-l2-0.1", "pgd-l2-0.5", "fgsm-linf-2", "noise-linf-2")
"""Examples of names, for hints and lists; any budget may be asked for. The first four are the testbed's."""


def attacked(sources: Sources, entry: ShiftEntry) -> list[Shift]:
    """The given images as they are, and under the attack that the entry is named after."""
    return [attack_shift(entry.name, sources)]


def attack_shift(spec: str, sources: Sources) -> Shift:
    """The given images as they are, and under the attack of that name."""
    attack = parse_attack(spec, seed=sources.seed)
    standard = sources.clean()
    return Shift(attack.name, "adversarial", standard, Condition(attack.name, standard.dataset, attack=attack))
