"""The file in which a scan is kept: of each image its version and its digest."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from oodometer.core.digests import CONTENT_BYTES


@dataclass(frozen=True, eq=False)
class KeptScan:
    """What is known about images from an earlier scan.

    Args:
        versions: The digest of each image's version, (N, 16) uint8; zeros where nothing may be kept.
        contents: The digest of each image's content, (N, 16) uint8.
    """

    versions: np.ndarray
    contents: np.ndarray

    @classmethod
    def of(cls, versions: np.ndarray, contents: Sequence[bytes], *, leave_out: Sequence[int]) -> KeptScan:
        """What a scan found, but for the images at some places."""
        kept = versions.copy()
        kept[np.asarray(leave_out, dtype=np.int64)] = 0
        return cls(kept, np.frombuffer(b"".join(contents), dtype=np.uint8).reshape(-1, CONTENT_BYTES))

    def known(self, versions: np.ndarray) -> dict[int, bytes]:
        """The digests of the images that have the version that they had, by place."""
        same = (self.versions == versions).all(axis=1) & versions.any(axis=1)
        return {place: self.contents[place].tobytes() for place in np.flatnonzero(same).tolist()}


def versions_of(texts: Sequence[str | None]) -> np.ndarray:
    """The digests of versions, (N, 16) uint8; zeros where there is none."""
    digests = (
        bytes(CONTENT_BYTES) if text is None else hashlib.blake2b(text.encode(), digest_size=CONTENT_BYTES).digest()
        for text in texts
    )
    return np.frombuffer(b"".join(digests), dtype=np.uint8).reshape(-1, CONTENT_BYTES)


def load_kept(path: str, n: int) -> KeptScan | None:
    """The kept scan of so many images; None if there is none or it is damaged."""
    try:
        # Opened here, because np.load leaves a damaged file open.
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as kept:
            found = KeptScan(kept["versions"], kept["contents"])
    # Of an array that is no archive, Python 3.10 says AttributeError and later ones TypeError.
    except (OSError, ValueError, TypeError, AttributeError, KeyError, EOFError, zipfile.BadZipFile, zlib.error):
        return None
    for part in (found.versions, found.contents):
        if part.shape != (n, CONTENT_BYTES) or part.dtype != np.uint8:
            return None
    return found


def save_kept(path: str, kept: KeptScan) -> None:
    """Keep a scan, written aside and renamed; a cache that can't be written is done without."""
    if not kept.versions.any():
        return
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        handle, aside = tempfile.mkstemp(dir=os.path.dirname(path), suffix=".part")
    except OSError:
        return
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez(file, versions=kept.versions, contents=kept.contents)
        os.replace(aside, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(aside)
