"""Shifts out of corrupted images on disk: each corruption at each severity, against the clean images."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from oodometer.core.condition import Condition, Shift
from oodometer.core.dataset import Dataset
from oodometer.core.preprocessing import Geometry
from oodometer.shifts.imagenet_c import as_it_is, part_of
from oodometer.shifts.sources import Sources


def corrupted_on_disk(sources: Sources, *, clean: str, corrupted: str, view: Geometry) -> list[Shift]:
    """A shift ``CORRUPTED:disk/NAME/SEVERITY`` for each part of a corrupted set.

    Args:
        clean: The published set that it was made from.
        view: The pixels of the files.
    """
    standard = sources.clean_of(clean)
    kept = as_it_is(view)
    return [
        Shift(name, "corruption", standard, Condition(name, sources.fewer(part), transform=kept))
        for name, part in _parts(sources.whole(corrupted), f"{corrupted}:disk")
    ]


def _parts(dataset: Dataset, family: str) -> Iterator[tuple[str, Dataset]]:
    """The images of each corruption and severity, which lie together, under the ids of the clean ones."""
    names, severities = dataset.columns["corruption"], dataset.columns["severity"]
    changes = np.flatnonzero((names[1:] != names[:-1]) | (severities[1:] != severities[:-1])) + 1
    for rows in np.split(np.arange(len(dataset)), changes):
        part = f"{names[rows[0]]}/{severities[rows[0]]}"
        yield f"{family}/{part}", part_of(dataset, rows, part)
