"""What else is known about each image, as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def column_of(values: Sequence[Any]) -> np.ndarray:
    """A column of plain values, (N,): numbers where all are numbers, otherwise text; a missing number is NaN.

    >>> column_of([1, 2]).dtype, column_of([1, None]).tolist(), column_of(["a", None, 3]).tolist()
    (dtype('int64'), [1.0, nan], ['a', '', '3'])
    """
    present = [value for value in values if value is not None]
    if present and all(isinstance(value, bool) for value in values):
        return np.array(values, dtype=np.bool_)
    if present and all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in present):
        whole = len(present) == len(values) and all(isinstance(value, int) and abs(value) < 2**63 for value in values)
        if whole:
            return np.array(values, dtype=np.int64)
        if all(isinstance(value, float) or abs(value) < 2**1023 for value in present):
            return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    return np.array(["" if value is None else _text(value) for value in values], dtype=np.str_)


def _text(value: Any) -> str:
    """A value as text that any table can hold: JSON can name halves of letters, Python won't write long numbers."""
    try:
        return str(value).encode(errors="backslashreplace").decode()
    except ValueError:
        return "a number of too many digits"


def column_of_texts(texts: Sequence[str]) -> np.ndarray:
    """A column of a text file, (N,): numbers where all are, otherwise text; an empty field is missing.

    >>> column_of_texts(["1", "2"]).tolist(), column_of_texts(["1.5", ""]).tolist(), column_of_texts(["a", ""]).tolist()
    ([1, 2], [1.5, nan], ['a', ''])
    """
    present = [text for text in texts if text]
    for kind in (int, float):
        try:
            numbers = [kind(text) for text in present]
        except ValueError:
            continue
        following = iter(numbers)
        return column_of([next(following) if text else None for text in texts])
    return np.array(texts, dtype=np.str_)
