"""A pair of conditions as the shift that an entry of the catalogue describes."""

from __future__ import annotations

from oodometer.catalogue.names import ShiftEntry
from oodometer.core.condition import Condition, Family, Shift


def pair_of(entry: ShiftEntry, standard: Condition, shifted: Condition, family: Family | None = None) -> Shift:
    """The shift, named after its shifted side, with the kind and the measure of the entry.

    Args:
        family: Where it is a member of one.
    """
    assert entry.kind != "clean"  # which is no shift
    return Shift(shifted.name, entry.kind, standard, shifted, family=family, measure=entry.measure)
