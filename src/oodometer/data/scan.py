"""One pass over the contents of a data set: digests, and the broken files found before hours are spent."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from oodometer.core.dataset import Progress, Scan
from oodometer.core.digests import CONTENT_BYTES
from oodometer.core.errors import DataError
from oodometer.data.decode import decode

_FORMAT = "oodometer scan 1"
_CHUNK = 64
_JPEG_START, _JPEG_END = b"\xff\xd8\xff", b"\xff\xd9"
_PNG_START, _PNG_END = b"\x89PNG\r\n\x1a\n", b"\0\0\0\0IEND\xaeB`\x82"


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
    """What was found about one image: its digest, what is wrong with it, and whether that will still hold later."""

    digest: bytes
    problem: str | None
    lasting: bool = True


def scan_images(indices: np.ndarray, images: Versioned, inspect: Callable[[int], Finding], progress: Progress) -> Scan:
    """The scan of these images, from the cache if none of them changed since."""
    wanted = [int(index) for index in indices]
    # One image alone is read as soon as what was kept about it, and a file for each would fill the cache.
    path = _cache_path(wanted, images) if len(wanted) > 1 else None
    kept = _load(path, len(wanted)) if path else None
    if kept is not None:
        progress(len(wanted), len(wanted))
        return kept
    findings = _inspect_all(wanted, inspect, progress)
    broken = {place: finding.problem for place, finding in enumerate(findings) if finding.problem is not None}
    result = Scan(tuple(finding.digest for finding in findings), broken)
    if path and all(finding.lasting for finding in findings):
        _save(path, result)
    return result


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


def _inspect_all(wanted: list[int], inspect: Callable[[int], Finding], progress: Progress) -> list[Finding]:
    chunks = [wanted[start : start + _CHUNK] for start in range(0, len(wanted), _CHUNK)]
    findings: list[Finding] = []
    with ThreadPoolExecutor() as pool:
        try:
            for part in pool.map(lambda chunk: [inspect(index) for index in chunk], chunks):
                findings.extend(part)
                progress(len(findings), len(wanted))
        except BaseException:
            pool.shutdown(cancel_futures=True)  # Ctrl-C must not wait for the rest of an ImageNet
            raise
    return findings


def _cache_path(wanted: list[int], images: Versioned) -> str | None:
    """The file that keeps the scan of exactly these images in these versions; None if a version is not known."""
    total = hashlib.blake2b(_FORMAT.encode(), digest_size=16)
    for index in wanted:
        version = images.version(index)
        if version is None:
            return None
        total.update(f"\0{images.name(index)}\0{version}".encode(errors="surrogateescape"))
    return os.path.join(cache_folder(), f"{total.hexdigest()}.npz")


def _load(path: str, n: int) -> Scan | None:
    """The kept scan; None if there is none or it is damaged."""
    try:
        # Opened here, because np.load leaves a damaged file open.
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as kept:
            contents, positions, problems = kept["contents"], kept["positions"], kept["problems"]
    # TypeError: an array that is no archive.
    except (OSError, ValueError, TypeError, KeyError, EOFError, zipfile.BadZipFile, zlib.error):
        return None
    if contents.shape != (n, CONTENT_BYTES) or contents.dtype != np.uint8 or positions.shape != problems.shape:
        return None
    broken = dict(zip(positions.tolist(), problems.tolist(), strict=True))
    return Scan(tuple(row.tobytes() for row in contents), broken)


def _save(path: str, result: Scan) -> None:
    """Keep the scan, written aside and renamed; a cache that can't be written is done without."""
    contents = np.frombuffer(b"".join(result.contents), dtype=np.uint8).reshape(-1, CONTENT_BYTES)
    positions = np.array(list(result.broken), dtype=np.int64)
    problems = np.array(list(result.broken.values()), dtype=np.str_)
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        handle, aside = tempfile.mkstemp(dir=os.path.dirname(path), suffix=".part")
    except OSError:
        return
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez(file, contents=contents, positions=positions, problems=problems)
        os.replace(aside, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(aside)
