"""The classes of a test set: what annotators are told of each, and what it is searched by."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from oodometer.core.errors import DataError
from oodometer.core.labels import LabelSpace
from oodometer.data import addresses
from oodometer.data.imagenet import imagenet, imagenet_names

COLUMNS = ("name", "title", "gloss", "link", "synonyms")

UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
"""Control characters, and those that turn the direction of writing: a name must be what it looks like."""


@dataclass(frozen=True)
class ClassEntry:
    """A class.

    Args:
        name: As the original set calls it.
        title: As people call it; by default the name.
        gloss: What it means, in a sentence.
        link: Where more is said about it.
        synonyms: Words to search it by; by default its title.
    """

    name: str
    title: str = ""
    gloss: str = ""
    link: str = ""
    synonyms: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        if not self.name:
            raise DataError("a class without a name")
        if bad := next((one for one in (self.name, self.title, self.gloss, self.link) if UNSEEN.search(one)), None):
            raise DataError(f"class {self.name!r}: {bad!r} has characters that nobody sees, such as line breaks")
        if self.link and not self.link.startswith(("https://", "http://")):
            raise DataError(f"class {self.name}: its link {self.link!r} is no address of the web")
        object.__setattr__(self, "title", self.title or self.name)
        object.__setattr__(self, "synonyms", self.synonyms or (self.title,))


def read_classes(address: str) -> tuple[ClassEntry, ...]:
    """The classes of a table: ``name``, and maybe ``title``, ``gloss``, ``link``, ``synonyms`` (a | between two)."""
    try:
        text = addresses.read_bytes(address).decode("utf-8-sig")
        rows = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{address}: not a readable CSV file in UTF-8 ({error})") from error
    if not rows or "name" not in rows[0]:
        raise DataError(f"{address}: expected a column 'name' and a row for each class; also {', '.join(COLUMNS[1:])}")
    found = tuple(_entry(row) for row in rows)
    _check_names([one.name for one in found], address)
    return found


def classes_of(space: LabelSpace) -> tuple[ClassEntry, ...]:
    """The classes of a data set, with the names that people use where it has them."""
    called = dict(zip(imagenet().classes, imagenet_names(), strict=True))
    return tuple(ClassEntry(name, called.get(name, name)) for name in space.classes)


def _entry(row: dict[str, str]) -> ClassEntry:
    said = {key: (row.get(key) or "").strip() for key in COLUMNS}
    words = tuple(word.strip() for word in said.pop("synonyms").split("|") if word.strip())
    return ClassEntry(**said, synonyms=words)


def _check_names(names: Sequence[str], address: str) -> None:
    twice = [one for one in set(names) if names.count(one) > 1]
    if twice:
        raise DataError(f"{address}: two classes are named {min(twice)!r}")
