"""Which of many models can be told apart: all pairs tested at once, and groups of ties.

A pair has one of three states: separated, tied (tested, and not told apart), or it can't be tested: NaN is its p-value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from string import ascii_lowercase

import numpy as np

from oodometer.stats.corrections import Correction, corrected
from oodometer.stats.paired import McNemar, mcnemar_p_values


@dataclass(frozen=True)
class Standing:
    """How models in an order stand to each other, the best first.

    Args:
        apart: Whether the models at two places are told apart, (M, M) bool.
        tested: Whether they could be, (M, M) bool; a model with itself is.
        better: Whether the first of two is the better one where they were tested, (M, M) bool. The order may say
            otherwise, where it is that of values on other images.
    """

    apart: np.ndarray
    tested: np.ndarray
    better: np.ndarray

    def rank_of(self, place: int) -> tuple[int, int]:
        """The best and the worst rank that a model may have: one less for every model that it can be told from.

        >>> Standing.of(np.array([[1, 0.01], [0.01, 1]]), [1, 0]).rank_of(0)
        (1, 1)
        """
        better, worse = self.apart[place] & self.better[:, place], self.apart[place] & self.better[place]
        return int(better.sum()) + 1, len(self.apart) - int(worse.sum())

    def tied_with(self, place: int) -> list[int]:
        """The places of those that were tested against it and can't be told from it."""
        return [at for at in range(len(self.apart)) if at != place and self.tied[place, at]]

    def untested(self, place: int) -> list[int]:
        """The places of those that can't be tested against it."""
        return np.flatnonzero(~self.tested[place]).tolist()

    @cached_property
    def tied(self) -> np.ndarray:
        """Whether two were tested and can't be told apart, (M, M) bool."""
        return np.asarray(self.tested & ~self.apart)

    @cached_property
    def groups(self) -> list[tuple[int, int]]:
        """First and last place of each longest run of models of which any two are tied."""
        return tie_groups(~self.tied, range(len(self.apart)))

    @cached_property
    def letters(self) -> tuple[str, ...]:
        """Two models have a letter in common where they are tied, and only there; none where 26 letters are too few.

        A model that can't be tested against any other has none.

        >>> Standing.of(np.array([[1, 0.4, 0.01], [0.4, 1, 0.6], [0.01, 0.6, 1]]), [0, 1, 2]).letters
        ('a', 'ab', 'b')
        """
        found = sorted(islice(_cliques(self.tied), len(ascii_lowercase) + 1))
        if len(found) > len(ascii_lowercase):
            return ("",) * len(self.apart)
        alone = self.tested.sum(axis=1) == 1 if len(self.apart) > 1 else np.zeros(len(self.apart), bool)
        kept = [group for group in found if not (len(group) == 1 and alone[group[0]])]
        return tuple(
            "".join(letter for letter, group in zip(ascii_lowercase, kept, strict=False) if place in group)
            for place in range(len(self.apart))
        )

    @classmethod
    def of(
        cls,
        adjusted: np.ndarray,
        order: Sequence[int],
        level: float = 0.95,
        *,
        differences: np.ndarray | None = None,
    ) -> Standing:
        """Of adjusted p-values, (M, M), NaN where a pair can't be tested; the best model of the order first.

        Args:
            differences: That were tested, the first minus the second, (M, M); None: the order says who is better.
        """
        ordered = np.asarray(adjusted)[np.ix_(order, order)]
        with np.errstate(invalid="ignore"):
            apart = ordered <= 1 - level
        np.fill_diagonal(apart, val=False)
        before = np.triu(np.ones(apart.shape, dtype=bool), 1)
        better = before if differences is None else np.asarray(differences)[np.ix_(order, order)] > 0
        return cls(apart, ~np.isnan(ordered) | np.eye(len(ordered), dtype=bool), better)


def p_of_differences(means: np.ndarray, variances: np.ndarray) -> np.ndarray:
    """Two-sided p-values of "the two are equal" of every pair, by the normal distribution.

    Two that never differ have a difference of 0 and a variance of 0: they can't be told apart. Where all differ by the
    same, nothing is known of their spread.

    Args:
        means: (M,).
        variances: Of the difference of each pair, (M, M); NaN where it is not known.

    Returns:
        (M, M), NaN where nothing is known.
    """
    from scipy.special import ndtr

    difference = np.abs(means[:, None] - means[None, :])
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(difference == 0, 0.0, difference / np.sqrt(variances))
    p = 2 * ndtr(-z)
    return np.where(np.isnan(variances) | np.isinf(z), np.nan, p)


