"""Where the images of a data set come from: encoded files, or rows of pixels, each still what it was when scanned."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from PIL import Image

from oodometer.core.dataset import Progress, Scan
from oodometer.core.digests import CONTENT_BYTES, content_digest
from oodometer.core.errors import DataError
from oodometer.core.preprocessing import Geometry
from oodometer.data import addresses
from oodometer.data.addresses import FoundFile
from oodometer.data.decode import decode, pixels_of
from oodometer.data.resize import as_view
from oodometer.data.scan import Finding, Versioned, forget_scan, problem_of, scan_images

_UNSCANNED, _WHOLE, _BROKEN, _CHANGED = range(4)


class ChangedError(DataError):
    """An image is not the one that was scanned: its answers would be kept as those about another."""


class Scanned:
    """The digest of each image that was scanned, by its row; used by many threads at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._states = np.zeros(0, dtype=np.uint8)
        self._contents = np.zeros((0, CONTENT_BYTES), dtype=np.uint8)
        self._scans: list[np.ndarray] = []

    def __getstate__(self) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
        return self._states, self._contents, self._scans

    def __setstate__(self, state: tuple[np.ndarray, np.ndarray, list[np.ndarray]]) -> None:
        self._lock = threading.Lock()
        self._states, self._contents, self._scans = state

    def remember(self, rows: np.ndarray, scan: Scan) -> None:
        """Keep what a scan of these rows found; an image that an earlier scan found otherwise counts as changed."""
        if not len(rows):
            return
        found = np.frombuffer(b"".join(scan.contents), dtype=np.uint8).reshape(-1, CONTENT_BYTES)
        states = np.full(len(rows), _WHOLE, dtype=np.uint8)
        states[list(scan.broken)] = _BROKEN
        with self._lock:
            self._grow(int(rows.max()) + 1)
            # Whoever asked for the earlier scan still goes by it, so neither content is right for both.
            other = (self._states[rows] == _WHOLE) & (self._contents[rows] != found).any(axis=1)
            states[other | (self._states[rows] == _CHANGED)] = _CHANGED
            self._states[rows], self._contents[rows] = states, found
            self._scans.append(rows)

    def is_known(self, row: int) -> bool:
        """Whether a scan has looked at the image."""
        return row < len(self._states) and self._states[row] != _UNSCANNED

    def check(self, row: int, content: bytes, images: Versioned) -> None:
        """An error if the image has not the digest that it had when it was scanned.

        Raises:
            ChangedError: It was whole then, and is another now.
            DataError: It could not be read then.
        """
        state = self._states[row]
        if state != _CHANGED and self._contents[row].tobytes() == content:
            return
        if state == _BROKEN:
            raise DataError(f"{images.name(row)}: could not be read when it was scanned; run again")
        # Should the change be one that size and times do not show, the next run must not trust them either.
        for rows in self._scans:
            if row in rows:
                forget_scan(rows, images)
        raise ChangedError(f"{images.name(row)}: has changed since it was scanned; run again")

    def _grow(self, n: int) -> None:
        more = n - len(self._states)
        if more > 0:
            self._contents = np.concatenate([self._contents, np.zeros((more, CONTENT_BYTES), dtype=np.uint8)])
            self._states = np.concatenate([self._states, np.zeros(more, dtype=np.uint8)])


class EncodedImages(Protocol):
    """Images as the bytes of their files; called by many threads at once."""

    def read(self, index: int) -> bytes:
        """The encoded bytes; a `DataError` that names the image where there are none."""
        ...

    def name(self, index: int) -> str:
        """Where the image lies, for error messages and the key of the scan; unique."""
        ...

    def version(self, index: int) -> str | None:
        """A text that changes when the image does; None where that can't be known."""
        ...


