"""``predictions:`` a file of logits or of the best classes, computed anywhere else."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from oodometer.core.digests import content_digest
from oodometer.core.errors import DataError, UsageError, did_you_mean
from oodometer.core.limits import MAX_CLASSES
from oodometer.core.stored_answers import StoredAnswers
from oodometer.data.array_file import names_in_npz, read_npy, read_npz, values_in
from oodometer.data.text_file import read_lines
from oodometer.models.card import Declared, card_beside

Values = Literal["logits", "probabilities", "classes"]
FRACTION = re.compile(r"[+-]?(\d+\.\d*|\.\d+|\d+(?=[eE]))([eE][+-]?\d+)?")
"""A number with a point or an exponent."""


def load_predictions(rest: str, declared: Declared, *, allow_pickle: bool = False) -> StoredAnswers:  # noqa: ARG001
    """The answers that ``predictions:rest`` names; arrays are never unpickled, whatever is allowed elsewhere."""
    return read_predictions(rest, declared=declared.over(card_beside(Path(rest))))


def read_predictions(
    path: str,
    *,
    ids: str | tuple[str, ...] | None = None,
    in_order_of: tuple[str, ...] | None = None,
    values: Values | None = None,
    declared: Declared | None = None,
) -> StoredAnswers:
    """The answers in a file, with the ids of the images they are about.

    Args:
        path: ``.npy`` (N, K) with the ids beside it (``STEM.ids.txt``, one a line); ``.npz`` with ``ids`` and one of
            ``logits``, ``probabilities``, ``classes``; or ``.csv`` with ``id`` and the best classes in order, or one
            column of logits per class.
        ids: Other ids, or a file of them.
        in_order_of: The ids of the rows where neither ``ids`` nor the file nor one beside it says them.
        values: What the numbers are. By default integers are classes and other numbers logits.
        declared: Name and card.
    """
    said = declared or Declared()
    file = Path(path)
    if not file.is_file():
        raise DataError(f"{path}: no such file of predictions")
    if values is not None and values not in get_args(Values):
        raise UsageError(f"no kind of values named {values!r}{did_you_mean(values, get_args(Values))}")
    given = read_lines(Path(ids), f"the ids of {file.name}") if isinstance(ids, str) else ids
    names, array, kind = _read(file, _Ids(given, in_order_of), values)
    checked, stored = _as_answers(array, kind, path)
    return StoredAnswers(
        name=said.name or file.stem,
        digest=content_digest(file.read_bytes()).hex(),
        ids=names,
        values=checked,
        kind=stored,
        card=said.card(),
    )


@dataclass(frozen=True)
class _Ids:
    """What is known of the ids besides what the file says: something else instead, or something where it is silent."""

    instead: tuple[str, ...] | None
    otherwise: tuple[str, ...] | None


def _read(file: Path, ids: _Ids, values: Values | None) -> tuple[tuple[str, ...], np.ndarray, Values]:
    suffix = file.suffix.lower()
    if suffix == ".csv":
        names, array, kind = _read_csv(file, values)
        return ids.instead or names, array, kind
    if suffix == ".npz":
        return _read_npz(file, ids, values)
    if suffix != ".npy":
        raise DataError(f"{file}: expected .npy, .npz or .csv, not {suffix or 'a file without an ending'}")
    array = read_npy(file)
    default: Values = "classes" if np.issubdtype(array.dtype, np.integer) else "logits"
    return ids.instead or _ids_beside(file, ids.otherwise), array, values or default


def _ids_beside(file: Path, otherwise: tuple[str, ...] | None) -> tuple[str, ...]:
    beside = file.with_suffix(".ids.txt")
    if otherwise is not None and not beside.exists():
        return otherwise
    return read_lines(beside, f"the ids of {file.name}")


def _read_npz(file: Path, ids: _Ids, values: Values | None) -> tuple[tuple[str, ...], np.ndarray, Values]:
    inside = names_in_npz(file)
    kinds = [kind for kind in get_args(Values) if kind in inside]
    known = ids.instead or (None if "ids" in inside else ids.otherwise)
    if len(kinds) != 1 or ("ids" not in inside and known is None):
        listed = ", ".join(name if name.isprintable() else repr(name) for name in inside)
        raise DataError(f"{file}: expected the arrays ids and one of {', '.join(get_args(Values))}; it has {listed}")
    if known is not None:
        return known, read_npz(file, kinds)[0], values or kinds[0]
    names, array = read_npz(file, ["ids", *kinds])
    try:
        return tuple(_text(name) for name in values_in(names, str(file))), array, values or kinds[0]
    except UnicodeDecodeError as error:
        raise DataError(f"{file}: an id is not a text ({error})") from error


def _text(name: object) -> str:
    return name.decode() if isinstance(name, bytes) else str(name)


def _read_csv(file: Path, values: Values | None) -> tuple[tuple[str, ...], np.ndarray, Values]:
    try:
        reader = csv.reader(read_lines(file, "ids and classes"))
        header = next(reader, [])
        rows = [row for row in reader if row]
    except csv.Error as error:
        raise DataError(f"{file}: not a table ({error})") from error
    if header[:1] != ["id"] or len(header) < 2 or any(len(row) != len(header) for row in rows):
        raise DataError(
            f"{file}: expected a first column id and then the best classes in order, or the logits, in every line"
        )
    cells = [row[1:] for row in rows]
    # As in arrays: whole numbers are classes, others are logits, unless somebody says what they are.
    kind: Values = values or ("logits" if _has_fractions(cells) else "classes")
    array = _classes_in(cells, file) if kind == "classes" else _numbers_in(cells, file)
    return tuple(row[0] for row in rows), array.reshape(len(rows), len(header) - 1), kind


def _has_fractions(cells: list[list[str]]) -> bool:
    """Whether some cell is a number that is written as no whole one."""
    return any(FRACTION.fullmatch(cell.strip()) for row in cells for cell in row)


def _classes_in(cells: list[list[str]], file: Path) -> np.ndarray:
    try:
        return np.array([[int(cell) for cell in row] for row in cells], dtype=np.int64)
    except (ValueError, OverflowError) as error:
        raise DataError(f"{file}: a class is not a whole number, or too large a one ({error})") from error


def _numbers_in(cells: list[list[str]], file: Path) -> np.ndarray:
    try:
        return np.array([[float(cell) for cell in row] for row in cells], dtype=np.float64)
    except ValueError as error:
        raise DataError(f"{file}: a logit is not a number ({error})") from error


def _as_answers(array: np.ndarray, kind: Values, path: str) -> tuple[np.ndarray, Literal["logits", "classes"]]:
    if array.ndim == 1 and kind == "classes":
        array = array[:, None]
    if array.ndim != 2 or array.size == 0:
        raise DataError(f"{path}: expected one row per image and one column per class, not shape {array.shape}")
    if kind == "classes":
        if not np.issubdtype(array.dtype, np.integer) or array.min() < 0:
            raise DataError(f"{path}: classes must be whole numbers from 0")
        if (largest := int(array.max())) >= MAX_CLASSES:
            raise DataError(f"{path}: the class {largest} is too large; they are numbered from 0")
        return array.astype(np.int64), "classes"
    if not np.issubdtype(array.dtype, np.number):
        raise DataError(f"{path}: expected numbers, not {array.dtype}")
    if array.shape[1] > MAX_CLASSES:
        raise DataError(f"{path}: {array.shape[1]:,} columns; expected one per class")
    if not np.isfinite(array).all():
        raise DataError(f"{path}: NaN or infinite {kind}")
    numbers = array.astype(np.float64)
    looks_like_shares = bool(numbers.min() >= 0 and np.allclose(numbers.sum(axis=1), 1, atol=1e-3))
    if kind == "logits" and looks_like_shares:
        raise DataError(f"{path}: every row sums to 1, so these are probabilities: say so (--values probabilities)")
    if kind == "probabilities":
        if not looks_like_shares:
            raise DataError(f"{path}: rows of probabilities must sum to 1")
        # The logarithm of a probability is a logit: softmax gives the probability back.
        numbers = np.log(np.maximum(numbers, np.finfo(np.float32).tiny))
    if np.abs(numbers).max() > np.finfo(np.float32).max:
        raise DataError(f"{path}: a logit of {np.abs(numbers).max():.3g} is too large")
    return numbers.astype(np.float32), "logits"
