"""Images as rows of a NumPy array, ``.npy`` or ``.npz``, the way CIFAR and its relatives are passed around."""

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass
from typing import IO, Protocol

import numpy as np

from oodometer.core.dataset import Dataset
from oodometer.core.errors import DataError
from oodometer.core.labels import LabelSpace
from oodometer.core.reading import reading
from oodometer.data import addresses
from oodometer.data.array_file import Header, read_header, read_member, values_in
from oodometer.data.array_file import read_array as read_stream
from oodometer.data.labels import ids_of_positions, parse_labels
from oodometer.data.source import ArraySource, PixelRows

_IMAGE_NAMES = ("images", "x", "data", "x_test")
_LABEL_NAMES = ("labels", "y", "y_test")


def open_arrays(address: str, *, name: str) -> Dataset:
    """The images of an array, uint8, (N, H, W, 3), (N, 3, H, W) or grey (N, H, W).

    Labels are under ``labels``, ``y`` or ``y_test`` in an ``.npz``, and in ``STEM_labels.npy`` or ``labels.npy`` beside
    a ``.npy``. Nothing is ever unpickled.
    """
    rows, labels = _open_npz(address) if address.lower().endswith(".npz") else _open_npy(address)
    n = rows.n
    indices, space = _parse(labels, n, address, name)
    return Dataset(
        name=name, ids=ids_of_positions(n), labels=indices, space=space, source=ArraySource(rows), rows=np.arange(n)
    )


def open_rows(address: str) -> CountedRows:
    """The images of a ``.npy`` file, left in place; whoever asks knows where their labels are."""
    return _open_npy(address, labelled=False)[0]


def read_array(address: str) -> np.ndarray:
    """The numbers of a ``.npy`` file, labels for one."""
    return _load(addresses.read_bytes(address), address)


def open_named_rows(address: str, *, images: str, labels: str) -> tuple[CountedRows, np.ndarray] | None:
    """The images and labels of an ``.npz`` file under these names; None where it has no such arrays."""
    with addresses.open_binary(address) as file, reading(address, ".npz file"), zipfile.ZipFile(file) as archive:
        if not {f"{images}.npy", f"{labels}.npy"} <= set(archive.namelist()):
            return None
    rows, known = _open_npz(address, (images,), (labels,))
    assert known is not None
    return rows, known


class CountedRows(PixelRows, Protocol):
    """Rows of pixels whose number is known."""

    @property
    def n(self) -> int:
        """The number of images."""
        ...


@dataclass(frozen=True)
class StoredRows:
    """Rows that stay in their file, one after the other from ``offset`` on, and are read one at a time."""

    address: str
    version_of_file: str | None
    offset: int
    shape: tuple[int, ...]
    n: int

    def read(self, index: int) -> np.ndarray:
        """The pixels of the row."""
        size = int(np.prod(self.shape))
        content = addresses.read_range(self.address, self.offset + index * size, size)
        return _height_width_channels(np.frombuffer(content, dtype=np.uint8).reshape(self.shape))

    def name(self, index: int) -> str:
        """The file and the row."""
        return f"{self.address} row {index}"

    def version(self, index: int) -> str | None:  # noqa: ARG002
        """The version of the file."""
        return self.version_of_file


@dataclass(frozen=True, eq=False)
class LoadedRows:
    """Rows in memory: those of a compressed file, of which no single row can be read."""

    address: str
    version_of_file: str | None
    images: np.ndarray

    @property
    def n(self) -> int:
        """The number of images."""
        return len(self.images)

    def read(self, index: int) -> np.ndarray:
        """The pixels of the row."""
        return _height_width_channels(self.images[index])

    def name(self, index: int) -> str:
        """The file and the row."""
        return f"{self.address} row {index}"

    def version(self, index: int) -> str | None:  # noqa: ARG002
        """The version of the file."""
        return self.version_of_file


def _open_npy(address: str, *, labelled: bool = True) -> tuple[CountedRows, np.ndarray | None]:
    version = addresses.version_of(address)
    size = addresses.size_of(address)
    with addresses.open_binary(address) as file:
        header = _checked(read_header(file, size, address), address)
    labels = _labels_beside(address) if labelled else None
    if header.fortran:
        return LoadedRows(address, version, _load(addresses.read_bytes(address), address)), labels
    return StoredRows(address, version, header.size, header.shape[1:], header.shape[0]), labels