class PixelRows(Protocol):
    """Images as arrays of pixels; called by many threads at once."""

    def read(self, index: int) -> np.ndarray:
        """The pixels, (H, W, 3) or (H, W) uint8."""
        ...

    def name(self, index: int) -> str:
        """Where the image lies."""
        ...

    def version(self, index: int) -> str | None:
        """A text that changes when the image does."""
        ...


@dataclass(frozen=True)
class ImageFiles:
    """One file per image.

    Args:
        paths: The address of each.
        versions: The version of each, where the listing told; otherwise the file is asked.
    """

    paths: tuple[str, ...]
    versions: tuple[str | None, ...] | None = None

    @classmethod
    def below(cls, folder: str, files: Iterable[FoundFile]) -> ImageFiles:
        """The files that a listing of the folder found."""
        found = tuple(files)
        return cls(tuple(addresses.join(folder, file.path) for file in found), tuple(file.version for file in found))

    def read(self, index: int) -> bytes:
        """The content of the file."""
        return addresses.read_bytes(self.paths[index])

    def name(self, index: int) -> str:
        """The address of the file."""
        return self.paths[index]

    def version(self, index: int) -> str | None:
        """Size and time of change; None if the file is missing, which reading it will say."""
        if self.versions is not None:
            return self.versions[index]
        try:
            return addresses.version_of(self.paths[index])
        except DataError:
            return None


@dataclass(frozen=True)
class EncodedSource:
    """Images that are decoded when they are asked for; one that was scanned must still be what it was then."""

    images: EncodedImages
    _scanned: Scanned = field(default_factory=Scanned, init=False, compare=False, repr=False)

    def views(self, index: int, views: Sequence[Geometry | None]) -> list[np.ndarray]:
        """Image ``index``, decoded once, as each view wants it."""
        content = self.images.read(index)
        if self._scanned.is_known(index):
            self._scanned.check(index, content_digest(content), self.images)
        try:
            return _all_views(decode(content), views)
        except DataError as error:
            raise DataError(f"{self.images.name(index)}: {error}") from error

    def scan(self, indices: np.ndarray, progress: Progress) -> Scan:
        """Digest every file's bytes and check that it is a whole image."""
        found = scan_images(indices, self.images, self._inspect, progress)
        self._scanned.remember(indices, found)
        return found

    def _inspect(self, index: int) -> Finding:
        try:
            content = self.images.read(index)
        except DataError as error:
            return Finding(content_digest(b""), str(error))
        problem = problem_of(content)
        return Finding(content_digest(content), f"{self.images.name(index)}: {problem}" if problem else None)


@dataclass(frozen=True)
class ArraySource:
    """Images that are kept as pixels; one that was scanned must still be what it was then."""

    rows: PixelRows
    _scanned: Scanned = field(default_factory=Scanned, init=False, compare=False, repr=False)

    def views(self, index: int, views: Sequence[Geometry | None]) -> list[np.ndarray]:
        """Image ``index`` as each view wants it."""
        image = Image.fromarray(self.rows.read(index))
        if self._scanned.is_known(index):
            self._scanned.check(index, _digest_of_pixels(image), self.rows)
        return _all_views(image, views)

    def scan(self, indices: np.ndarray, progress: Progress) -> Scan:
        """Digest every image's pixels, the same for each way of keeping them in an array."""
        found = scan_images(indices, self.rows, self._inspect, progress)
        self._scanned.remember(indices, found)
        return found

    def _inspect(self, index: int) -> Finding:
        try:
            return Finding(_digest_of_pixels(Image.fromarray(self.rows.read(index))), None)
        except DataError as error:
            return Finding(content_digest(b""), str(error))


def _digest_of_pixels(image: Image.Image) -> bytes:
    pixels = pixels_of(image)
    shape = "x".join(str(side) for side in pixels.shape)
    return content_digest(shape.encode() + b"\0" + pixels.tobytes())


def _all_views(image: Image.Image, views: Sequence[Geometry | None]) -> list[np.ndarray]:
    return [pixels_of(image) if view is None else as_view(image, view) for view in views]
