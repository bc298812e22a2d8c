"""A file of true classes: a CSV table with or without ids, a text with one a line, or a ``.npy`` array."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from oodometer.core.errors import DataError, did_you_mean
from oodometer.core.labels import LabelSpace
from oodometer.core.limits import MAX_CLASSES
from oodometer.core.true_labels import TrueLabels
from oodometer.data.array_file import read_npy
from oodometer.data.text_file import read_lines

ID_COLUMNS = ("id", "filename")


def read_labels(path: str, *, classes: LabelSpace | None = None) -> TrueLabels:
    """The true classes that a file holds.

    Args:
        path: ``.csv`` with the columns ``id`` (or ``filename``) and ``label``, ``.npy``, or a text with one a line.
        classes: What they are; then labels may be names of classes too.
    """
    suffix = Path(path).suffix.lower()
    if suffix == ".npy":
        return _checked(read_npy(Path(path)), None, classes, path)
    if suffix != ".csv":
        lines = read_lines(Path(path), "the true classes")
        return _checked(_indices(lines, classes, path, first=1), None, classes, path)
    ids, texts = _read_table(Path(path))
    return _checked(_indices(texts, classes, path, first=2), ids, classes, path)


def _read_table(file: Path) -> tuple[tuple[str, ...] | None, list[str]]:
    try:
        rows = [row for row in csv.reader(read_lines(file, "ids and labels")) if row]
    except csv.Error as error:
        raise DataError(f"{file}: not a table ({error})") from error
    header = [name.strip().lower() for name in rows[0]] if rows else []
    if "label" not in header:
        raise DataError(f"{file}: expected a first line with the columns id (or filename) and label")
    short = next((place for place, row in enumerate(rows, start=1) if len(row) != len(header)), None)
    if short is not None:
        raise DataError(f"{file}: line {short} has {len(rows[short - 1])} columns instead of {len(header)}")
    column = next((header.index(name) for name in ID_COLUMNS if name in header), None)
    if column is None and len(header) > 1:
        raise DataError(f"{file}: whose labels are these? Call the column of the images' ids id or filename")
    ids = None if column is None else tuple(row[column] for row in rows[1:])
    return ids, [row[header.index("label")] for row in rows[1:]]


def _indices(texts: Sequence[str], classes: LabelSpace | None, path: str, *, first: int) -> np.ndarray:
    """Names of classes, if all of them are such, or numbers; nothing is no label."""
    written = [text.strip() for text in texts]
    places = {} if classes is None else {name: index for index, name in enumerate(classes.classes)}
    if places and all(text in places for text in written if text):
        return np.array([places[text] if text else -1 for text in written], dtype=np.int64)
    numbers = [_number(text) for text in written]
    for line, (text, number) in enumerate(zip(written, numbers, strict=True), start=first):
        if number is None and text not in places:
            raise DataError(f"{path}: line {line} has the label {text!r}, {_what_to_do(text, places)}")
    if None in numbers:
        raise DataError(f"{path}: some labels are names of classes and some numbers; write all in one way")
    return np.array(numbers, dtype=np.int64)


def _number(text: str) -> int | None:
    """The number of a class, as far as it can be one; None otherwise."""
    if not text:
        return -1
    digits = text.removeprefix("-")
    return int(text) if digits.isascii() and digits.isdigit() and len(digits) < 18 else None


def _what_to_do(text: str, places: dict[str, int]) -> str:
    if text.removeprefix("-").isdigit():
        return f"which is too large; classes are numbered from 0 to {MAX_CLASSES - 1} at most"
    if places:
        return f"which is none of the {len(places)} classes{did_you_mean(text, places)}"
    return "which is not a whole number; labels may be names where the classes are named (--classes FILE)"


def _checked(values: np.ndarray, ids: tuple[str, ...] | None, classes: LabelSpace | None, path: str) -> TrueLabels:
    try:
        labels = TrueLabels(values, ids, classes)
    except DataError as error:
        raise DataError(f"{path}: {error}") from error
    low, high = int(values.min()), int(values.max())
    limit = MAX_CLASSES if classes is None else len(classes)
    if low < -1 or high >= limit:
        bad = low if low < -1 else high
        raise DataError(f"{path}: the label {bad} is outside the classes 0 to {limit - 1} (-1: no label)")
    return labels
