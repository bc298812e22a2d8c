"""What lies in the folder of a cell: its description, parts as they come in, and all rows once it is complete.

An `Entry` is the cell as it is in a store at one look.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from oodometer.store.cells import Cell
from oodometer.store.checked import Checked, listed, of_stem, parse_name
from oodometer.store.files import Files, Signature

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


class Entry(NamedTuple):  # a tuple, because a large store has many thousands of them
    """One cell as it is in the store.

    Args:
        rows: The file of all its rows, once it is complete; None before.
        logits: The file of all its logits, where they were kept.
        of_rows, of_logits, of_folder: Signatures; None where there is no file, or where they can't be told.
        parts: Before it is complete, the parts that are there and whole, in order and without overlap.
        parts_with_logits: The same of parts with logits, which may be added to a complete cell too.
        n_rows, n, top1, top5: All rows; the labelled ones; those of them that are right, and right among five.
    """

    cell: Cell
    rows: Checked | None
    logits: Checked | None
    of_rows: Signature | None
    of_logits: Signature | None
    of_folder: Signature | None
    parts: tuple[PartFiles, ...]
    parts_with_logits: tuple[PartFiles, ...]
    n_rows: int
    n: int
    top1: int
    top5: int

    @property
    def complete(self) -> bool:
        """Whether all of it is done."""
        return self.rows is not None

    @property
    def has_logits(self) -> bool:
        """Whether all logits were kept."""
        return self.logits is not None

    @property
    def logits_of_all_rows(self) -> bool:
        """Whether there are logits wherever there are rows, of an unfinished cell too."""
        return self.covered(keep_logits=True) == self.covered(keep_logits=False)

    @property
    def files(self) -> tuple[Checked, ...]:
        """The files of its rows; none of a cell whose parts are judged together once all are there."""
        if self.rows is not None:
            return (self.rows,)
        return () if self.cell.n_units is not None else tuple(part.rows[0] for part in self.parts)

    def covered(self, *, keep_logits: bool) -> list[Range]:
        """The ranges of positions that need no more work, in order and without overlap."""
        if self.complete and (self.has_logits or not keep_logits):
            return [(0, self.cell.n_images)]
        return [(part.start, part.stop) for part in (self.parts_with_logits if keep_logits else self.parts)]

    def unchanged(self, files: Files) -> bool:
        """Whether its files are those of the last look."""
        if self.rows is None or self.of_rows is None or self.of_folder is None:
            return False
        has = files.has
        return (
            has(self.rows.path, self.of_rows)
            and has(self.rows.folder, self.of_folder)
            and (self.logits is None or self.of_logits is None or has(self.logits.path, self.of_logits))
        )
