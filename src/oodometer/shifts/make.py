"""From an entry of the catalogue to its conditions: the function that the entry names, called once for all parts."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence

from oodometer.catalogue.names import ShiftEntry, shift_named
from oodometer.core.condition import Condition, Family, Shift
from oodometer.core.errors import DataError, UsageError, did_you_mean
from oodometer.shifts.sources import Sources

Make = Callable[[Sources, ShiftEntry], Sequence[Condition | Shift]]
"""All shifts of an entry: one, or its members."""

MAKERS = "oodometer.shifts"


def made(entry: ShiftEntry, sources: Sources) -> list[Condition | Shift]:
    """What an entry stands for: everything of that name, or the part of it that was asked for."""
    everything = made_whole(entry, sources)
    wanted = [one for one in everything if is_of(one, entry)]
    if not wanted and entry.family is not None and len(entry.sets) > 1:
        part = f"{entry.family.corruption}/{entry.family.severity}"
        raise DataError(f"{entry.name}: {entry.sets[-1]} on disk has no {part}; are all its archives unpacked?")
    if not wanted:
        hint = did_you_mean(entry.name, [one.name for one in everything])
        raise UsageError(f"no condition named {entry.name!r}{hint}")
    return wanted


def made_whole(entry: ShiftEntry, sources: Sources) -> Sequence[Condition | Shift]:
    """All members of what an entry is a part of, made once: so its parts share their conditions."""
    whole = shift_named(entry.of) if entry.is_part else entry
    module, _, function = whole.make.partition(":")
    make: Make = getattr(importlib.import_module(f"{MAKERS}.{module}"), function)
    return sources.once(f"everything of {whole.name}", lambda: make(sources, whole))


def is_of(one: Condition | Shift, entry: ShiftEntry) -> bool:
    """Whether a condition or shift is a part of what was asked for."""
    if entry.family is not None:
        return isinstance(one, Shift) and one.family == entry.family
    return not entry.is_part or one.name == entry.name or one.name.startswith(f"{entry.name}/")


def pair_of(entry: ShiftEntry, standard: Condition, shifted: Condition, family: Family | None = None) -> Shift:
    """The shift, named after its shifted side, with the kind and the measure of the entry.

    Args:
        family: Where it is a member of one.
    """
    assert entry.kind != "clean"  # which is no shift
    return Shift(shifted.name, entry.kind, standard, shifted, family=family, measure=entry.measure)


def clean_images(sources: Sources, entry: ShiftEntry) -> list[Condition]:  # noqa: ARG001 - there is one only
    """The given images as they are."""
    return [sources.clean()]


def clean_side(sources: Sources, entry: ShiftEntry) -> list[Condition]:
    """What the shift of the entry is compared with."""
    shifts = made_whole(shift_named(entry.declared.side_of), sources)
    return [shift.standard for shift in shifts if isinstance(shift, Shift)]
