"""Is a release what it was when it was written?"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from oodometer.build.testset.project.offered import check_inside
from oodometer.core.errors import DataError

SUMS = "SHA256SUMS"


@dataclass(frozen=True)
class Verified:
    """What a look at every file found.

    Args:
        n_files: That the checksums name.
        changed: Files with another content.
        missing: Files that are not there.
        more: Files that no checksum names.
    """

    n_files: int
    changed: tuple[str, ...]
    missing: tuple[str, ...]
    more: tuple[str, ...]

    @property
    def is_whole(self) -> bool:
        """Whether all is as it was."""
        return not (self.changed or self.missing or self.more)

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return {
            "files": self.n_files,
            "whole": self.is_whole,
            "changed": list(self.changed),
            "missing": list(self.missing),
            "more": list(self.more),
        }

    def __str__(self) -> str:
        if self.is_whole:
            return f"{self.n_files} files are as they were released"
        parts = [(self.changed, "changed"), (self.missing, "missing"), (self.more, "that nobody released")]
        return "; ".join(f"{len(files)} {word}, such as {files[0]}" for files, word in parts if files)


def sums_text(sums: Mapping[str, str]) -> str:
    r"""Checksums as `sha256sum --check` reads them.

    >>> sums_text({"b": "22", "a": "11"})
    '11  a\n22  b\n'
    """
    return "".join(f"{sums[path]}  {path}\n" for path in sorted(sums))


def verify_release(folder: str | Path) -> Verified:
    """Look at every file of a release."""
    place = Path(folder)
    try:
        lines = (place / SUMS).read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{place}: no release, or one without its {SUMS} ({error})") from error
    wanted: dict[str, str] = {}
    for line in lines:
        digest, gap, path = line.partition("  ")
        if not gap:
            raise DataError(f"{place / SUMS}: {line[:80]!r} is no checksum and path")
        check_inside(str(place), path, SUMS)
        wanted[path] = digest
    there = {str(file.relative_to(place)) for file in place.rglob("*") if file.is_file()} - {SUMS}
    changed = [path for path in wanted if path in there and _digest(place / path) != wanted[path]]
    return Verified(
        len(wanted), tuple(sorted(changed)), tuple(sorted(set(wanted) - there)), tuple(sorted(there - set(wanted)))
    )


def _digest(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
