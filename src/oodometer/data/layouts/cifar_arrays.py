"""CIFAR as arrays of training and test images: ``x_train.npy`` and its like, or all four in one ``.npz``."""

from __future__ import annotations

import numpy as np

from oodometer.data import addresses
from oodometer.data.kinds.arrays import CountedRows, open_named_rows, open_rows, read_array


def open_part_arrays(folder: str, part: str, archive: str) -> tuple[CountedRows, np.ndarray, str] | None:
    """The images and labels of a part, and their file; None where the folder has no such arrays.

    Args:
        part: ``train`` or ``test``.
        archive: The ``.npz`` file that may have both parts, as ``x_train``, ``y_train``, ``x_test`` and ``y_test``.
    """
    images, labels = (addresses.join(folder, f"{letter}_{part}.npy") for letter in "xy")
    if addresses.exists(images) and addresses.exists(labels):
        return open_rows(images), read_array(labels), images
    both = addresses.join(folder, archive)
    if not addresses.exists(both):
        return None
    found = open_named_rows(both, images=f"x_{part}", labels=f"y_{part}")
    return None if found is None else (*found, both)
