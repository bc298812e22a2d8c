"""The two sets that a study is about: the new images, and the original ones that they were made after."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from oodometer.build.testset.likeness import Pictures
from oodometer.core.dataset import Dataset
from oodometer.core.errors import DataError, UsageError
from oodometer.data.load import load_data
from oodometer.data.released import is_published, original_of, registration_in
from oodometer.data.root import root_at


@dataclass(frozen=True, eq=False)
class ImageSet:
    """Images.

    Args:
        name: What people call the set.
        ids: By which a store knows the images.
        classes: The name of the class of each.
        frequency: The share of annotators who said that it shows its class, (N,); NaN where nobody was asked.
        pictures: The images themselves, in the same order.
        data: The data set that they are of, where there is one: contents tell images of the same ids apart.
    """

    name: str
    ids: tuple[str, ...]
    classes: tuple[str, ...]
    frequency: np.ndarray
    pictures: Pictures
    data: Dataset | None = None

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def is_annotated(self) -> bool:
        """Whether annotators were asked about any of them."""
        return bool((~np.isnan(self.frequency)).any())


@dataclass(frozen=True, eq=False)
class Compared:
    """A new set, and the original; None where nobody knows it."""

    new: ImageSet
    original: ImageSet | None


def of_release(address: str, original: str | None = None) -> Compared:
    """The sets of a release, or of any data.

    Args:
        original: The address of the original set; by default as the release says. Of it, the classes of the release.
    """
    new = _of_data(load_data(address))
    data = load_data(original) if original else _original_of(address)
    if data is None:
        return Compared(new, None)
    old = _of_data(data)
    rows = np.flatnonzero(np.isin(np.array(old.classes), np.unique(new.classes)))
    if not len(rows):
        raise DataError(f"{data.name}: no image of the classes of {address}; do the names of classes agree?")
    return Compared(new, old if len(rows) == len(old) else _some(old, rows))


def _original_of(address: str) -> Dataset | None:
    """The original that a release names; None where it names none, or none that is there."""
    found = registration_in(address)
    root = root_at(None)
    if found is None or not (found.place or (root is not None and is_published(found.original))):
        return None
    return original_of(found, root)


def _of_data(data: Dataset) -> ImageSet:
    if (data.labels < 0).any():
        raise UsageError(f"{data.name}: an image of it has no label, so no answer about it is right or wrong")
    frequency = data.columns.get("frequency")
    return ImageSet(
        data.name,
        data.ids,
        tuple(data.space.classes[label] for label in data.labels.tolist()),
        np.full(len(data), np.nan) if frequency is None else _numbers(frequency),
        data,
        data,
    )


def _numbers(values: np.ndarray) -> np.ndarray:
    """Frequencies as a table has them; what is empty or no number is not known."""

    def number(value: Any) -> float:
        try:
            return float(value)
        except (TypeError, ValueError):
            return float("nan")

    return np.array([number(value) for value in values.tolist()])


def _some(images: ImageSet, rows: np.ndarray) -> ImageSet:
    assert images.data is not None
    return replace(
        images,
        ids=tuple(images.ids[row] for row in rows),
        classes=tuple(images.classes[row] for row in rows),
        frequency=images.frequency[rows],
        pictures=images.data.take(rows),
        data=images.data.take(rows),
    )
