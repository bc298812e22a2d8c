"""Which member of a family of corruptions a condition is: the store knows what was run, the catalogue names."""

from __future__ import annotations

from oodometer.catalogue.names import family_of
from oodometer.core.condition import Family
from oodometer.core.records import ConditionRecord
from oodometer.store.index import Index


def family_in(index: Index, condition: ConditionRecord) -> Family | None:
    """The member of a family that a condition is; imported answers say it by their name alone."""
    return index.families.get(condition.key) or family_of(condition.name)
