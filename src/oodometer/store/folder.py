"""What lies in the folder of a cell: its description, parts as they come in, and all rows once it is complete."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from oodometer.store.checked import Checked, listed, of_stem, parse_name
from oodometer.store.files import Files

PARTS, FINDINGS = "parts", "findings"
CELL, ROWS, LOGITS, WARNINGS = "cell", "rows", "logits", "warnings"
RANGE = re.compile(r"(\d{9,})-(\d{9,})")
Range = tuple[int, int]


def folder_of(key: str) -> str:
    """Where a cell lies."""
    return f"cells/{key}"


def range_stem(start: int, stop: int) -> str:
    """What the part of positions start to stop is called.

    >>> range_stem(0, 256)
    '000000000-000000256'
    """
    return f"{start:09d}-{stop:09d}"


@dataclass(frozen=True)
class PartFiles:
    """The files of one range of positions."""

    start: int
    stop: int
    rows: tuple[Checked, ...]
    logits: tuple[Checked, ...]


@dataclass(frozen=True)
class CellFolder:
    """The names of a cell's files, at one look; ``has_parts_folder`` also where no part is in it (yet)."""

    key: str
    files: tuple[Checked, ...]
    parts: tuple[PartFiles, ...]
    has_parts_folder: bool

    def of(self, stem: str) -> list[Checked]:
        """Those of a name; several where two runs wrote it with other last bits."""
        return of_stem(self.files, stem)

    @cached_property
    def ranges(self) -> list[PartFiles]:
        """The parts, in order and without overlap: of those that overlap, the one that starts first."""
        return without_overlap(self.parts)

    @cached_property
    def ranges_with_logits(self) -> list[PartFiles]:
        """The same of parts that have logits."""
        return without_overlap(part for part in self.parts if part.logits)


def look_into(files: Files, key: str) -> CellFolder:
    """What lies in the folder of a cell."""
    folder = folder_of(key)
    names = files.names(folder)
    own = tuple(name for text in names if (name := parse_name(folder, text)))
    parts = _parts(listed(files, f"{folder}/{PARTS}")) if PARTS in names else ()
    return CellFolder(key, own, parts, PARTS in names)


def _parts(names: Iterable[Checked]) -> tuple[PartFiles, ...]:
    rows: dict[Range, list[Checked]] = {}
    logits: dict[Range, list[Checked]] = {}
    for name in names:
        match = RANGE.match(name.stem)
        if match is None or name.stem not in (match[0], f"{match[0]}.{LOGITS}"):
            continue
        of = rows if name.stem == match[0] else logits
        of.setdefault((int(match[1]), int(match[2])), []).append(name)
    return tuple(PartFiles(*where, tuple(rows[where]), tuple(logits.get(where, ()))) for where in sorted(rows))


def without_overlap(parts: Iterable[PartFiles]) -> list[PartFiles]:
    """Of parts that overlap, the one that starts first."""
    kept: list[PartFiles] = []
    for part in sorted(parts, key=lambda part: (part.start, part.stop)):
        if not kept or part.start >= kept[-1].stop:
            kept.append(part)
    return kept
