"""The images that a test set may be made of, and what is known of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from oodometer.core.errors import DataError, UsageError, did_you_mean

FEW_ANSWERS = "few answers"
"""Why a candidate is out that too few annotators were asked about."""

REASONS = ("blacklisted", FEW_ANSWERS, "near-duplicate", "unreviewed", "below the threshold")
"""Why a candidate is out, as the papers count it, the first that holds; others may be said."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """Images of a pool.

    Args:
        ids: One per image, no two the same.
        labels: The class that each is a candidate for, (N,), by number.
        frequency: The share of annotators who said that it shows its class, (N,); NaN where nobody was asked.
        n_answers: How many were asked, (N,).
        out: Why each can't be chosen; empty where it can.
        columns: What else is known of each, (N,) each.
        wanted: Classes of which there are to be some, by number; by default those that there are candidates for.
    """

    ids: tuple[str, ...]
    labels: np.ndarray
    frequency: np.ndarray
    n_answers: np.ndarray
    out: tuple[str, ...] = ()
    columns: Mapping[str, np.ndarray] = field(default_factory=dict)
    wanted: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if not self.out:
            object.__setattr__(self, "out", ("",) * len(self.ids))
        lengths = {len(one) for one in (self.ids, self.labels, self.frequency, self.n_answers, self.out)}
        lengths |= {len(values) for values in self.columns.values()}
        if len(lengths) != 1:
            raise DataError(f"candidates of several lengths: {', '.join(map(str, sorted(lengths)))}")
        twice = [one for one, times in Counter(self.ids).items() if times > 1]
        if twice:
            raise DataError(f"{twice[0]}: {len(twice)} candidates are there more than once; ids must differ")
        known = self.frequency[~np.isnan(self.frequency)]
        if ((known < 0) | (known > 1)).any():
            raise DataError("a selection frequency is a share: it lies in [0, 1]")

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def classes(self) -> list[int]:
        """The numbers of the classes that are wanted, or that there are candidates for, in order."""
        return sorted({*np.unique(self.labels).tolist(), *self.wanted})

    @cached_property
    def may_be_chosen(self) -> np.ndarray:
        """Which ones nothing speaks against, (N,) bool."""
        return np.array([not why for why in self.out], dtype=bool)

    @property
    def n_out(self) -> dict[str, int]:
        """How many are out, by reason."""
        return dict(Counter(why for why in self.out if why))

    def rows_of(self, label: int) -> np.ndarray:
        """The candidates for a class that may be chosen, (n,)."""
        return self._rows_by_class.get(label, np.empty(0, dtype=np.int64))

    @cached_property
    def _rows_by_class(self) -> dict[int, np.ndarray]:
        free = np.flatnonzero(self.may_be_chosen)
        free = free[np.argsort(self.labels[free], kind="stable")]
        labels, starts = np.unique(self.labels[free], return_index=True)
        return dict(zip(labels.tolist(), np.split(free, starts[1:]), strict=False))

    def without(self, rows: np.ndarray, reason: str) -> Candidates:
        """The same, of which these, (N,) bool, are out; those that are out already keep their reason.

        >>> pool = Candidates(("a", "b"), np.array([0, 0]), np.array([1.0, 0.5]), np.array([10, 4]))
        >>> pool.without(pool.n_answers < 10, "few answers").n_out
        {'few answers': 1}
        """
        if not reason:
            raise UsageError("an exclusion needs its reason")
        out = tuple(why or (reason if now else "") for why, now in zip(self.out, rows.tolist(), strict=True))
        return replace(self, out=out)

    def without_ids(self, ids: Iterable[str], reason: str) -> Candidates:
        """The same without these images; an error where one is not there."""
        gone = set(ids)
        if missing := gone - set(self.ids):
            one = min(missing)
            raise UsageError(f"{one}: no candidate of that id{did_you_mean(one, self.ids)}")
        return self.without(np.array([one in gone for one in self.ids]), reason)

    def column(self, name: str) -> np.ndarray:
        """What is known of each under this name."""
        if name not in self.columns:
            hint = did_you_mean(name, self.columns) or "; there are none"
            raise UsageError(f"the candidates have no column {name!r}{hint}")
        return self.columns[name]


def enough_answers(candidates: Candidates, least: int) -> Candidates:
    """The candidates without those that fewer annotators were asked about."""
    return candidates.without(candidates.n_answers < least, FEW_ANSWERS)


def label_codes(names: Sequence[str]) -> tuple[np.ndarray, tuple[str, ...]]:
    """Names of classes as numbers in alphabetical order, and the names.

    >>> codes, names = label_codes(["owl", "duck", "owl"])
    >>> codes.tolist(), names
    ([1, 0, 1], ('duck', 'owl'))
    """
    classes = tuple(sorted(set(names)))
    number = {name: at for at, name in enumerate(classes)}
    return np.array([number[name] for name in names], dtype=np.int64), classes
