"""What people answered, from a table: an image and an answer a line, of one person or of several."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from oodometer.core.errors import DataError, did_you_mean
from oodometer.core.reading import check_regular, check_texts, reading

IMAGE_COLUMNS = ("image", "id")
NOBODY = "people"
"""Who answered, where the table names no person."""
NO_CLASS = "-"
"""The answer that an image shows none of the classes, which is wrong."""

PeopleAnswers = Mapping[str, Mapping[str, str]]
"""Person to image to answer."""


def read_people_answers(path: str) -> PeopleAnswers:
    """The answers in a CSV file; see `parse_people_answers`."""
    with reading(path, "table of people's answers"):
        check_regular(path)
        check_texts((Path(path).name,), "the table")
        return parse_people_answers(Path(path).read_text(encoding="utf-8-sig"), source=Path(path).name)


def parse_people_answers(text: str, *, source: str) -> PeopleAnswers:
    r"""What each person answered about each image, from a long or a wide table.

    Long: ``image``, ``answer``, and ``person`` where there are several. Wide: ``image``, and a column for each person.
    Empty cells are images that a person was not asked about.

    >>> parse_people_answers("image,answer\na.png,cat\nb.png,dog\n", source="t.csv")
    {'people': {'a.png': 'cat', 'b.png': 'dog'}}
    >>> parse_people_answers("image,Ann,Ben\na.png,cat,\n", source="t.csv")
    {'Ann': {'a.png': 'cat'}}
    """
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    header = [name.strip() for name in reader.fieldnames or []]
    reader.fieldnames = header
    image = next((name for name in IMAGE_COLUMNS if name in header), None)
    if image is None or len(header) < 2:
        raise DataError(
            f"{source}: expected the columns image,answer (and person where there are several), or image and a column "
            "for each person"
        )
    twice = [name for name in header if header.count(name) > 1]
    if twice:
        raise DataError(f"{source}: two columns are named {twice[0]!r}")
    found: dict[str, dict[str, str]] = {}
    for at, person, which, answer in _cells(reader, source, image):
        if not which or not person:
            raise DataError(f"{source}, line {at}: {answer!r} belongs to no {'person' if which else 'image'}")
        if found.setdefault(person, {}).setdefault(which, answer) != answer:
            raise DataError(f"{source}, line {at}: a second answer of {person} to {which}")
    if not found:
        raise DataError(f"{source}: no answers in it")
    return found


def _cells(reader: csv.DictReader[str], source: str, image: str) -> Iterator[tuple[int, str, str, str]]:
    """Line, person, image and answer."""
    is_long = "answer" in (reader.fieldnames or ())
    for row in reader:
        if any(row.pop(None, None) or ()):
            raise DataError(f"{source}, line {reader.line_num}: more cells than the header has columns")
        which = (row[image] or "").strip()
        people = {(row.get("person") or NOBODY).strip(): row["answer"]} if is_long else row
        for person, value in people.items():
            if person != image and (answer := (value or "").strip()):
                yield reader.line_num, person, which, answer


def judged(answers: Sequence[str | None], truth: Sequence[int], names: Mapping[str, int]) -> np.ndarray:
    """Whether each answer names the true class of its image, (N,) bool; an answer that is None is not.

    Args:
        truth: The number of the true class of each image.
        names: All that a class may be called, without regard to capitals and underscores, to its number; of -1 by those
            names that stand for several.

    >>> judged(["Sea_Lion", "cat", "-", None], [1, 1, 1, 1], {"sea lion": 1, "cat": 0}).tolist()
    [True, False, False, False]
    """
    places = {answer: _place(answer, names) for answer in {one for one in answers if one is not None}}
    return np.array([one is not None and places[one] == true for one, true in zip(answers, truth, strict=True)])


def plain(name: str) -> str:
    """A name as it is compared.

    >>> plain(" Sea_Lion")
    'sea lion'
    """
    return " ".join(name.replace("_", " ").casefold().split())


def _place(answer: str, names: Mapping[str, int]) -> int:
    """The number of the class that an answer names; -2 for none of them."""
    if answer == NO_CLASS:
        return -2
    place = names.get(plain(answer))
    if place is None:
        hint = did_you_mean(plain(answer), names)
        raise DataError(f"people's answers: {answer!r} is no class of these data ({NO_CLASS} is none of them){hint}")
    if place == -1:
        raise DataError(f"people's answers: {answer!r} stands for several classes; write their ids or numbers")
    return place
