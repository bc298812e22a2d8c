"""The images that a network is to learn from: any data, or the training part of a published set."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from oodometer.catalogue.sets import find_set
from oodometer.core.dataset import Dataset
from oodometer.core.errors import DataError, UsageError, did_you_mean
from oodometer.core.labels import LabelSpace
from oodometer.data import addresses
from oodometer.data.identify import claim_by_name
from oodometer.data.layouts.icons50 import icons_or_any
from oodometer.data.layouts.known_set import KnownSet, known_sets
from oodometer.data.layouts.training_part import NoTrainingPartError
from oodometer.data.load import default_name
from oodometer.data.root import root_at


def training_set(text: str, *, data_root: str | None = None, partial: bool = False) -> Dataset:
    """The images at an address, or those to train on of the published set of that name below a root.

    A folder that is named as a published set (``cifar-100-python``) is read as that; so is ICONS-50 under any name.

    Args:
        data_root: The folder of published sets; by default what ``OODOMETER_DATA`` names.
        partial: Use a set that is not whole.
    """
    root = root_at(data_root, partial=partial)
    if addresses.is_pattern(text) or addresses.exists(text):
        return _of_folder(text)
    entry = find_set(text)
    if entry is None or root is None:
        why = f"{text}: no such file or folder; check the path"
        raise DataError(why if entry is None else f"{why}, or say with --data-root where {entry.name} is")
    known, place = known_sets.get(entry.name), root.place_of(entry.name)
    if known.training is None or place is None:  # where there is none, opening it says what to do
        return root.open(known.name)
    return known.training(place, name=known.name)


def published_test_set(text: str, *, data_root: str | None = None, partial: bool = False) -> Dataset | None:
    """The test images that are published with what `training_set` gives; None where there are none.

    Args:
        data_root: The folder of published sets; by default what ``OODOMETER_DATA`` names.
        partial: Use a set that is not whole.
    """
    root = root_at(data_root, partial=partial)
    if addresses.is_pattern(text):
        return None
    if addresses.exists(text):
        claim = claim_by_name(text)
        known, place = (claim.known, claim.place) if claim else (None, None)
        name = default_name(addresses.absolute(text))
    else:
        entry = find_set(text)
        known = known_sets.get(entry.name) if entry else None
        place = root.place_of(entry.name) if entry and root else None
        name = entry.name if entry else text
    if known is None or place is None or known.training is None or known.training_test is None:
        return None
    try:
        known.training(place, name=name)  # what is not read as this set has no test images of it either
        return known.training_test(place, name=name)
    except NoTrainingPartError:
        return None


def _of_folder(address: str) -> Dataset:
    claim = claim_by_name(address)
    if claim is None or claim.known is None or claim.known.training is None:
        return icons_or_any(address)
    return _training_part(claim.known, claim.place, address) or icons_or_any(address)


def _training_part(known: KnownSet, place: str, address: str) -> Dataset | None:
    """The training part; None where there is none, so that the folder may hold anything else."""
    assert known.training is not None
    try:
        return known.training(place, name=default_name(addresses.absolute(address)))
    except NoTrainingPartError:
        return None


def labelled_by(dataset: Dataset, column: str) -> Dataset:
    """The images with the values of a column as their classes, in alphabetical order."""
    if column not in dataset.columns:
        hint = did_you_mean(column, dataset.columns) or "; its images have labels only"
        raise UsageError(f"--label {column}: {dataset.name} has no column {column!r}{hint}")
    values = [str(value) for value in dataset.columns[column].tolist()]
    classes = tuple(sorted(set(values)))
    places = {value: index for index, value in enumerate(classes)}
    labels = np.array([places[value] for value in values], dtype=np.int64)
    return replace(dataset, labels=labels, space=LabelSpace(column, classes), other_labels=None)
