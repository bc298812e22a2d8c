"""The batches in which CIFAR-10 and CIFAR-100 are published: pickled by Python, or plain bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from oodometer.core.errors import DataError
from oodometer.data import addresses
from oodometer.data.kinds.arrays import LoadedRows
from oodometer.data.layouts.plain_pickle import read_plain_pickle

SIDE = 32
_PIXELS = 3 * SIDE * SIDE


@dataclass(frozen=True, eq=False)
class Batch:
    """The images of a batch, and its labels by name, each (N,) int64."""

    rows: LoadedRows
    labels: dict[str, np.ndarray]


def read_batch(address: str, kinds: Sequence[str]) -> Batch:
    """A batch of either form; the plain bytes are in files that end with ``.bin``.

    Args:
        kinds: The names of its labels; in a ``.bin`` file, one byte each in this order before the pixels.
    """
    data, labels = (_from_bytes if address.endswith(".bin") else _from_pickle)(address, kinds)
    # Red, green and blue one after the other, each in rows.
    rows = LoadedRows(address, addresses.version_of(address), data.reshape(-1, 3, SIDE, SIDE))
    return Batch(rows, labels)


def _from_pickle(address: str, kinds: Sequence[str]) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    found = read_plain_pickle(address)
    missing = [one for one in ("data", *kinds) if one not in found]
    if missing:
        raise DataError(
            f"{address}: no {missing[0]!r} in it; expected data and {', '.join(kinds)}, found {_few(found)}"
        )
    data = found["data"]
    if not isinstance(data, np.ndarray) or data.dtype != np.uint8 or data.shape[1:] != (_PIXELS,):
        what = f"{data.shape} {data.dtype}" if isinstance(data, np.ndarray) else type(data).__name__
        raise DataError(f"{address}: its data are {what}; expected (N, {_PIXELS}) uint8")
    return data, {one: _labels(found[one], len(data), f"{address}: {one}") for one in kinds}


def _labels(values: object, n: int, where: str) -> np.ndarray:
    if isinstance(values, np.ndarray) and values.dtype.kind in "iu":
        values = values.ravel().tolist()
    if not isinstance(values, list) or not all(isinstance(one, int) and 0 <= one < 256 for one in values):
        raise DataError(f"{where}: expected a list of class numbers")
    if len(values) != n:
        raise DataError(f"{where}: {len(values)} labels for {n} images")
    return np.array(values, dtype=np.int64)


def _from_bytes(address: str, kinds: Sequence[str]) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    content = addresses.read_bytes(address)
    length = len(kinds) + _PIXELS
    if not content or len(content) % length:
        raise DataError(
            f"{address}: {len(content):,} bytes are no whole number of images of {length}; is it cut short?"
        )
    records = np.frombuffer(content, dtype=np.uint8).reshape(-1, length)
    labels = {one: records[:, place].astype(np.int64) for place, one in enumerate(kinds)}
    return np.ascontiguousarray(records[:, len(kinds) :]), labels


def _few(names: Sequence[str] | dict[str, object]) -> str:
    return ", ".join(sorted(names)[:6]) or "nothing"
