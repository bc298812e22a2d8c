"""Which images lie close together: exact search by faiss, inside one set and between two, mirrored copies too.

`pairs_within` and `pairs_between` find all pairs at most a radius apart, and are the ones for many images: they compare
shorter vectors first (`shorter_vectors`), which misses nothing, and measure what they find in full. `nearest_within`
and `nearest_between` find the k nearest of each image, however far, for which only the full vectors will do.

faiss computes distances from products in 32 bits. All distances that are given back are measured anew in 64 bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from oodometer.build.testset.features import Features
from oodometer.build.testset.pairs import Pairs, by_distance, joined, smaller_first
from oodometer.build.testset.shorter_vectors import Shortening, moving, shortening
from oodometer.core.errors import UsageError
from oodometer.core.extras import import_extra

MOST_PAIRS = 5_000_000
"""More than anybody can look at; a radius that is too large would fill the memory."""

BASE_AT_ONCE, QUERIES_AT_ONCE = 1 << 13, 1 << 12
"""If all of these were close to each other, faiss would give back 400 MB. With fewer queries it is half as fast."""

WORTH_SHORTENING = 1 << 10
"""Images on either side: for fewer it takes longer to make all vectors shorter than to compare them in full."""

SPARE = 4
"""Neighbours asked for beyond k, since rounding may exchange those about as far as the last."""

_MEASURED_AT_ONCE = 2048


def pairs_within(features: Features, radius: float, *, mirror: bool = False) -> Pairs:
    """All pairs of images of one set at most ``radius`` apart, each once, never an image with itself.

    Args:
        mirror: Whether to look for mirrored copies too.

    >>> three = Features(np.array([[0, 0], [0, 3], [3, 1]], np.float32), mirror_order=np.array([1, 0]))
    >>> pairs_within(three, 3.5).positions()
    [(0, 1), (0, 2)]
    >>> pairs_within(three, 1.5, mirror=True)
    Pairs(first=array([1]), second=array([2]), distance=array([1.]), mirrored=array([ True]))
    """
    short = _shortening_for(len(features), features)
    side = _as_it_is(features, short)
    parts = list(_close(side, side, _checked(radius), pairing=_before))
    if mirror:
        # Where mirroring moves numbers, the first one mirrored is as far from the second as the other way round.
        pairing = _before if features.mirror_order is not None else _another
        parts += map(_as_mirrored, _close(_in_mirror(features, short), side, radius, pairing=pairing))
    return joined([smaller_first(part) for part in parts])


def pairs_between(queries: Features, base: Features, radius: float, *, mirror: bool = False) -> Pairs:
    """All pairs of an image of one set and one of another, at most ``radius`` apart.

    >>> new, old = Features(np.array([[0, 1]], np.float32)), Features(np.array([[5, 5], [0, 0]], np.float32))
    >>> pairs_between(new, old, 2.0).positions()
    [(0, 1)]
    """
    _check_both(queries, base)
    short = _shortening_for(len(queries), base)
    side = _as_it_is(base, short)
    parts = list(_close(_as_it_is(queries, short), side, _checked(radius), pairing=_any))
    if mirror:
        parts += map(_as_mirrored, _close(_in_mirror(queries, short), side, radius, pairing=_any))
    return joined(parts)


def nearest_within(features: Features, k: int, *, mirror: bool = False, later: bool = False) -> Pairs:
    """Each image of a set with the k nearest others of it; two images that are near each other are one pair.

    Args:
        mirror: Whether to look for mirrored copies too.
        later: Whether to look for those of each image among the later ones alone, and some earlier: half the work. A
            pair is missed then if the later image has the earlier among its nearest, and not the other way round.

    >>> line = Features(np.array([[0], [1], [3], [7]], np.float32))
    >>> nearest_within(line, 1).positions()
    [(0, 1), (1, 2), (2, 3)]
    """
    found = _nearest(features, features, k, mirror=mirror, pairing=_another, later=later)
    return joined([smaller_first(found)])


def nearest_between(queries: Features, base: Features, k: int, *, mirror: bool = False) -> Pairs:
    """Each image of one set with the k nearest of another.

    >>> new, old = Features(np.array([[0, 1]], np.float32)), Features(np.array([[5, 5], [0, 0]], np.float32))
    >>> nearest_between(new, old, 1).positions()
    [(0, 1)]
    """
    _check_both(queries, base)
    return _nearest(queries, base, k, mirror=mirror, pairing=_any)


Pairing = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""Which pairs of positions count."""


