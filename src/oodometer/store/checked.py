"""Files that carry the digest of what they hold in their names: ``rows.0f3a...parquet``.

The digest is of the content and of the place, so that a file that was cut, flipped, emptied, or that is another cell's,
is noticed before it is read: it is damaged, never a number.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from typing import NamedTuple

from oodometer.core.errors import StoreError
from oodometer.store.files import Batch, Files

NAME = re.compile(r"(?P<stem>.+)\.(?P<check>[0-9a-f]{16})\.(?P<ending>json|parquet)")


class DamagedError(StoreError):
    """A file of a store that does not hold what it should."""


class Checked(NamedTuple):
    """The name of a file: what it is, the digest of its content, and the kind of file."""

    folder: str
    stem: str
    check: str
    ending: str

    @property
    def path(self) -> str:
        """Relative to the store; the folder may be the store's own."""
        return f"{self.folder}/{self.name}" if self.folder else self.name

    @property
    def name(self) -> str:
        """Without the folder."""
        return f"{self.stem}.{self.check}.{self.ending}"


def parse_name(folder: str, name: str) -> Checked | None:
    """What the name of a file says; None where it is of another kind.

    >>> parse_name("cells/ab", "rows.0123456789abcdef.parquet").stem
    'rows'
    """
    match = NAME.fullmatch(name)
    return Checked(folder, match["stem"], match["check"], match["ending"]) if match else None


def check_of(folder: str, stem: str, content: bytes) -> str:
    """The digest of a file's place and content."""
    return _check_of_pieces(folder, stem, [content])


def _check_of_pieces(folder: str, stem: str, pieces: Iterable[bytes]) -> str:
    digest = hashlib.blake2b(f"{folder}/{stem}\0".encode(), digest_size=8)
    for piece in pieces:
        digest.update(piece)
    return digest.hexdigest()


def named_for(folder: str, stem: str, ending: str, content: bytes) -> Checked:
    """The name that this content has at this place."""
    return Checked(folder, stem, check_of(folder, stem, content), ending)


def put(to: Files | Batch, folder: str, stem: str, ending: str, content: bytes) -> Checked:
    """Write a file under its name."""
    name = named_for(folder, stem, ending, content)
    to.write(name.path, content) if isinstance(to, Files) else to.add(name.path, content)
    return name


def listed(files: Files, folder: str) -> list[Checked]:
    """The files of a folder, by name."""
    return [found for name in files.names(folder) if (found := parse_name(folder, name))]


def of_stem(names: Iterable[Checked], stem: str) -> list[Checked]:
    """Those that are the file of that name; several where two runs wrote it with other last bits."""
    return [name for name in names if name.stem == stem]


def read_checked(files: Files, name: Checked) -> bytes:
    """The content of a file, if it is what its name says.

    Raises:
        FileNotFoundError: There is no such file.
        DamagedError: It holds something else.
    """
    content = files.read(name.path)
    if check_of(name.folder, name.stem, content) != name.check:
        raise DamagedError(f"{files.locate(name.path)}: damaged; run again to replace it")
    return content


def is_whole(files: Files, name: Checked) -> bool:
    """Whether a file is there and what its name says; for large ones, which are not wanted in memory."""
    try:
        return _check_of_pieces(name.folder, name.stem, files.pieces(name.path)) == name.check
    except FileNotFoundError:
        return False


def first_good(files: Files, names: Iterable[Checked]) -> tuple[Checked, bytes] | None:
    """The first of these files that is there and whole, with its content; None where none is."""
    for name in names:
        try:
            return name, read_checked(files, name)
        except (FileNotFoundError, DamagedError):
            continue
    return None