def p_of_shares(shares: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Two-sided p-values of "the two are equal" of every pair of shares, each of other images.

    By the normal law with the pooled share and Yates' correction, which comes close to Fisher's exact test for few
    images too, and where all are right or all wrong.

    Args:
        shares: (M,).
        sizes: How many images are behind each, (M,); NaN where that is not known.

    Returns:
        (M, M), NaN where a size is not known.

    >>> p_of_shares(np.array([1.0, 0.0]), np.array([3.0, 3.0])).round(3).tolist()
    [[1.0, 0.102], [0.102, 1.0]]
    """
    from scipy.special import ndtr

    hits = shares * sizes
    with np.errstate(divide="ignore", invalid="ignore"):
        each = 1 / sizes[:, None] + 1 / sizes[None, :]
        pooled = (hits[:, None] + hits[None, :]) / (sizes[:, None] + sizes[None, :])
        difference = np.maximum(np.abs(shares[:, None] - shares[None, :]) - each / 2, 0)
        z = np.where(difference == 0, 0.0, difference / np.sqrt(pooled * (1 - pooled) * each))
    return np.where(np.isnan(each), np.nan, 2 * ndtr(-z))


def p_of_counts(right: np.ndarray, test: McNemar = "exact") -> np.ndarray:
    """McNemar's two-sided p-values of every pair of models, from who was right on which image.

    Args:
        right: (M, N) bool.

    Returns:
        (M, M).
    """
    ones = right.astype(np.float32)
    both = ones @ ones.T
    only = np.rint(ones.sum(axis=1)[:, None] - both).astype(np.int64)  # right where the other is wrong
    return mcnemar_p_values(only, only.T, test)


def adjusted_pairs(p_values: np.ndarray, correction: Correction = "holm") -> np.ndarray:
    """The p-values of all pairs adjusted for the number of pairs, (M, M) -> (M, M); NaN stays NaN.

    >>> adjusted_pairs(np.array([[1, 0.01, 0.04], [0.01, 1, 0.03], [0.04, 0.03, 1]])).round(2).tolist()
    [[1.0, 0.03, 0.06], [0.03, 1.0, 0.06], [0.06, 0.06, 1.0]]
    """
    above = np.triu_indices(len(p_values), 1)
    adjusted = np.ones(p_values.shape)
    adjusted[above] = corrected(np.asarray(p_values, dtype=np.float64)[above], correction)
    adjusted.T[above] = adjusted[above]
    return adjusted


def _cliques(tied: np.ndarray) -> Iterator[tuple[int, ...]]:
    """All largest sets of places of which any two are tied (Bron and Kerbosch, CACM 16, 1973), each in order."""
    # Models that are tied with the same ones stand in the same sets: one of them stands for all.
    _, first, kind = np.unique(tied, axis=0, return_index=True, return_inverse=True)
    of_kind = [np.flatnonzero(kind.ravel() == one).tolist() for one in range(len(first))]
    few = tied[np.ix_(first, first)]
    # Sets of places are the bits of a number: thousands are met at once, and none is too deep for recursion.
    near = [_bits(row) & ~(1 << place) for place, row in enumerate(few)]

    def grown(chosen: tuple[int, ...], left: int, done: int) -> Iterator[tuple[tuple[int, ...], int, int]]:
        pivot = max(_ones(left | done), key=lambda place: (near[place] & left).bit_count())
        for place in _ones(left & ~near[pivot]):
            yield (*chosen, place), left & near[place], done & near[place]
            left, done = left & ~(1 << place), done | 1 << place

    begun = [grown((), (1 << len(few)) - 1, 0)] if len(few) else []
    while begun:
        found = next(begun[-1], None)
        if found is None:
            begun.pop()
            continue
        chosen, left, done = found
        if left:
            begun.append(grown(chosen, left, done))
        elif not done:
            yield tuple(sorted(place for one in chosen for place in of_kind[one]))


def _bits(row: np.ndarray) -> int:
    """The number whose bits are these, (M,) bool."""
    return int.from_bytes(np.packbits(row, bitorder="little").tobytes(), "little")


def _ones(bits: int) -> Iterator[int]:
    """Which bits are set, the lowest first."""
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


def tie_groups(apart: np.ndarray, order: Sequence[int]) -> list[tuple[int, int]]:
    """The first and the last place of every run of places in which no two models can be told apart.

    Each run is as long as it can be; runs may overlap, since being alike does not carry on: the first may be like the
    second and the second like the third, and the first still better than the third.

    >>> apart = np.array([[False, False, True], [False, False, False], [True, False, False]])
    >>> tie_groups(apart, [0, 1, 2])
    [(0, 1), (1, 2)]
    """
    ordered = apart[np.ix_(order, order)]
    groups: list[tuple[int, int]] = []
    for first in range(len(order)):
        last = first
        while last + 1 < len(order) and not ordered[first : last + 1, last + 1].any():
            last += 1
        if not groups or last > groups[-1][1]:
            groups.append((first, last))
    return groups
