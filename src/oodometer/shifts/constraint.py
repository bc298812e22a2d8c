"""Which images are meant: ``country=us|mx|ca``, a column of the data and the values that it may have."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from oodometer.core.dataset import Dataset
from oodometer.core.errors import UsageError, did_you_mean

SHOWN = 10
"""Values of a column that an error lists at most."""


@dataclass(frozen=True)
class Constraint:
    """A column and the values that it may have, as the user writes them.

    Args:
        name: What the images are called; by default what they must have.

    >>> str(Constraint("country", ("us", "mx"))), str(Constraint("country", ("fr",), name="country_france"))
    ('country=us|mx', 'country_france')
    """

    column: str
    values: tuple[str, ...]
    name: str = ""

    def __str__(self) -> str:
        return self.name or f"{self.column}={'|'.join(self.values)}"


def parse_base(text: str) -> tuple[Constraint, ...]:
    """What all images of the base have.

    Values with a comma or a bar in them go in double quotes, or have a backslash before it.

    >>> [str(one) for one in parse_base("camera=new, year=2019, country=us|mx|ca")]
    ['camera=new', 'year=2019', 'country=us|mx|ca']
    >>> parse_base('shop="fish, chips"')[0].values
    ('fish, chips',)
    """
    found = tuple(_parse(piece, f"--base {text}") for piece in _cut(text, ","))
    names = [one.column for one in found]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"--base {text}: {name} is given twice; write {name}=A|B where either will do")
    return found


def parse_shift(text: str) -> Constraint:
    """The one attribute that a shift changes, and what to.

    >>> parse_shift("year=2017|2018")
    Constraint(column='year', values=('2017', '2018'), name='')
    """
    pieces = _cut(text, ",")
    if len(pieces) > 1:
        raise UsageError(f"--shift {text}: one attribute at a time; give --shift once for each")
    return _parse(pieces[0], f"--shift {text}")


def _parse(piece: str, where: str) -> Constraint:
    column, *values = _cut(piece, "=")
    listed = _cut("=".join(values), "|")
    if not _plain(column) or not values or not all(_plain(one) for one in listed):
        raise UsageError(f"{where}: expected COLUMN=VALUE or COLUMN=VALUE|VALUE, with commas between columns")
    return Constraint(_plain(column), tuple(dict.fromkeys(_plain(one) for one in listed)))


def _cut(text: str, mark: str) -> list[str]:
    """The text cut at a mark, but not where double quotes or a backslash protect it; these stay."""
    pieces, quoted, escaped = [""], False, False
    for sign in text:
        if sign == mark and not quoted and not escaped:
            pieces.append("")
            continue
        pieces[-1] += sign
        quoted ^= sign == '"' and not escaped
        escaped = sign == "\\" and not escaped
    if quoted:
        raise UsageError(f"{text}: a double quote without its second one")
    return pieces


def _plain(text: str) -> str:
    """The text without the blanks around it and without what protected its signs."""
    kept, escaped = "", False
    for sign in text.strip():
        if escaped or sign not in '"\\':
            kept += sign
        escaped = sign == "\\" and not escaped
    return kept


def matches(dataset: Dataset, constraint: Constraint, *, what: str) -> np.ndarray:
    """Which images have one of the values, (N,) bool; numbers are compared as numbers.

    Args:
        what: Who asks, for the error about a column that is not there or a value that no image has.
    """
    if constraint.column not in dataset.columns:
        hint = did_you_mean(constraint.column, dataset.columns) or "; it has no columns besides path and label"
        raise UsageError(f"{what} {constraint}: {dataset.name} has no column {constraint.column!r}{hint}")
    column = dataset.columns[constraint.column]
    found = np.zeros(len(dataset), dtype=bool)
    for value in constraint.values:
        having = _equal(column, value)
        if not having.any():
            raise UsageError(
                f"{what} {constraint}: no image of {dataset.name} has {constraint.column}={value}; {_values(column)}"
            )
        found |= having
    return found


def _equal(column: np.ndarray, value: str) -> np.ndarray:
    if column.dtype.kind == "b":
        return np.asarray(np.char.lower(column.astype(str)) == value.lower())
    if column.dtype.kind in "iuf":
        try:
            return np.asarray(column == float(value))
        except ValueError:
            return np.zeros(len(column), dtype=bool)
    return np.asarray(column == value)


def _values(column: np.ndarray) -> str:
    """The values that occur, in words."""
    present = column[~np.isnan(column)] if column.dtype.kind == "f" else column[column.astype(str) != ""]
    values = [f"{one:g}" if isinstance(one, float) else str(one) for one in np.unique(present).tolist()]
    more = f" and {len(values) - SHOWN} more" if len(values) > SHOWN else ""
    return f"its values are {', '.join(values[:SHOWN])}{more}" if values else "it is empty everywhere"
