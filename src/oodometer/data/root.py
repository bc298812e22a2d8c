"""A root of published data sets: one folder, each set below it in the layout in which it is distributed."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

import numpy as np

from oodometer.core.dataset import Dataset
from oodometer.core.errors import DataError, UsageError
from oodometer.data import addresses
from oodometer.data.find_sets import not_unpacked, place_below
from oodometer.data.layouts.known_set import KnownSet, known_sets

VARIABLE = "OODOMETER_DATA"


@dataclass(frozen=True)
class DataRoot:
    """A folder (or fsspec address) of data sets; nothing is downloaded, and no image is read before it is asked for.

    Args:
        partial: Use sets that do not have as many images or classes as published; otherwise that is an error.
    """

    address: str
    partial: bool = False
    _opened: dict[str, Dataset] = field(default_factory=dict, repr=False, compare=False)
    _places: dict[str, str | None] = field(default_factory=dict, repr=False, compare=False)

    def place_of(self, name: str) -> str | None:
        """Where the set of that name lies; None where it is not there, or not unpacked."""
        if name not in self._places:
            self._places[name] = place_below(self.address, known_sets.get(name))
        return self._places[name]

    def has(self, name: str) -> bool:
        """Whether the set of that name is there."""
        return self.place_of(name) is not None

    def open(self, name: str) -> Dataset:
        """The set of that name; each is opened once."""
        if name not in self._opened:
            self._opened[name] = self._open(known_sets.get(name))
        return self._opened[name]

    def _open(self, known: KnownSet) -> Dataset:
        place = self.place_of(known.name)
        if place is None:
            raise DataError(missing_line(known, self.address))
        dataset = _opened(known, place)
        problem = difference(dataset, known)
        if problem and not self.partial:
            raise DataError(
                f"{place}: {problem}; is it unpacked whole? ('oodometer check {place}'; --partial uses it as it is)"
            )
        return dataset


def _opened(known: KnownSet, place: str) -> Dataset:
    """The set; an error about its files says what was expected."""
    try:
        return known.open(place, name=known.name)
    except DataError as error:
        if "expected" in str(error):
            raise
        raise DataError(f"{error}; of {known.name} is expected: {known.layout}") from error


def missing_line(known: KnownSet, root: str) -> str:
    """What to do about a set that is not there."""
    packed = not_unpacked(root, known)
    if packed:
        return f"{known.name}: {packed}; expected {known.places[0]} ({known.layout})"
    return f"{known.name} is not in {root}: expected {known.places[0]} ({known.layout}); get it from {known.page}"


def difference(dataset: Dataset, known: KnownSet) -> str:
    """In what the number of images or classes is not as published; empty where it is.

    Classes are counted by what occurs, of images that have labels.
    """
    found = []
    n = len(dataset) if known.unit is None else len(np.unique(dataset.columns[known.unit]))
    if known.n_images is not None and n != known.n_images:
        found.append(f"{n:,} {known.unit or 'image'}s instead of {known.n_images:,}")
    n_classes = len(np.unique(dataset.labels[dataset.labels >= 0]))
    if known.n_classes is not None and n_classes and n_classes != known.n_classes:
        found.append(f"{n_classes:,} classes instead of {known.n_classes:,}")
    return " and ".join(found)


def root_at(address: str | None, *, partial: bool = False) -> DataRoot | None:
    """The root that the user names, or that the environment variable ``OODOMETER_DATA`` does; None where neither."""
    named = address or os.environ.get(VARIABLE)
    if not named:
        return None
    if not addresses.is_folder(named):
        origin = "" if address else f" (from {VARIABLE})"
        wrong = "not a folder" if addresses.exists(named) else "no such folder"
        raise UsageError(f"{named}{origin}: {wrong}; it should hold the data sets, each in a folder of its own")
    return DataRoot(addresses.absolute(named), partial)
