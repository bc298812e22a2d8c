"""The training sets of CIFAR-10 and CIFAR-100, and the test sets labelled as those, in their published layouts."""

from __future__ import annotations

import numpy as np

from oodometer.core.dataset import Dataset
from oodometer.core.errors import DataError
from oodometer.data import addresses
from oodometer.data.kinds.arrays import LoadedRows
from oodometer.data.layouts import cifar, cifar_100
from oodometer.data.layouts.cifar_10_c import JoinedRows
from oodometer.data.layouts.cifar_arrays import open_part_arrays
from oodometer.data.layouts.cifar_batches import SIDE, Batch, read_batch
from oodometer.data.layouts.cifar_sheets import open_training_sheets
from oodometer.data.layouts.small_arrays import dataset_of_rows
from oodometer.data.layouts.training_part import NoTrainingPartError

N_BATCHES = 5
"""Of the training images of CIFAR-10."""


def open_cifar_10_training(address: str, *, name: str) -> Dataset:
    """The five batches one after the other, five sheets, arrays, or the class folders in ``train``."""
    places = [addresses.parent(address)] if addresses.base_name(address) == "test" else []
    if addresses.is_folder(address):
        places.insert(0, address)
    for place in places:
        for reader in (_of_batches, _of_sheets, _of_arrays, _of_folders):
            if (found := reader(place, name)) is not None:
                return found
    raise NoTrainingPartError(
        f"{address}: no data_batch_1 to data_batch_5 (python) or .bin (binary) of CIFAR-10 in it, nor data_batch_1.png "
        "and so on, x_train.npy, cifar10.npz or train/airplane"
    )


def _of_batches(address: str, name: str) -> Dataset | None:
    for folder in cifar.FOLDERS:
        for ending in ("", ".bin"):
            place = addresses.join(address, folder) if folder else address
            files = [addresses.join(place, f"data_batch_{number}{ending}") for number in range(1, N_BATCHES + 1)]
            if addresses.exists(files[0]):
                cifar.check_names(files[0])
                return _joined([read_batch(file, ("labels",)) for file in files], place, name)
    return None


def _of_sheets(address: str, name: str) -> Dataset | None:
    files = [addresses.join(address, f"data_batch_{number}.png") for number in range(1, N_BATCHES + 1)]
    if not addresses.exists(files[0]):
        return None
    sheets, labels = open_training_sheets(files)
    return dataset_of_rows(JoinedRows(tuple(sheets)), labels, space=cifar.CLASSES, name=name, where=address)


def _of_arrays(address: str, name: str) -> Dataset | None:
    found = open_part_arrays(address, "train", cifar.ARCHIVE)
    return None if found is None else dataset_of_rows(*found[:2], space=cifar.CLASSES, name=name, where=found[2])


def _of_folders(address: str, name: str) -> Dataset | None:
    folder = addresses.join(address, "train")
    return cifar.open_class_folders(folder, name) if cifar.has_class_folders(folder) else None


def _joined(batches: list[Batch], place: str, name: str) -> Dataset:
    pixels = np.concatenate([batch.rows.images for batch in batches]).reshape(-1, 3, SIDE, SIDE)
    versions = ", ".join(batch.rows.version_of_file or "" for batch in batches)
    labels = np.concatenate([batch.labels["labels"] for batch in batches])
    rows = LoadedRows(addresses.join(place, "data_batch"), versions, pixels)
    return dataset_of_rows(rows, labels, space=cifar.CLASSES, name=name, where=place)


def open_cifar_100_training(address: str, *, name: str) -> Dataset:
    """The training set over its 100 classes, which are the column ``subtype`` too; ``superclass`` is the broad one."""
    if not cifar_100.has_part(address, "train"):
        raise NoTrainingPartError(
            f"{address}: no batch train (python) or train.bin (binary) of CIFAR-100 in it, nor x_train.npy, "
            "cifar100.npz or train/apple"
        )
    broad = cifar_100.open_cifar_100_training(address, name=name)
    return cifar_100.by_subtype(broad)


def open_cifar_10_test(address: str, *, name: str) -> Dataset:
    """The test set that is published with the training batches."""
    try:
        return cifar.open_cifar_10(address, name=name)
    except DataError as error:
        raise NoTrainingPartError(str(error)) from error


def open_cifar_100_test(address: str, *, name: str) -> Dataset:
    """The test set over the 100 classes, with the columns of the training set."""
    if not cifar_100.has_part(address, "test"):
        raise NoTrainingPartError(
            f"{address}: no batch test (python) or test.bin (binary) of CIFAR-100 in it, nor x_test.npy, "
            "cifar100.npz or test/apple"
        )
    return cifar_100.by_subtype(cifar_100.open_cifar_100(address, name=name))
