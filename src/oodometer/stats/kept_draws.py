"""Sums over resampled images that are kept, because they are asked for again and again.

The clean answers of a model are resampled for every shift, and there for its line, its drop and its correlations: each
time by the same resamples, since these follow from the seed and the number of images. So the sums of a column of scores
are found by what is in it, and fewer draws of the same seed are the first of more.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from typing import NamedTuple

import numpy as np

WORTH = 1 << 14
"""Draws times images below which it is quicker to draw again than to look what is known."""
MOST_SUMS = 1 << 23
"""Sums that are kept, of all columns together: 64 MB."""
MOST_COUNTS = 1 << 27
"""Counts that are kept, a byte each: of two seeds and 50,000 images a thousand draws."""

NEAR = 4096
"""Images whose sums are made at once."""

Counts = Callable[[], Iterable[np.ndarray]]
"""Gives how often each image is drawn, in blocks (d, N) of draws."""


class Draws(NamedTuple):
    """Which resamples are meant: so many, of this seed; the same seed and number of images are the same resamples."""

    draws: int
    seed: Hashable


def kept_sums(columns: np.ndarray, wanted: Draws, counts: Counts) -> np.ndarray:
    """The sums of each column, (N, C), over each resample, (D, C): those that are known, and the others now."""
    if wanted.draws * len(columns) < WORTH:
        return _sums(columns, counts())
    keys = [_Key(_digest(column), len(columns), wanted.seed) for column in columns.T]
    known = _KEPT.sums_of(keys, wanted.draws)
    missing = [at for at, sums in enumerate(known) if sums is None]
    if missing:
        new = _sums(columns[:, missing], _KEPT.counts(len(columns), wanted, counts))
        for at, sums in zip(missing, new.T, strict=True):
            known[at] = np.ascontiguousarray(sums)
        _KEPT.keep({keys[at]: sums for at in missing if (sums := known[at]) is not None})
    return np.stack([sums for sums in known if sums is not None], axis=1)


def _sums(columns: np.ndarray, counts: Iterable[np.ndarray]) -> np.ndarray:
    return np.concatenate([sums_in_draws(columns, block) for block in counts])


def sums_in_draws(columns: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """The sums of each column, (N, C), where images count so many times, (D, N) -> (D, C) float64.

    Some images at a time, of which all columns stay in the processor's cache; truths are counted in single precision,
    which holds such sums exactly.
    """
    dtype = np.float32 if columns.dtype == bool else columns.dtype
    sums = np.zeros((len(counts), columns.shape[1]))
    for start in range(0, len(columns), NEAR):
        near = slice(start, start + NEAR)
        sums += counts[:, near].astype(dtype) @ columns[near].astype(dtype)
    return sums


def _digest(column: np.ndarray) -> bytes:
    """Of what a column holds; single precision is zeros and ones, as truths are."""
    bits = column.dtype in (bool, np.float32)
    content = np.packbits(column != 0) if bits else np.ascontiguousarray(column)
    return hashlib.blake2b(content.data, digest_size=16, key=b"bits" if bits else column.dtype.str.encode()).digest()


class _Key(NamedTuple):
    digest: bytes
    n: int
    seed: Hashable


class _Kept:
    """The newest sums and counts; several threads may ask."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sums: OrderedDict[_Key, np.ndarray] = OrderedDict()
        self._n_sums = 0
        self._counts: OrderedDict[tuple[int, Hashable], np.ndarray] = OrderedDict()

    def sums_of(self, keys: list[_Key], draws: int) -> list[np.ndarray | None]:
        """The first so many sums of each column; None where fewer are known."""
        with self._lock:
            known = [self._sums.get(key) for key in keys]
            for key, sums in zip(keys, known, strict=True):
                if sums is not None:
                    self._sums.move_to_end(key)
        return [sums[:draws] if sums is not None and len(sums) >= draws else None for sums in known]

    def keep(self, new: dict[_Key, np.ndarray]) -> None:
        with self._lock:
            for key, sums in new.items():
                old = self._sums.pop(key, None)
                self._n_sums += len(sums) - (0 if old is None else len(old))
                self._sums[key] = sums
            while self._n_sums > MOST_SUMS:
                self._n_sums -= len(self._sums.popitem(last=False)[1])

    def counts(self, n: int, wanted: Draws, counts: Counts) -> Iterable[np.ndarray]:
        """The counts in blocks; where they are not too many, all are kept."""
        if n * wanted.draws > MOST_COUNTS // 2:
            return counts()
        with self._lock:
            known = self._counts.get((n, wanted.seed))
        if known is None or len(known) < wanted.draws:
            known = np.empty((wanted.draws, n), dtype=np.uint8)
            at = 0
            for block in counts():
                if block.max() > np.iinfo(np.uint8).max:
                    return counts()
                known[at : at + len(block)] = block
                at += len(block)
            with self._lock:
                self._counts[n, wanted.seed] = known
                while sum(some.size for some in self._counts.values()) > MOST_COUNTS:
                    self._counts.popitem(last=False)
        return [known[: wanted.draws]]


_KEPT = _Kept()
