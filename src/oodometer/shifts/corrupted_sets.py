"""Shifts out of corrupted images on disk: each corruption at each severity, against the clean images."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from oodometer.core.condition import Condition, Shift, Transform
from oodometer.core.dataset import Dataset
from oodometer.core.view import View
from oodometer.shifts.sources import Sources


def corrupted_on_disk(sources: Sources, *, clean: str, corrupted: str, view: View) -> list[Shift]:
    """A shift ``CORRUPTED:disk/NAME/SEVERITY`` for each part of a corrupted set.

    Args:
        clean: The published set that it was made from.
        view: The pixels of the files: they are shown as they are, and to a model of another size after one resize.
    """
    standard = sources.clean_of(clean)
    kept = Transform("as it is", {}, _as_it_is, view=view)
    return [
        Shift(name, "corruption", standard, Condition(name, sources.fewer(part), transform=kept))
        for name, part in _parts(sources.whole(corrupted), f"{corrupted}:disk")
    ]


def _parts(dataset: Dataset, family: str) -> Iterator[tuple[str, Dataset]]:
    """The images of each corruption and severity, which lie together, under the ids of the clean ones."""
    names, severities = dataset.columns["corruption"], dataset.columns["severity"]
    changes = np.flatnonzero((names[1:] != names[:-1]) | (severities[1:] != severities[:-1])) + 1
    for rows in np.split(np.arange(len(dataset)), changes):
        name, severity = names[rows[0]], severities[rows[0]]
        part = dataset.take(rows, name=f"{dataset.name}/{name}/{severity}")
        yield f"{family}/{name}/{severity}", replace(part, ids=tuple(one.split("/", 2)[2] for one in part.ids))


def _as_it_is(image: np.ndarray, image_id: str) -> np.ndarray:  # noqa: ARG001 - nothing is drawn
    return image