def _labels_beside(address: str) -> np.ndarray | None:
    stem = addresses.base_name(address)[: -len(".npy")]
    for candidate in (f"{stem}_labels.npy", "labels.npy"):
        path = addresses.join(addresses.parent(address), candidate)
        if path != address and addresses.exists(path):
            return _load(addresses.read_bytes(path), path)
    return None


def _open_npz(
    address: str, image_names: tuple[str, ...] = _IMAGE_NAMES, label_names: tuple[str, ...] = _LABEL_NAMES
) -> tuple[CountedRows, np.ndarray | None]:
    version = addresses.version_of(address)
    with addresses.open_binary(address) as file, reading(address, ".npz file"), zipfile.ZipFile(file) as archive:
        members = {member.filename.removesuffix(".npy"): member for member in archive.infolist()}
        images = _first(image_names, members)
        if images is None:
            raise DataError(
                f"{address}: no array of images in it; expected one named {', '.join(_IMAGE_NAMES)}, "
                f"found {', '.join(members) or 'nothing'}"
            )
        labels = _first(label_names, members)
        known = None if labels is None else read_member(archive, labels, f"{address}[{labels.filename}]")
        return _open_member(address, version, file, archive, images), known


def _open_member(
    address: str, version: str | None, file: IO[bytes], archive: zipfile.ZipFile, member: zipfile.ZipInfo
) -> CountedRows:
    """The rows of an array in an archive, left in place if it is stored without compression."""
    with archive.open(member) as packed:
        header = _checked(read_header(packed, member.file_size, address), address)
    if member.compress_type != zipfile.ZIP_STORED or header.fortran:
        return LoadedRows(address, version, read_member(archive, member, address))
    file.seek(member.header_offset + 26)  # the lengths of the name and the extra field, which come before the data
    lengths = file.read(4)
    before = 30 + int.from_bytes(lengths[:2], "little") + int.from_bytes(lengths[2:], "little")
    offset = member.header_offset + before + header.size
    return StoredRows(address, version, offset, header.shape[1:], header.shape[0])


def _first(names: tuple[str, ...], members: dict[str, zipfile.ZipInfo]) -> zipfile.ZipInfo | None:
    return next((members[name] for name in names if name in members), None)


def _load(content: bytes, address: str) -> np.ndarray:
    return read_stream(io.BytesIO(content), len(content), address)


def _checked(header: Header, address: str) -> Header:
    """The header, if its array can be images."""
    shape, dtype = header.shape, header.dtype
    if dtype != np.uint8:
        raise DataError(f"{address}: its pixels are {dtype}; expected uint8, 0 to 255")
    if len(shape) not in (3, 4) or (len(shape) == 4 and shape[3] not in (1, 3) and shape[1] not in (1, 3)):
        raise DataError(f"{address}: its shape is {shape}; expected (N, H, W, 3), (N, 3, H, W) or (N, H, W)")
    if 0 in shape[1:]:
        raise DataError(f"{address}: its shape is {shape}: images without pixels")
    return header


def _height_width_channels(pixels: np.ndarray) -> np.ndarray:
    if pixels.ndim == 3 and pixels.shape[2] not in (1, 3):
        pixels = pixels.transpose(1, 2, 0)
    if pixels.ndim == 3 and pixels.shape[2] == 1:
        pixels = pixels[:, :, 0]
    return np.ascontiguousarray(pixels)


def _parse(labels: np.ndarray | None, n: int, address: str, name: str) -> tuple[np.ndarray, LabelSpace]:
    if labels is None:
        return parse_labels([None] * n, name=name)
    if labels.shape not in ((n,), (n, 1)):
        raise DataError(f"{address}: {n} images but labels of shape {labels.shape}; expected ({n},)")
    if labels.dtype.kind not in "iuU":
        raise DataError(f"{address}: its labels are {labels.dtype}; expected whole numbers or class names")
    return parse_labels(values_in(labels, address), name=name)
