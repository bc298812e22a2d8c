"""Corrupted CIFAR on disk: one array per corruption, five severities of the same test set one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from oodometer.core.dataset import Dataset
from oodometer.core.errors import DataError
from oodometer.core.labels import LabelSpace
from oodometer.data import addresses
from oodometer.data.kinds.arrays import CountedRows, open_rows, read_array
from oodometer.data.labels import ids_of_positions
from oodometer.data.layouts.small_arrays import class_numbers
from oodometer.data.source import ArraySource

SEVERITIES = 5
_LABELS = "labels.npy"


@dataclass(frozen=True)
class JoinedRows:
    """The rows of several files of equal length as one; each row is read from its file when it is asked for."""

    parts: tuple[CountedRows, ...]

    @property
    def n(self) -> int:
        """The number of images."""
        return sum(part.n for part in self.parts)

    def read(self, index: int) -> np.ndarray:
        """The pixels of the row."""
        part, row = divmod(index, self.parts[0].n)
        return self.parts[part].read(row)

    def name(self, index: int) -> str:
        """The file and the row."""
        part, row = divmod(index, self.parts[0].n)
        return self.parts[part].name(row)

    def version(self, index: int) -> str | None:
        """The version of the file."""
        part, row = divmod(index, self.parts[0].n)
        return self.parts[part].version(row)


def open_corrupted(address: str, *, space: LabelSpace, name: str) -> Dataset:
    """All corrupted images; ids are CORRUPTION/SEVERITY/POSITION, the position being that in the test set."""
    files = [one.path for one in addresses.list_files(address) if one.path.endswith(".npy") and "/" not in one.path]
    names = [one[: -len(".npy")] for one in files if one != _LABELS]
    if not names or _LABELS not in files:
        found = ", ".join(files[:3]) or "no arrays"
        raise DataError(f"{address}: expected CORRUPTION.npy for each corruption and {_LABELS}; found {found}")
    labels = _labels_of(addresses.join(address, _LABELS), space)
    parts = tuple(_rows_of(addresses.join(address, f"{one}.npy"), len(labels)) for one in names)
    n = len(labels) // SEVERITIES
    positions = ids_of_positions(n)
    return Dataset(
        name=name,
        ids=_ids(names, positions),
        labels=np.tile(labels, len(names)),
        space=space,
        source=ArraySource(JoinedRows(parts)),
        rows=np.arange(len(names) * len(labels)),
        columns={
            "corruption": np.repeat(np.array(names), len(labels)),
            "severity": np.tile(np.repeat(np.arange(1, SEVERITIES + 1), n), len(names)),
        },
    )


def _ids(names: Sequence[str], positions: Sequence[str]) -> tuple[str, ...]:
    severities = range(1, SEVERITIES + 1)
    return tuple(f"{one}/{severity}/{position}" for one in names for severity in severities for position in positions)


def _labels_of(path: str, space: LabelSpace) -> np.ndarray:
    """The labels of the five severities, which must be five times the same."""
    labels = class_numbers(read_array(path), space, where=path)
    if (
        not len(labels)
        or len(labels) % SEVERITIES
        or (labels.reshape(SEVERITIES, -1) != labels[: len(labels) // 5]).any()
    ):
        raise DataError(f"{path}: its {len(labels):,} labels are not five times those of one test set")
    return labels


def _rows_of(path: str, n: int) -> CountedRows:
    rows = open_rows(path)
    if rows.n != n:
        raise DataError(f"{path}: {rows.n:,} images, but {_LABELS} has {n:,} labels; is it of another release?")
    return rows
