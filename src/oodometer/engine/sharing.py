"""Which data sets look at the same images: those are scanned, decoded and asked about once for all of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from oodometer.core.dataset import Dataset


def groups_of_shared_images(datasets: Sequence[Dataset]) -> list[list[Dataset]]:
    """The data sets, those together that have images of one source in common; each is in exactly one group.

    Parts of one source without a common image stay apart: there would be nothing to share, only smaller files.
    """
    of_source: dict[int, list[Dataset]] = {}
    alone: list[list[Dataset]] = []
    for dataset in datasets:
        if in_order(dataset):
            of_source.setdefault(id(dataset.source), []).append(dataset)
        else:
            alone.append([dataset])
    return [group for some in of_source.values() for group in _overlapping(some)] + alone


def in_order(dataset: Dataset) -> bool:
    """Whether its images come in the order of the source, each once."""
    return bool((np.diff(dataset.rows) > 0).all())


def _overlapping(datasets: Sequence[Dataset]) -> list[list[Dataset]]:
    # Whose each row of the source is; where a data set finds rows of others, their groups become its own.
    owners = np.full(max(int(one.rows[-1]) for one in datasets) + 1, -1)
    for number, dataset in enumerate(datasets):
        for other in np.unique(owners[dataset.rows]):
            if other >= 0:
                owners[owners == other] = number
        owners[dataset.rows] = number
    groups: dict[int, list[Dataset]] = {}
    for dataset in datasets:
        groups.setdefault(int(owners[dataset.rows[0]]), []).append(dataset)
    return list(groups.values())
