"""Shifts and groups that installed packages bring, or a program registers: the one place where they enter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from oodometer.core.condition import Shift, ShiftKind
from oodometer.core.registry import Registry
from oodometer.shifts.sources import Sources


@dataclass(frozen=True)
class InstalledShift:
    """A shift that the catalogue does not have.

    Args:
        name: By which it is asked for.
        make: The pair of conditions, or several pairs, named ``NAME/...``.
        sets: The published sets that it is made of.
    """

    name: str
    kind: ShiftKind
    make: Callable[[Sources], Sequence[Shift]]
    sets: tuple[str, ...] = ()


installed_shifts: Registry[InstalledShift] = Registry("shift", {}, group="oodometer.shifts")
"""Every shift that was brought, by name."""

installed_groups: Registry[tuple[str, ...]] = Registry("group of shifts", {}, group="oodometer.shift_groups")
"""Names that stand for several, whoever brought these."""
