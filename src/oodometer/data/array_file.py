"""Arrays of numbers or texts in ``.npy`` and ``.npz`` files of unknown origin: no code runs, no claim is believed."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from oodometer.core.errors import DataError
from oodometer.core.limits import LARGE_BYTES, MAX_SHRUNK
from oodometer.core.reading import check_regular, reading, unwarned, why

PLAIN_KINDS = "biufSU"
"""Truth values, whole and other numbers, texts: all that is ever read."""


def read_npy(file: Path) -> np.ndarray:
    """The array of a ``.npy`` file."""
    with reading(str(file), "array"):
        size = check_regular(file)
        with file.open("rb") as stream:
            return read_array(stream, size, str(file))


def names_in_npz(file: Path) -> tuple[str, ...]:
    """The names of the arrays in an ``.npz`` file."""
    with reading(str(file), "array"):
        check_regular(file)
        with zipfile.ZipFile(file) as archive:
            return tuple(name.removesuffix(".npy") for name in archive.namelist())


def read_npz(file: Path, names: Sequence[str]) -> list[np.ndarray]:
    """These arrays of an ``.npz`` file; the others are not looked at."""
    with reading(str(file), "array"):
        check_regular(file)
        with zipfile.ZipFile(file) as archive:
            return [read_member(archive, archive.getinfo(f"{name}.npy"), f"{file}[{name}]") for name in names]


def read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, where: str) -> np.ndarray:
    """An array of an ``.npz`` file, if it is not one that would fill the memory."""
    if member.file_size > max(LARGE_BYTES, MAX_SHRUNK * member.compress_size):
        raise DataError(
            f"{where}: {member.compress_size:,} bytes that unpack to {member.file_size:,}; if it is no mistake, save "
            "it without compression"
        )
    with archive.open(member) as stream:
        return read_array(stream, member.file_size, where)


def read_array(stream: IO[bytes], size: int, where: str) -> np.ndarray:
    """The array that begins here, if the bytes that are there suffice for what its header claims."""
    with reading(where, "array"):
        header = read_header(stream, size, where)
        if header.dtype.kind not in PLAIN_KINDS or header.dtype.itemsize == 0:
            raise DataError(f"{where}: expected numbers or texts, not {header.dtype}")
        stream.seek(0)
        with unwarned():
            return np.asarray(np.lib.format.read_array(stream, allow_pickle=False))


def values_in(array: np.ndarray, where: str) -> list[Any]:
    """The values of an array that was read, one after the other; its texts may be of letters that do not exist."""
    try:
        return array.reshape(-1).tolist()
    except (SystemError, ValueError) as error:
        raise DataError(f"{where}: a text in it is none ({why(error)})") from error


@dataclass(frozen=True)
class Header:
    """What a ``.npy`` file says about its array, and how many bytes it takes to say it."""

    shape: tuple[int, ...]
    fortran: bool
    dtype: np.dtype[Any]
    size: int


def read_header(stream: IO[bytes], size: int, where: str) -> Header:
    """The header that begins here, if the bytes after it are as many as it claims.

    Args:
        size: How many bytes there are, with those of the header.
        where: The file, for the errors.
    """
    with reading(where, "array"), unwarned():  # on headers of another Python
        header = _header(stream)
    if header.dtype.hasobject:
        raise DataError(f"{where}: it holds Python objects, which are never loaded; save plain numbers or texts")
    claimed, there = math.prod(header.shape) * header.dtype.itemsize, size - header.size
    if claimed > there:
        shape = header.shape
        raise DataError(f"{where}: it claims the shape {shape}, {claimed:,} bytes, but holds {there:,}; is it whole?")
    return header


def _header(stream: IO[bytes]) -> Header:
    major, _ = np.lib.format.read_magic(stream)
    read = np.lib.format.read_array_header_1_0 if major == 1 else np.lib.format.read_array_header_2_0
    shape, fortran, dtype = read(stream)
    if any(length < 0 for length in shape):
        raise ValueError(f"a shape of {shape}")
    return Header(tuple(shape), bool(fortran), dtype, stream.tell())
