"""Resamples of photographs that several sets share: how often one counts depends on its name, not on who asks."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

import numpy as np

from oodometer.core.random import key_words
from oodometer.stats.kept_draws import Draws, kept_sums

POISSON = np.cumsum([np.exp(-1.0) / factorial for factorial in (1, 1, 2, 6, 24, 120, 720, 5040)])
"""The distribution function of Poisson's law of mean 1, at 0 to 7: how often an image comes in a resample of many."""


def photograph_counts(names: Iterable[str], draws: int, *, seed: int = 0) -> np.ndarray:
    """How often each photograph counts in each resample, (D, N) uint8: the same for a name in whatever set it is.

    >>> ab, b = photograph_counts(["a", "b"], 1000), photograph_counts(["b"], 1000)
    >>> bool((ab[:, 1] == b[:, 0]).all()), float(ab.mean().round(1))
    (True, 1.0)
    """
    digests = [hashlib.blake2b(name.encode(errors="surrogateescape"), digest_size=8).digest() for name in names]
    words = np.frombuffer(b"".join(digests), dtype="<u8")
    steps = key_words("photographs", seed=seed)[0] + np.arange(1, draws + 1, dtype=np.uint64) * STEP
    counts = np.zeros((draws, len(words)), dtype=np.uint8)
    for row, step in zip(counts, _mixed(steps), strict=True):  # a row stays in the processor's cache
        uniform = _mixed(words ^ step) / 2.0**64
        for least in POISSON:
            row += uniform >= least
    return counts


STEP = np.uint64(0x9E3779B97F4A7C15)


def _mixed(words: np.ndarray) -> np.ndarray:
    """The finaliser of SplitMix64 (Steele, Lea & Flood 2014): every bit of the result depends on every bit given."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(words ^ (words >> np.uint64(31)))


def means_in_draws(scores: np.ndarray, names: Sequence[str], draws: int, *, seed: int = 0) -> np.ndarray:
    """The mean score of each model in each resample of the photographs, (M, N) -> (D, M).

    Sums are kept: all shifts of a store have the same clean photographs, and several sections ask about each shift.
    """
    of_names = hashlib.blake2b("\0".join(names).encode(errors="surrogateescape"), digest_size=16).digest()
    wanted = Draws(draws, (of_names, seed))
    columns = (scores if scores.dtype == bool else scores.astype(np.float64)).T

    def counts() -> list[np.ndarray]:
        return [photograph_counts(names, draws, seed=seed)]

    sizes = kept_sums(np.ones((len(names), 1), dtype=bool), wanted, counts)
    return np.asarray(kept_sums(columns, wanted, counts) / sizes)
