"""The table of images to label: which, with what probability each was chosen, and room for the label."""

from __future__ import annotations

import csv
import io
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from oodometer.core.errors import DataError, UsageError, did_you_mean
from oodometer.core.reading import MOST_DIGITS, check_regular, reading
from oodometer.document.comma_separated import original, safe

NONE = "none of these"
"""In place of a label: the image shows no class that the models know, and every answer to it is wrong."""

IN_SHORT = "none"
"""The same, as people write it; but a class may be called so."""

COLUMNS = ("id", "label", "inclusion_probability", "design", "pool_size", "pool")
ID_NAMES = ("id", "filename", "image")
UNIFORM, NEYMAN = "uniform", "neyman"


@dataclass(frozen=True)
class Design:
    """How images were chosen.

    Args:
        name: ``uniform`` or ``neyman``.
        pool_size: From how many.
        pool: The digest of these, shortened.
    """

    name: str
    pool_size: int
    pool: str


@dataclass(frozen=True)
class FewLabels:
    """The labels of some images of a set.

    Args:
        source: The file, for messages.
        ids: Of the images that have a label.
        labels: What was written: the name or number of a class, or `NONE`.
        probabilities: With which each image was chosen; None of a plain random sample.
        design: None where the file does not say.
        n_chosen: How many images were to be labelled; more than these, where some have no label yet.
    """

    source: str
    ids: tuple[str, ...]
    labels: tuple[str, ...]
    probabilities: tuple[float, ...] | None = None
    design: Design | None = None
    n_chosen: int = 0

    def __post_init__(self) -> None:
        twice = [one for one, times in Counter(self.ids).items() if times > 1]
        if twice:
            raise DataError(f"{self.source}: the image {twice[0]!r} is there twice")
        if not self.ids:
            raise DataError(f"{self.source}: no image has a label yet; write one into the column label of each")


def words_for_none(classes: Iterable[str]) -> tuple[str, ...]:
    """What means in a label that an image shows none of these classes; an error where it is the name of one.

    >>> words_for_none(["cat", "dog"]), words_for_none(["cat", "None"])
    (('none of these', 'none'), ('none of these',))
    """
    called = {name.lower() for name in classes}
    if NONE in called:
        raise DataError(f"a class is called {NONE!r}, which in labels stands for no class; give it another name")
    return (NONE,) if IN_SHORT in called else (NONE, IN_SHORT)


def table_text(
    ids: Sequence[str],
    labels: Sequence[str],
    probabilities: Sequence[float],
    design: Design,
    *,
    more: Mapping[str, Sequence[str]] | None = None,
) -> str:
    """The table as CSV; what is the same in every row stands in every row, so that no program loses it."""
    further = dict(more or {})
    same = (design.name, design.pool_size, design.pool)
    rows = [
        (one, label, repr(float(chance)), *same, *(values[at] for values in further.values()))
        for at, (one, label, chance) in enumerate(zip(ids, labels, probabilities, strict=True))
    ]
    return comma_separated([(*COLUMNS, *further), *rows])


def comma_separated(rows: Sequence[Sequence[object]]) -> str:
    """Rows as CSV that a spreadsheet may open: what strangers named is text in it, whatever it begins with."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows([safe(value) if isinstance(value, str) else value for value in row] for row in rows)
    return out.getvalue()


def read_table(path: str | Path) -> FewLabels:
    """The labels in a table that `table_text` wrote, or in any CSV with the columns id and label.

    Rows without a label are images that nobody labelled yet.
    """
    rows, header = _rows(path)
    column = next((name for name in ID_NAMES if name in header), None)
    if column is None or "label" not in header:
        raise DataError(f"{path}: expected the columns id and label, found {', '.join(header) or 'nothing'}")
    chosen = [row for row in rows if row[column].strip()]
    labelled = [row for row in chosen if row["label"].strip()]
    return FewLabels(
        source=str(path),
        ids=tuple(original(row[column].strip()) for row in labelled),
        labels=tuple(original(row["label"].strip()) for row in labelled),
        probabilities=probabilities_in(path, labelled),
        design=design_in(path, chosen),
        n_chosen=len(chosen),
    )


def _rows(path: str | Path) -> tuple[list[dict[str, str]], list[str]]:
    with reading(str(path), "table of labels"):
        check_regular(path, todo="give the table with the labels")
        text = Path(path).read_text("utf-8-sig")
        found = [row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if row]
    header = [name.strip().lower() for name in found[0]] if found else []
    for number, row in enumerate(found[1:], start=2):
        if len(row) != len(header):
            raise DataError(f"{path}: line {number} has {len(row)} columns instead of {len(header)}")
    return [dict(zip(header, row, strict=True)) for row in found[1:]], header


def probabilities_in(path: str | Path, rows: Sequence[Mapping[str, str]]) -> tuple[float, ...] | None:
    """The probability with which each image was chosen; None where no row has one."""
    texts = [str(row.get(COLUMNS[2], "")).strip() for row in rows]
    if not any(texts):
        return None
    return tuple(_probability(path, text) for text in texts)


def _probability(path: str | Path, text: str) -> float:
    try:
        chance = float(text)
    except ValueError:
        chance = math.nan
    if not 0 < chance <= 1:
        raise DataError(f"{path}: {text!r} is no {COLUMNS[2]}; leave the column as 'oodometer label' wrote it")
    return chance


def design_in(path: str | Path, rows: Sequence[Mapping[str, str]]) -> Design | None:
    """How the images of these rows were chosen, where they say so, all of them alike."""
    said = {tuple(str(row.get(name, "")).strip() for name in COLUMNS[3:]) for row in rows}
    if len(said) > 1:
        raise DataError(f"{path}: its images were chosen in several ways; keep the labels of each choice in a file")
    name, size, pool = next(iter(said), ("", "", ""))
    if not name:
        return None
    is_number = size.isascii() and size.isdigit() and len(size) <= MOST_DIGITS
    if name not in (UNIFORM, NEYMAN) or not is_number:
        raise DataError(f"{path}: no design {name!r} from {size!r} images{did_you_mean(name, (UNIFORM, NEYMAN))}")
    return Design(name, int(size), pool)


def write_text(path: str | Path, text: str) -> None:
    """Write a file of the user's."""
    try:
        Path(path).write_text(text, "utf-8", newline="")
    except OSError as error:
        raise UsageError(f"{path}: can't be written ({error.strerror})") from error
