"""Shifts out of corrupted images on disk: each corruption at each severity, against the clean images."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from oodometer.catalogue.names import ShiftEntry
from oodometer.catalogue.sets import set_entries
from oodometer.core.condition import Condition, Family, Shift
from oodometer.core.dataset import Dataset
from oodometer.core.preprocessing import Geometry
from oodometer.shifts.imagenet_c import as_it_is, part_of
from oodometer.shifts.make import pair_of
from oodometer.shifts.sources import Sources


def on_disk(sources: Sources, entry: ShiftEntry) -> list[Shift]:
    """A shift for each corruption at each severity of a set that was made of another."""
    clean, corrupted = entry.sets
    width, height = set_entries()[corrupted].size or (0, 0)
    standard, kept = sources.clean_of(clean), as_it_is(Geometry(height, width))
    found = []
    for family, part in _parts(sources.whole(corrupted), entry.of):
        name = entry.declared.member.format(corruption=family.corruption, severity=family.severity)
        found.append(pair_of(entry, standard, Condition(name, sources.fewer(part), transform=kept), family))
    return found


def _parts(dataset: Dataset, family: str) -> Iterator[tuple[Family, Dataset]]:
    """The images of each corruption and severity, which lie together, under the ids of the clean ones."""
    names, severities = dataset.columns["corruption"], dataset.columns["severity"]
    changes = np.flatnonzero((names[1:] != names[:-1]) | (severities[1:] != severities[:-1])) + 1
    for rows in np.split(np.arange(len(dataset)), changes):
        member = Family(family, str(names[rows[0]]), int(severities[rows[0]]))
        yield member, part_of(dataset, rows, f"{member.corruption}/{member.severity}")
