"""CIFAR-100 over its 20 broad classes, and which of the five subtypes of each are held out from training."""

from __future__ import annotations

import csv
from dataclasses import replace
from functools import cache
from importlib.resources import files

import numpy as np

from oodometer.core.dataset import Dataset
from oodometer.core.errors import DataError, UsageError
from oodometer.core.labels import LabelSpace
from oodometer.data import addresses
from oodometer.data.kinds.folder import open_folder
from oodometer.data.layouts.cifar_arrays import open_part_arrays
from oodometer.data.layouts.cifar_batches import read_batch
from oodometer.data.layouts.small_arrays import class_numbers, dataset_of_rows

MOST_HELD_OUT = 4
"""Of the five subtypes of a broad class, one at least is left to learn from."""

_KINDS = ("coarse_labels", "fine_labels")  # in this order in the binary files
ARCHIVE = "cifar100.npz"
_FOLDERS = ("", "cifar-100-python", "cifar-100-binary")


@cache
def _table() -> list[dict[str, str]]:
    text = (files("oodometer.data.layouts") / "classes" / "cifar_100.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


@cache
def broad_classes() -> LabelSpace:
    """The 20 broad classes, in the order of their numbers.

    >>> len(broad_classes()), broad_classes().classes[0]
    (20, 'aquatic_mammals')
    """
    return LabelSpace("cifar-100-broad", tuple(sorted({row["class"] for row in _table()})))


@cache
def subtypes() -> LabelSpace:
    """The 100 classes, in the order of their numbers.

    >>> subtypes().classes[:2]
    ('apple', 'aquarium_fish')
    """
    return LabelSpace("cifar-100", tuple(row["subtype"] for row in _table()))


def held_out_subtypes(n: int) -> frozenset[str]:
    """The subtypes that are held out, ``n`` of each broad class.

    They are those of the published experiment (Hendrycks and Dietterich 2018, appendix E): the first ``n`` of each
    broad class in the order in which the training set shows them, so that those of ``n`` are among those of ``n + 1``.

    >>> sorted(held_out_subtypes(1) & {"seal", "beaver", "whale", "dolphin", "otter"})
    ['seal']
    """
    if not 1 <= n <= MOST_HELD_OUT:
        raise UsageError(f"{n} subtypes held out of each broad class: expected 1 to {MOST_HELD_OUT} of the 5")
    return frozenset(row["subtype"] for row in _table() if int(row["held_out_as"]) <= n)


def open_cifar_100(address: str, *, name: str) -> Dataset:
    """The test set, labelled by its broad classes, the 100 classes being the column ``subtype``."""
    return _open_part(address, "test", name)


def open_cifar_100_training(address: str, *, name: str) -> Dataset:
    """The training set, in the same way."""
    return _open_part(address, "train", name)


def by_subtype(dataset: Dataset) -> Dataset:
    """The same images labelled by the 100 classes; the broad ones are the column ``superclass``."""
    names = {subtype: index for index, subtype in enumerate(subtypes().classes)}
    fine = np.array([names[subtype] for subtype in dataset.columns["subtype"].tolist()], dtype=np.int64)
    broad = np.array(broad_classes().classes)[dataset.labels]
    return replace(dataset, labels=fine, space=subtypes(), columns={**dataset.columns, "superclass": broad})


def split_subtypes(dataset: Dataset, n: int) -> tuple[Dataset, Dataset]:
    """The images of the subtypes that are kept, and of those that are held out, ``n`` of each broad class.

    A model that is tested on the held-out subtypes is trained on the first part of the training set alone.
    """
    is_held_out = np.isin(dataset.columns["subtype"], sorted(held_out_subtypes(n)))
    parts = []
    for what, rows in (("kept", ~is_held_out), ("held-out", is_held_out)):
        if not rows.any():
            raise DataError(f"{dataset.name}: no image of the {what} subtypes")
        parts.append(dataset.take(np.flatnonzero(rows), name=f"{dataset.name}-{what}-{n}"))
    return parts[0], parts[1]


def _open_part(address: str, part: str, name: str) -> Dataset:
    if _place_of(address, part) is None:
        found = _of_arrays(address, part, name) or _of_folders(address, part, name)
        if found is not None:
            return found
    path = _file_of(address, part)
    batch = read_batch(path, _KINDS)
    coarse = class_numbers(batch.labels["coarse_labels"], broad_classes(), where=path)
    fine = class_numbers(batch.labels["fine_labels"], subtypes(), where=path)
    _check_pairs(coarse, fine, path)
    column = np.array(subtypes().classes)[fine]
    return dataset_of_rows(
        batch.rows, coarse, space=broad_classes(), name=name, where=path, columns={"subtype": column}
    )


def _of_arrays(address: str, part: str, name: str) -> Dataset | None:
    """Images as arrays, whose labels are the 100 classes."""
    arrays = open_part_arrays(address, part, ARCHIVE)
    if arrays is None:
        return None
    rows, labels, where = arrays
    return _by_broad(dataset_of_rows(rows, labels, space=subtypes(), name=name, where=where))


def _of_folders(address: str, part: str, name: str) -> Dataset | None:
    """Images in folders that are named as the 100 classes, maybe below folders that are named as the broad ones."""
    folder = addresses.join(address, part)
    names = set(addresses.list_folders(folder)) if addresses.is_folder(folder) else set()
    if not names & {*subtypes().classes, *broad_classes().classes}:
        return None
    dataset = open_folder(folder, name=name)
    depth = 0 if names <= set(subtypes().classes) else 1
    try:
        fine = [subtypes().classes.index(one.split("/")[depth]) for one in dataset.ids]
    except (ValueError, IndexError) as error:
        raise DataError(f"{folder}: a folder in it is not named as a class of CIFAR-100 ({error})") from error
    return _by_broad(replace(dataset, labels=np.array(fine, dtype=np.int64), space=subtypes()))


def _by_broad(dataset: Dataset) -> Dataset:
    """Images of the 100 classes labelled by the broad ones; the 100 are the column ``subtype``."""
    below = np.array([broad_classes().classes.index(row["class"]) for row in _table()])
    column = np.array(subtypes().classes)[dataset.labels]
    return replace(
        dataset, labels=below[dataset.labels], space=broad_classes(), columns={**dataset.columns, "subtype": column}
    )


def has_part(address: str, part: str) -> bool:
    """Whether the images ``train`` or ``test`` are there: as a batch in either form, as arrays, or as folders."""
    if _place_of(address, part) is not None or open_part_arrays(address, part, ARCHIVE) is not None:
        return True
    folder = addresses.join(address, part)
    return addresses.is_folder(folder) and bool(
        set(addresses.list_folders(folder)) & {*subtypes().classes, *broad_classes().classes}
    )


def _place_of(address: str, part: str) -> str | None:
    files_ = [f"{folder}/{file}".lstrip("/") for folder in _FOLDERS for file in (part, f"{part}.bin")]
    paths = (addresses.join(address, file) for file in files_)
    return next((path for path in paths if addresses.exists(path) and not addresses.is_folder(path)), None)


def _file_of(address: str, part: str) -> str:
    path = _place_of(address, part)
    if path is not None:
        return path
    raise DataError(f"{address}: expected the batch {part} (python) or {part}.bin (binary) of CIFAR-100 in it")


def _check_pairs(coarse: np.ndarray, fine: np.ndarray, path: str) -> None:
    """An error where a class is not below the broad class that it is below in CIFAR-100."""
    below = np.array([broad_classes().classes.index(row["class"]) for row in _table()])
    wrong = np.flatnonzero(below[fine] != coarse)
    if wrong.size:
        one = wrong[0]
        subtype, broad = subtypes().classes[fine[one]], broad_classes().classes[coarse[one]]
        raise DataError(f"{path}: image {one} is a {subtype} among {broad}; the labels are not those of CIFAR-100")
