"""Kinds of broad classes that ImageNet-1k has, against kinds that only ImageNet-22K has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from oodometer.catalogue.names import ShiftEntry
from oodometer.core.condition import Condition, Shift
from oodometer.core.dataset import Dataset
from oodometer.core.errors import DataError
from oodometer.core.labels import align
from oodometer.data.imagenet import imagenet
from oodometer.data.layouts.imagenet_22k import broad_classes, open_by_paper, subtypes_at
from oodometer.shifts.make import pair_of
from oodometer.shifts.sources import IMAGENET, Sources

SET = "imagenet-22k"


def imagenet_22k_subtypes(sources: Sources, entry: ShiftEntry) -> list[Shift]:
    """ImageNet validation images of the seen subtypes, against images of the unseen ones, over 25 broad classes.

    It is about models that answer the broad classes and were trained on the seen subtypes, those of ImageNet-1k.
    """
    place = _place(sources)
    return [_pair(sources, entry, subtypes_at(place).seen, sources.open(SET))]


def imagenet_22k_subtypes_of_paper(sources: Sources, entry: ShiftEntry) -> list[Shift]:
    """The same by the rule of the paper: kinds that have others below them, and those of two broad classes, are in."""
    place = _place(sources)
    unseen = sources.fewer(open_by_paper(place, name=f"{SET}:paper"))
    return [_pair(sources, entry, subtypes_at(place, by_paper=True).seen, unseen)]


def _place(sources: Sources) -> str:
    sources.whole(SET)  # where it is not there or not whole, this says so
    place = sources.root.place_of(SET) if sources.root else None
    if place is None:
        raise DataError(f"{SET}: its folders are not below a data root")
    return place


def _pair(sources: Sources, entry: ShiftEntry, broad_of: Mapping[str, int], unseen: Dataset) -> Shift:
    seen = _by_broad_class(sources.whole(IMAGENET), broad_of, name=entry.clean)
    return pair_of(entry, Condition(entry.clean, sources.fewer(seen)), Condition(entry.name, unseen))


def _by_broad_class(val: Dataset, broad_of: Mapping[str, int], *, name: str) -> Dataset:
    """The images of these subtypes, labelled by broad class."""
    labels = align(val.labels, val.space, imagenet(), what="ImageNet")
    table = np.full(len(imagenet()) + 1, -1, dtype=np.int64)  # the last entry answers for images without a label
    for index, one in enumerate(imagenet().classes):
        table[index] = broad_of.get(one, -1)
    broad = table[labels]
    rows = np.flatnonzero(broad >= 0)
    if not len(rows):
        raise DataError(f"{val.name}: no images of the subtypes of the 25 broad classes")
    part = val.take(rows, name=name)
    column = np.array(imagenet().classes)[labels[rows]]
    return replace(part, labels=broad[rows], space=broad_classes(), columns={**part.columns, "subtype": column})
