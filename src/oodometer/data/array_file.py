"""Arrays of numbers or texts in ``.npy`` and ``.npz`` files of unknown origin: no code runs, no claim is believed."""

from __future__ import annotations

import math
import os
import warnings
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from oodometer.core.errors import DataError

PLAIN_KINDS = "biufSU"
"""Truth values, whole and other numbers, texts: all that is ever read."""
LARGE = 2**28
SHRUNK = 100
"""An array of more than LARGE bytes that was compressed to less than a hundredth holds next to nothing, and would
fill the memory: no real logits, classes or ids shrink so much."""


def read_npy(file: Path) -> np.ndarray:
    """The array of a ``.npy`` file."""
    with _one_line(str(file)), file.open("rb") as stream:
        return _read(stream, os.fstat(stream.fileno()).st_size, str(file))


def names_in_npz(file: Path) -> tuple[str, ...]:
    """The names of the arrays in an ``.npz`` file."""
    with _one_line(str(file)), zipfile.ZipFile(file) as archive:
        return tuple(name.removesuffix(".npy") for name in archive.namelist())


def read_npz(file: Path, names: Sequence[str]) -> list[np.ndarray]:
    """These arrays of an ``.npz`` file; the others are not looked at."""
    with _one_line(str(file)), zipfile.ZipFile(file) as archive:
        return [_member(archive, name, f"{file}[{name}]") for name in names]


def _member(archive: zipfile.ZipFile, name: str, where: str) -> np.ndarray:
    member = archive.getinfo(f"{name}.npy")
    if member.file_size > max(LARGE, SHRUNK * member.compress_size):
        raise DataError(
            f"{where}: {member.compress_size:,} bytes that unpack to {member.file_size:,}; if it is no mistake, save "
            "it without compression"
        )
    with archive.open(member) as stream:
        return _read(stream, member.file_size, where)


def _read(stream: IO[bytes], size: int, where: str) -> np.ndarray:
    """The array that begins here, if the bytes that are there suffice for what its header claims."""
    shape, dtype = _header(stream)
    if dtype.hasobject:
        raise DataError(f"{where}: it holds Python objects, which are never loaded; save plain numbers or texts")
    if dtype.kind not in PLAIN_KINDS or dtype.itemsize == 0:
        raise DataError(f"{where}: expected numbers or texts, not {dtype}")
    claimed, there = math.prod(shape) * dtype.itemsize, size - stream.tell()
    if claimed > there:
        raise DataError(f"{where}: it claims the shape {shape}, {claimed:,} bytes, but holds {there:,}; is it whole?")
    stream.seek(0)
    return np.asarray(np.lib.format.read_array(stream, allow_pickle=False))


def _header(stream: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    major, _ = np.lib.format.read_magic(stream)
    read = np.lib.format.read_array_header_1_0 if major == 1 else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(stream)
    if any(length < 0 for length in shape):
        raise ValueError(f"a shape of {shape}")
    return shape, dtype


@contextmanager
def _one_line(where: str) -> Iterator[None]:
    """Whatever NumPy and zipfile raise about a damaged file, as one line.

    They raise a dozen kinds of errors that have nothing in common, tokenize's and zlib's among them.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # on headers of another Python
            yield
    except DataError:
        raise
    except FileNotFoundError:
        raise DataError(f"{where}: no such file") from None
    except Exception as error:
        why = " ".join(str(error).split())[:100] or type(error).__name__
        raise DataError(f"{where}: not a readable array ({why})") from error
