"""One cell as it is in a store, at one look."""

from __future__ import annotations

from typing import NamedTuple

from oodometer.store.cells import Cell
from oodometer.store.checked import Checked
from oodometer.store.files import Signature
from oodometer.store.folder import PartFiles, Range
from oodometer.store.store import Store


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

    def unchanged(self, store: Store) -> bool:
        """Whether its files are those of the last look."""
        if self.rows is None or self.of_rows is None or self.of_folder is None:
            return False
        has = store.files.has
        return (
            has(self.rows.path, self.of_rows)
            and has(self.rows.folder, self.of_folder)
            and (self.logits is None or self.of_logits is None or has(self.logits.path, self.of_logits))
        )
