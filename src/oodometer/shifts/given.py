"""Clean sides by name: the images as they are, and what some shift is compared with."""

from __future__ import annotations

from oodometer.catalogue.names import ShiftEntry, shift_named
from oodometer.core.condition import Condition, Shift
from oodometer.shifts.make import made_whole
from oodometer.shifts.sources import Sources


def clean_images(sources: Sources, entry: ShiftEntry) -> list[Condition]:  # noqa: ARG001 - there is one only
    """The given images as they are."""
    return [sources.clean()]


def clean_side(sources: Sources, entry: ShiftEntry) -> list[Condition]:
    """What the shift of the entry is compared with."""
    shifts = made_whole(shift_named(entry.declared.side_of), sources)
    return [shift.standard for shift in shifts if isinstance(shift, Shift)]
