"""The training sets of CIFAR-10 and CIFAR-100, out of the batches in which they are published."""

from __future__ import annotations

import numpy as np

from oodometer.core.dataset import Dataset
from oodometer.data import addresses
from oodometer.data.kinds.arrays import LoadedRows
from oodometer.data.layouts import cifar, cifar_100
from oodometer.data.layouts.cifar_batches import SIDE, Batch, read_batch
from oodometer.data.layouts.small_arrays import dataset_of_rows
from oodometer.data.layouts.training_part import NoTrainingPartError

N_BATCHES = 5
"""Of the training images of CIFAR-10."""


def open_cifar_10_training(address: str, *, name: str) -> Dataset:
    """The five batches one after the other."""
    for folder in cifar.FOLDERS:
        for ending in ("", ".bin"):
            place = addresses.join(address, folder) if folder else address
            files = [addresses.join(place, f"data_batch_{number}{ending}") for number in range(1, N_BATCHES + 1)]
            if addresses.exists(files[0]):
                cifar.check_names(files[0])
                return _joined([read_batch(file, ("labels",)) for file in files], place, name)
    raise NoTrainingPartError(f"{address}: no data_batch_1 to data_batch_5 (python) or .bin (binary) of CIFAR-10 in it")


def _joined(batches: list[Batch], place: str, name: str) -> Dataset:
    pixels = np.concatenate([batch.rows.images for batch in batches]).reshape(-1, 3, SIDE, SIDE)
    versions = ", ".join(batch.rows.version_of_file or "" for batch in batches)
    labels = np.concatenate([batch.labels["labels"] for batch in batches])
    rows = LoadedRows(addresses.join(place, "data_batch"), versions, pixels)
    return dataset_of_rows(rows, labels, space=cifar.CLASSES, name=name, where=place)


def open_cifar_100_training(address: str, *, name: str) -> Dataset:
    """The training set over its 100 classes, which are the column ``subtype`` too; ``superclass`` is the broad one."""
    if not cifar_100.has_part(address, "train"):
        raise NoTrainingPartError(f"{address}: no batch train (python) or train.bin (binary) of CIFAR-100 in it")
    broad = cifar_100.open_cifar_100_training(address, name=name)
    return cifar_100.by_subtype(broad)
