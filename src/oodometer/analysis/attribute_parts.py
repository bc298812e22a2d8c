"""The parts of a published attribute shift, each a shift of its own: the eight of DeepFashion Remixed."""

from __future__ import annotations

from collections.abc import Sequence

from oodometer.analysis.measured_shifts import measured_shifts
from oodometer.catalogue.names import find_shift
from oodometer.metrics.average_precision import DFR_SHIFTS
from oodometer.store.index import Index

ORDER: dict[str, Sequence[str]] = {
    "dfr": DFR_SHIFTS,
    "svsf": ("camera_old", "year_2017", "year_2018", "country_france"),
}
"""As tables 3 and 2 of the many-faces paper (Hendrycks et al. 2021) have them."""


def whole_of(name: str) -> str | None:
    """The attribute shift that a name is a part of.

    >>> whole_of("dfr/size_small"), whole_of("imagenet-c/fog/3"), whole_of("dfr")
    ('dfr', None, None)
    """
    entry = find_shift(name)
    return entry.of if entry and entry.kind == "attribute" and entry.is_part else None


def parts_of(index: Index, name: str) -> tuple[str, ...]:
    """The shifts of a store that are parts of the attribute shift of that name, in its paper's order; or none."""
    entry = find_shift(name)
    if entry is None or entry.kind != "attribute" or entry.is_part:
        return ()
    parts = {
        one.name: one.entry.name for one in measured_shifts(index).shifts if one.entry and one.entry.of == entry.of
    }
    order = [f"{entry.of}/{part}" for part in ORDER.get(entry.of, ())]
    return tuple(
        sorted(parts, key=lambda part: (order.index(parts[part]) if parts[part] in order else len(order), part))
    )
