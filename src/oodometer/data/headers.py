"""What the first bytes of every image say: its true kind, and its size."""

from __future__ import annotations

import io
import posixpath
import struct
from collections.abc import Mapping
from dataclasses import dataclass

from oodometer.core.dataset import Dataset, ImageSource, Progress
from oodometer.core.errors import DataError
from oodometer.data import addresses
from oodometer.data.decode import header_of
from oodometer.data.layouts.cropped_sources import OfOneSize, WithoutBorder
from oodometer.data.scan import Finding, Versioned, scan_images
from oodometer.data.source import ArraySource, EncodedSource, ImageFiles

_PACKED = struct.Struct("<8sII")  # as long as the digests that scans keep, so that headers can be kept in their place

_ENDINGS = {
    "JPEG": "jpg jpeg jpe jfif",
    "MPO": "jpg jpeg jpe jfif",  # what some cameras write: a JPEG with more behind it
    "PNG": "png",
    "WEBP": "webp",
    "GIF": "gif",
    "BMP": "bmp",
    "TIFF": "tif tiff",
    "PPM": "ppm pgm pbm pnm",
    "JPEG2000": "jp2",
    "AVIF": "avif",
    "TGA": "tga",
    "QOI": "qoi",
}


@dataclass(frozen=True)
class Header:
    """The kind of an image file as Pillow calls it (empty for rows of pixels), and the size of the image."""

    kind: str
    width: int
    height: int


@dataclass(frozen=True)
class SourceNames:
    """Where the images of a source lie, under names that belong to one way of looking at them."""

    source: ImageSource
    way: str

    def name(self, index: int) -> str:
        """Where the image lies, and how it is looked at."""
        kept = kept_images(self.source)
        return f"{self.way} {index if kept is None else kept.name(index)}"

    def version(self, index: int) -> str | None:
        """The version of the image."""
        kept = kept_images(self.source)
        return None if kept is None else kept.version(index)


def as_kept(source: ImageSource) -> ImageSource:
    """The source of the files as they are, without what is cut off or asked of them when they are shown."""
    return source.inner if isinstance(source, (WithoutBorder, OfOneSize)) else source


def kept_images(source: ImageSource) -> Versioned | None:
    """The files or rows that a source reads; None for a source of another kind."""
    source = as_kept(source)
    if isinstance(source, EncodedSource):
        return source.images
    return source.rows if isinstance(source, ArraySource) else None


@dataclass(frozen=True)
class Headers:
    """The header of every image, None where it can't be read; and why it can't, by position."""

    found: tuple[Header | None, ...]
    broken: Mapping[int, str]


def headers_of(dataset: Dataset, progress: Progress) -> Headers:
    """The header of every image; kept as scans are."""

    def inspect(index: int) -> Finding:
        try:
            header = _header(dataset.source, index)
        except DataError as error:
            return Finding(_PACKED.pack(b"", 0, 0), str(error))
        return Finding(_PACKED.pack(header.kind.encode()[:8], header.width, header.height), None)

    scan = scan_images(dataset.rows, SourceNames(dataset.source, "header 1"), inspect, progress)
    found = (None if place in scan.broken else _unpacked(content) for place, content in enumerate(scan.contents))
    return Headers(tuple(found), scan.broken)


def lies_about_its_kind(path: str, header: Header) -> bool:
    """Whether a file's ending names another kind of image than its content is.

    >>> lies_about_its_kind("a.JPEG", Header("PNG", 1, 1)), lies_about_its_kind("a.JPEG", Header("JPEG", 1, 1))
    (True, False)
    """
    ending = posixpath.splitext(path)[1].lower().lstrip(".")
    return header.kind in _ENDINGS and ending not in _ENDINGS[header.kind].split()


def _unpacked(content: bytes) -> Header:
    kind, width, height = _PACKED.unpack(content)
    return Header(kind.rstrip(b"\0").decode(), width, height)


def _header(source: ImageSource, index: int) -> Header:
    source = as_kept(source)
    if isinstance(source, ArraySource):
        height, width = source.rows.read(index).shape[:2]
        return Header("", width, height)
    if not isinstance(source, EncodedSource):
        height, width = source.views(index, [None])[0].shape[:2]
        return Header("", width, height)
    if isinstance(source.images, ImageFiles):  # of a file, only the beginning is read
        with addresses.open_binary(source.images.paths[index]) as file:
            return Header(*header_of(file))
    return Header(*header_of(io.BytesIO(source.images.read(index))))
