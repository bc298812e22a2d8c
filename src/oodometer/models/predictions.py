"""``predictions:`` a file of logits or of the best classes, computed anywhere else."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from oodometer.core.digests import content_digest
from oodometer.core.errors import DataError, UsageError, did_you_mean
from oodometer.core.stored_answers import StoredAnswers
from oodometer.models.card import Declared, read_card

Values = Literal["logits", "probabilities", "classes"]


def load_predictions(rest: str, declared: Declared, *, allow_pickle: bool = False) -> StoredAnswers:  # noqa: ARG001
    """The answers that ``predictions:rest`` names; arrays are never unpickled, whatever is allowed elsewhere."""
    beside = Path(rest).with_suffix(".toml")
    said = declared.over(read_card(beside)) if beside.exists() else declared
    return read_predictions(rest, declared=said)


def read_predictions(
    path: str, *, ids: str | None = None, values: Values | None = None, declared: Declared | None = None
) -> StoredAnswers:
    """The answers in a file, with the ids of the images they are about.

    Args:
        path: ``.npy`` (N, K) with the ids beside it (``STEM.ids.txt``, one a line); ``.npz`` with ``ids`` and one of
            ``logits``, ``probabilities``, ``classes``; or ``.csv`` with ``id`` and the best classes in order.
        ids: Another file of ids.
        values: What the numbers are. By default integers are classes and other numbers logits.
        declared: Name and card.
    """
    said = declared or Declared()
    file = Path(path)
    if not file.is_file():
        raise DataError(f"{path}: no such file of predictions")
    if values is not None and values not in get_args(Values):
        raise UsageError(f"no kind of values named {values!r}{did_you_mean(values, get_args(Values))}")
    names, array, kind = _read(file, Path(ids) if ids else None, values)
    checked, stored = _as_answers(array, kind, path)
    return StoredAnswers(
        name=said.name or file.stem,
        digest=content_digest(file.read_bytes()).hex(),
        ids=names,
        values=checked,
        kind=stored,
        card=said.card(),
    )


def _read(file: Path, ids: Path | None, values: Values | None) -> tuple[tuple[str, ...], np.ndarray, Values]:
    suffix = file.suffix.lower()
    if suffix == ".csv":
        names, array = _read_csv(file)
        return names, array, "classes"
    if suffix not in (".npy", ".npz"):
        raise DataError(f"{file}: expected .npy, .npz or .csv, not {suffix or 'a file without an ending'}")
    try:
        loaded = np.load(file, allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise DataError(f"{file}: not an array that can be read without running code ({error})") from error
    if isinstance(loaded, np.ndarray):
        beside = ids or file.with_suffix(".ids.txt")
        default: Values = "classes" if np.issubdtype(loaded.dtype, np.integer) else "logits"
        return read_lines(beside, f"the ids of {file.name}"), loaded, values or default
    with loaded:
        kinds = [kind for kind in get_args(Values) if kind in loaded.files]
        if len(kinds) != 1 or ("ids" not in loaded.files and ids is None):
            raise DataError(
                f"{file}: expected the arrays ids and one of {', '.join(get_args(Values))}; it has "
                f"{', '.join(loaded.files)}"
            )
        try:
            names = read_lines(ids, "ids") if ids else tuple(str(id_) for id_ in loaded["ids"])
            return names, loaded[kinds[0]], values or kinds[0]
        except ValueError as error:
            raise DataError(f"{file}: {error}") from error


def read_lines(file: Path, what: str) -> tuple[str, ...]:
    """The lines of a text file."""
    try:
        return tuple(file.read_text(encoding="utf-8").splitlines())
    except FileNotFoundError:
        raise DataError(f"{file}: no such file; it should hold {what}, one a line") from None
    except UnicodeDecodeError as error:
        raise DataError(f"{file}: not a text file; it should hold {what}, one a line") from error


def _read_csv(file: Path) -> tuple[tuple[str, ...], np.ndarray]:
    with file.open(newline="", encoding="utf-8") as lines:
        reader = csv.reader(lines)
        header = next(reader, [])
        rows = [row for row in reader if row]
    if header[:1] != ["id"] or len(header) < 2 or any(len(row) != len(header) for row in rows):
        raise DataError(f"{file}: expected a first column id and then the best classes in order, in every line")
    try:
        classes = np.array([[int(cell) for cell in row[1:]] for row in rows], dtype=np.int64)
    except ValueError as error:
        raise DataError(f"{file}: a class is not a whole number ({error})") from error
    return tuple(row[0] for row in rows), classes.reshape(len(rows), len(header) - 1)


def _as_answers(array: np.ndarray, kind: Values, path: str) -> tuple[np.ndarray, Literal["logits", "classes"]]:
    if array.ndim == 1 and kind == "classes":
        array = array[:, None]
    if array.ndim != 2 or array.size == 0:
        raise DataError(f"{path}: expected one row per image and one column per class, not shape {array.shape}")
    if kind == "classes":
        if not np.issubdtype(array.dtype, np.integer) or array.min() < 0:
            raise DataError(f"{path}: classes must be whole numbers from 0")
        return array.astype(np.int64), "classes"
    if not np.issubdtype(array.dtype, np.number):
        raise DataError(f"{path}: expected numbers, not {array.dtype}")
    numbers = array.astype(np.float64)
    looks_like_shares = bool(numbers.min() >= 0 and np.allclose(numbers.sum(axis=1), 1, atol=1e-3))
    if kind == "logits" and looks_like_shares:
        raise DataError(f"{path}: every row sums to 1, so these are probabilities: say so (--values probabilities)")
    if kind == "probabilities":
        if not looks_like_shares:
            raise DataError(f"{path}: rows of probabilities must sum to 1")
        # The logarithm of a probability is a logit: softmax gives the probability back.
        numbers = np.log(np.maximum(numbers, np.finfo(np.float32).tiny))
    return numbers.astype(np.float32), "logits"
