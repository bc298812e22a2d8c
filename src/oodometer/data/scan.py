"""One pass over the contents of a data set: digests, and the broken files found before hours are spent.

What it found is kept, so that images that did not change are not read again.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from oodometer.core.dataset import Progress, Scan
from oodometer.core.digests import CONTENT_BYTES
from oodometer.core.errors import DataError
from oodometer.data.array_file import read_npz
from oodometer.data.decode import decode

_FORMAT = "oodometer scan 2"
_CHUNK = 64
_JPEG_START, _JPEG_END = b"\xff\xd8\xff", b"\xff\xd9"
_PNG_START, _PNG_END = b"\x89PNG\r\n\x1a\n", b"\0\0\0\0IEND\xaeB`\x82"


@dataclass(frozen=True, eq=False)
class KeptScan:
    """What is known about images from an earlier scan.

    Args:
        versions: The digest of each image's version, (N, 16) uint8; zeros where nothing may be kept.
        contents: What was found of each image's content, a digest as a rule, (N, W) uint8.
    """

    versions: np.ndarray
    contents: np.ndarray

    @classmethod
    def of(cls, versions: np.ndarray, contents: Sequence[bytes], *, leave_out: Sequence[int]) -> KeptScan:
        """What a scan found, but for the images at some places."""
        kept = versions.copy()
        kept[np.asarray(leave_out, dtype=np.int64)] = 0
        return cls(kept, np.frombuffer(b"".join(contents), dtype=np.uint8).reshape(len(contents), -1))

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


def load_kept(path: str, n: int, width: int = CONTENT_BYTES) -> KeptScan | None:
    """The kept scan of so many images, with so many bytes of each; None if there is none or it is damaged."""
    try:
        found = KeptScan(*read_npz(Path(path), ["versions", "contents"]))
    except DataError:
        return None
    for part, n_bytes in ((found.versions, CONTENT_BYTES), (found.contents, width)):
        if part.shape != (n, n_bytes) or part.dtype != np.uint8:
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
        with suppress(OSError):
            os.unlink(aside)


class Versioned(Protocol):
    """What the key of a scan is made of."""

    def name(self, index: int) -> str:
        """Where the image lies; unique."""
        ...

    def version(self, index: int) -> str | None:
        """A text that changes when the image does; None where that can't be known."""
        ...


@dataclass(frozen=True)
class Finding:
    """What was found about one image: its digest, and what is wrong with it."""

    digest: bytes
    problem: str | None


_REHASHING = ContextVar("rehashing", default=False)


@contextmanager
def rehashing() -> Iterator[None]:
    """Within it every scan reads every image, whatever is kept about it.

    For storage whose times can't be trusted: otherwise an image counts as the one that was scanned before if its size,
    its times of change and its inode are the same.
    """
    token = _REHASHING.set(True)
    try:
        yield
    finally:
        _REHASHING.reset(token)


def scan_images(
    indices: np.ndarray,
    images: Versioned,
    inspect: Callable[[int], Finding],
    progress: Progress,
    *,
    width: int = CONTENT_BYTES,
) -> Scan:
    """The scan of these images; those that did not change since they were scanned before are not read.

    A broken image is looked at each time: what was wrong may have been the way to it.

    Args:
        width: How many bytes each finding has.
    """
    wanted = [int(index) for index in indices]
    # One image alone is read as soon as what was kept about it, and a file for each would fill the cache.
    path = _cache_path(wanted, images) if len(wanted) > 1 else None
    versions = versions_of([images.version(index) if path else None for index in wanted])  # before anything is read
    kept = load_kept(path, len(wanted), width) if path and not _REHASHING.get() else None
    known = {} if kept is None else kept.known(versions)
    new = [place for place in range(len(wanted)) if place not in known]
    findings = dict(
        zip(new, _inspect_all([wanted[place] for place in new], inspect, len(known), progress), strict=True)
    )
    broken = {place: finding.problem for place, finding in findings.items() if finding.problem is not None}
    contents = tuple(findings[place].digest if place in findings else known[place] for place in range(len(wanted)))
    if path and new:
        save_kept(path, KeptScan.of(versions, contents, leave_out=list(broken)))
    return Scan(contents, broken)


def forget_scan(indices: np.ndarray, images: Versioned) -> None:
    """Keep no longer what a scan of these images found."""
    with suppress(OSError):
        os.unlink(_cache_path([int(index) for index in indices], images))


def problem_of(content: bytes) -> str | None:
    """What is wrong with an encoded image, or None.

    Files that begin and end as they should pass; only the others are decoded, and Pillow decides.
    """
    if looks_whole(content):
        return None
    try:
        decode(content)
    except DataError as error:
        return str(error)
    return None


def looks_whole(content: bytes) -> bool:
    """Whether it begins and ends as a JPEG, PNG or WebP file does.

    >>> looks_whole(b"RIFF" + (4).to_bytes(4, "little") + b"WEBP"), looks_whole(b"GIF89a")
    (True, False)
    """
    if content.startswith(_JPEG_START):
        # Within image data 0xFF is never followed by 0xD9; some cameras write a few bytes behind the end.
        return _JPEG_END in content[-32:]
    if content.startswith(_PNG_START):
        return content.endswith(_PNG_END)
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return len(content) == int.from_bytes(content[4:8], "little") + 8
    return False


def cache_folder(what: str = "scans") -> str:
    """Where things of a kind are kept: below ``OODOMETER_CACHE``, or the user's cache folder."""
    own = os.environ.get("OODOMETER_CACHE")
    if own:
        return os.path.join(own, what)
    general = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(general, "oodometer", what)


def _inspect_all(
    wanted: list[int], inspect: Callable[[int], Finding], n_known: int, progress: Progress
) -> list[Finding]:
    total = n_known + len(wanted)
    if not wanted:
        progress(total, total)
    chunks = [wanted[start : start + _CHUNK] for start in range(0, len(wanted), _CHUNK)]
    findings: list[Finding] = []
    with ThreadPoolExecutor() as pool:
        try:
            for part in pool.map(lambda chunk: [inspect(index) for index in chunk], chunks):
                findings.extend(part)
                progress(n_known + len(findings), total)
        except BaseException:
            pool.shutdown(cancel_futures=True)  # Ctrl-C must not wait for the rest of an ImageNet
            raise
    return findings


def _cache_path(wanted: list[int], images: Versioned) -> str:
    """The file that keeps the scan of exactly these images, whatever their versions."""
    total = hashlib.blake2b(_FORMAT.encode(), digest_size=16)
    for index in wanted:
        total.update(f"\0{images.name(index)}".encode(errors="surrogateescape"))
    return os.path.join(cache_folder(), f"{total.hexdigest()}.npz")
