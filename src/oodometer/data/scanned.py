"""What scans found, so that an image that is decoded later is sure to be the one that was scanned."""

from __future__ import annotations

import threading

import numpy as np

from oodometer.core.dataset import Scan
from oodometer.core.digests import CONTENT_BYTES
from oodometer.core.errors import DataError
from oodometer.data.scan import Versioned, forget_scan

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
