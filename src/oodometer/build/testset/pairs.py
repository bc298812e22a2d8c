"""Pairs of images that may be the same one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Pairs:
    """Two images each, and how far apart they are; the closest first.

    Args:
        first, second: Positions in their sets, (P,) int64. Inside one set the first is the smaller.
        distance: Between their vectors, (P,) float64.
        mirrored: Whether it is so small with the one of them mirrored only, (P,) bool.
    """

    first: np.ndarray
    second: np.ndarray
    distance: np.ndarray
    mirrored: np.ndarray

    def __len__(self) -> int:
        return len(self.first)

    def take(self, rows: np.ndarray) -> Pairs:
        """Some of them, by position or by a mask; they stay in this order."""
        return Pairs(self.first[rows], self.second[rows], self.distance[rows], self.mirrored[rows])

    def positions(self) -> list[tuple[int, int]]:
        """The two positions of each."""
        return list(zip(self.first.tolist(), self.second.tolist(), strict=True))


NO_PAIRS = Pairs(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0), np.empty(0, bool))


def joined(parts: list[Pairs]) -> Pairs:
    """All of them, each two images once, at the smallest distance; unmirrored where that is as small.

    >>> twice = Pairs(np.array([0, 0]), np.array([1, 1]), np.array([2.0, 1.0]), np.array([False, True]))
    >>> joined([twice, twice])
    Pairs(first=array([0]), second=array([1]), distance=array([1.]), mirrored=array([ True]))
    """
    every = _end_to_end(parts)
    order = np.lexsort((every.mirrored, every.distance, every.second, every.first))
    ordered = every.take(order)
    is_new = np.ones(len(ordered), bool)
    is_new[1:] = (np.diff(ordered.first) != 0) | (np.diff(ordered.second) != 0)
    return by_distance(ordered.take(is_new))


def by_distance(pairs: Pairs) -> Pairs:
    """The closest first; those as close in the order of their positions."""
    return pairs.take(np.lexsort((pairs.second, pairs.first, pairs.distance)))


def smaller_first(pairs: Pairs) -> Pairs:
    """Pairs inside one set with the smaller position first."""
    low, high = np.minimum(pairs.first, pairs.second), np.maximum(pairs.first, pairs.second)
    return Pairs(low, high, pairs.distance, pairs.mirrored)


def _end_to_end(parts: list[Pairs]) -> Pairs:
    parts = [NO_PAIRS, *parts]
    return Pairs(
        np.concatenate([one.first for one in parts]),
        np.concatenate([one.second for one in parts]),
        np.concatenate([one.distance for one in parts]),
        np.concatenate([one.mirrored for one in parts]),
    )