def _before(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    return np.asarray(first < second)


def _another(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    return np.asarray(first != second)


def _any(first: np.ndarray, second: np.ndarray) -> np.ndarray:  # noqa: ARG001
    return np.ones(len(first), bool)


@dataclass(frozen=True)
class _Side:
    """Images to compare.

    Args:
        searched: What is compared first, of some rows.
        measured: What the distance is measured on.
    """

    n: int
    searched: Callable[[slice], np.ndarray]
    measured: Callable[[np.ndarray], np.ndarray]


def _shortening_for(n_queries: int, base: Features) -> Shortening:
    worth_it = min(n_queries, len(base)) >= WORTH_SHORTENING
    return shortening(base.vectors) if worth_it else moving(base.vectors)


def _as_it_is(features: Features, short: Shortening) -> _Side:
    return _side(len(features), features.vectors.__getitem__, short)


def _in_mirror(features: Features, short: Shortening) -> _Side:
    return _side(len(features), features.in_mirror, short)


def _side(n: int, vectors: Callable[[slice | np.ndarray], np.ndarray], short: Shortening) -> _Side:
    """Short vectors are made once; those of full length, which may not fit into memory twice, when they are needed."""
    if short.basis is None:
        return _Side(n, lambda rows: short.of(vectors(rows)), vectors)
    made = np.concatenate([short.of(vectors(rows)) for rows in _slices(n, BASE_AT_ONCE)])
    return _Side(n, made.__getitem__, vectors)


def _close(queries: _Side, base: _Side, radius: float, *, pairing: Pairing) -> Iterator[Pairs]:
    """The pairs within the radius, block by block."""
    n_found = 0
    limit = radius**2 + _rounding(queries, base)
    for rows in _slices(base.n, BASE_AT_ONCE):
        index = _index(base.searched(rows))
        asked = min(rows.stop, queries.n) if pairing is _before else queries.n
        for some in _slices(asked, QUERIES_AT_ONCE):
            ends, _, places = index.range_search(queries.searched(some), limit)
            first = np.repeat(np.arange(some.start, some.stop), np.diff(ends.astype(np.int64)))
            found = _measured(queries, base, first, places + rows.start, pairing)
            found = found.take(found.distance <= radius)
            n_found += len(found)
            if n_found > MOST_PAIRS:
                raise UsageError(
                    f"more than {MOST_PAIRS:,} pairs within {radius:g}: choose a smaller radius, or take out images "
                    "that are all alike, such as blank ones"
                )
            yield found


def _nearest(
    queries: Features, base: Features, k: int, *, mirror: bool, pairing: Pairing, later: bool = False
) -> Pairs:
    if k < 1:
        raise UsageError(f"{k} nearest neighbours: at least 1")
    move = moving(base.vectors)
    side = _as_it_is(base, move)
    parts = [_k_nearest(_as_it_is(queries, move), side, k, pairing, later=later)]
    if mirror:
        parts.append(_as_mirrored(_k_nearest(_in_mirror(queries, move), side, k, pairing, later=later)))
    return _first_of_each(joined(parts), k)


def _k_nearest(queries: _Side, base: _Side, k: int, pairing: Pairing, *, later: bool) -> Pairs:
    """The k nearest of each query, and a few more."""
    width = k + SPARE + 1  # the one more is the image itself
    far = np.full((queries.n, width), np.inf, np.float32)
    places = np.full((queries.n, width), -1)
    for rows in _slices(base.n, (2 if later else 4) * BASE_AT_ONCE):  # what is given back is k for each, however many
        index = _index(base.searched(rows))
        for some in _slices(min(rows.stop, queries.n) if later else queries.n, QUERIES_AT_ONCE):
            found, at = index.search(queries.searched(some), min(width, index.ntotal))
            both, all_places = np.hstack([far[some], found]), np.hstack([places[some], at + rows.start])
            kept = np.argsort(both, axis=1, kind="stable")[:, :width]
            far[some], places[some] = np.take_along_axis(both, kept, 1), np.take_along_axis(all_places, kept, 1)
    first, column = np.nonzero(places >= 0)
    return _measured(queries, base, first, places[first, column], pairing)


def _first_of_each(pairs: Pairs, k: int) -> Pairs:
    """The k closest pairs of each first image."""
    ordered = pairs.take(np.lexsort((pairs.second, pairs.distance, pairs.first)))
    starts = np.searchsorted(ordered.first, ordered.first)
    return by_distance(ordered.take(np.arange(len(ordered)) - starts < k))


def _measured(queries: _Side, base: _Side, first: np.ndarray, second: np.ndarray, pairing: Pairing) -> Pairs:
    """The pairs that count, with their distances in 64 bits."""
    counts = pairing(first, second)
    first, second = first[counts].astype(np.int64), second[counts].astype(np.int64)
    distance = np.empty(len(first))
    for rows in _slices(len(first), _MEASURED_AT_ONCE):
        apart = queries.measured(first[rows]).astype(np.float64) - base.measured(second[rows])
        distance[rows] = np.linalg.norm(apart, axis=1)
    return Pairs(first, second, distance, np.zeros(len(first), bool))


def _as_mirrored(pairs: Pairs) -> Pairs:
    return Pairs(pairs.first, pairs.second, pairs.distance, np.ones(len(pairs), bool))


def _index(vectors: np.ndarray) -> Any:
    faiss = import_extra("faiss", extra="testset", what="near-duplicates")
    index = faiss.IndexFlatL2(vectors.shape[1])
    index.add(vectors)
    return index


def _rounding(queries: _Side, base: _Side) -> float:
    """By how much a squared distance may be too large in 32 bits.

    It is |x|² + |y|² - 2xy, in which each of the three sums over d numbers is off by at most d half units in the last
    place of |x|², |y|² and |x||y| (Higham, Accuracy and Stability of Numerical Algorithms, 2002, section 3.1). Some
    more for the sum of the three, and a little where all lengths are 0: faiss looks below its limit, not at it.
    """
    kind = np.finfo(np.float32)
    d = base.searched(slice(0, 0)).shape[1]
    return float(kind.eps * (d + 8) * (_longest(queries) + _longest(base)) + kind.tiny)


def _longest(side: _Side) -> float:
    """The largest squared length of what is compared."""
    lengths = ((side.searched(rows) ** 2).sum(axis=1).max() for rows in _slices(side.n, BASE_AT_ONCE))
    return float(max(lengths, default=0.0))


def _slices(n: int, size: int) -> list[slice]:
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def _checked(radius: float) -> float:
    if not 0 <= radius < np.inf:
        raise UsageError(f"radius {radius}: must be a number of at least 0")
    return radius


def _check_both(queries: Features, base: Features) -> None:
    sizes = queries.vectors.shape[1], base.vectors.shape[1]
    if sizes[0] != sizes[1]:
        raise UsageError(f"features of {sizes[0]} and of {sizes[1]} numbers: both sets need the same kind")
