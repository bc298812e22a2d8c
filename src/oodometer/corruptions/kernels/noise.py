"""The compiled loops of the noises: random words, alias tables, and their look-up.

The words come from Philox4x32-7 (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3"; seven rounds are
the fewest that pass BigCrush). It is a function of a counter and a key: the same on any machine and in any thread.

The work goes in chunks that stay in the first-level cache, and in passes of which all but the look-up vectorise.
"""

from __future__ import annotations

import numpy as np

from oodometer.corruptions.jit import jit

CHUNK = 2048
"""Values that are worked on at a time; a change of it changes which word belongs to which value."""
BLOCKS = CHUNK // 4

OFFSET_BITS = 9
"""Additive noise moves a value by -255 to 255: 511 outcomes in 512 columns."""
LEVEL_BITS = 8

_LOW_WORD = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_MULTIPLY_0 = np.uint64(0xD2511F53)
_MULTIPLY_1 = np.uint64(0xCD9E8D57)
_WEYL_0 = np.uint32(0x9E3779B9)
_WEYL_1 = np.uint32(0xBB67AE85)


@jit
def fill_words(words: np.ndarray, first_block: int, key: np.ndarray) -> None:
    """Fill a chunk with random words, (CHUNK,) uint32: those of one block lie a quarter of a chunk apart.

    Args:
        first_block: The counter of the first block of four words.
        key: (4,) uint32: the key of Philox, then the upper half of its counter.
    """
    first, second, third, fourth = (
        words[:BLOCKS],
        words[BLOCKS : 2 * BLOCKS],
        words[2 * BLOCKS : 3 * BLOCKS],
        words[3 * BLOCKS :],
    )
    for i in range(BLOCKS):
        c0, c1 = np.uint64(first_block + i) & _LOW_WORD, np.uint64(first_block + i) >> _HALF
        c2, c3 = np.uint64(key[2]), np.uint64(key[3])
        k0, k1 = np.uint32(key[0]), np.uint32(key[1])
        for _ in range(7):
            p0, p1 = c0 * _MULTIPLY_0, c2 * _MULTIPLY_1
            c0, c1 = (p1 >> _HALF) ^ c1 ^ np.uint64(k0), p1 & _LOW_WORD
            c2, c3 = (p0 >> _HALF) ^ c3 ^ np.uint64(k1), p0 & _LOW_WORD
            k0, k1 = np.uint32(k0 + _WEYL_0), np.uint32(k1 + _WEYL_1)
        first[i], second[i] = np.uint32(c0), np.uint32(c1)
        third[i], fourth[i] = np.uint32(c2), np.uint32(c3)


@jit
def alias_tables(counts: np.ndarray, fraction_bits: int) -> tuple[np.ndarray, np.ndarray]:
    """Walker's alias tables of several distributions, in whole numbers and so without rounding (Vose 1991).

    Args:
        counts: (R, C) int64, each row adds up to C << fraction_bits.

    Returns:
        Thresholds and aliases, (R, C) int64: column j gives j for a fraction below its threshold, else its alias.
    """
    full = np.int64(1) << np.int64(fraction_bits)
    n_rows, n_columns = counts.shape
    thresholds = np.zeros((n_rows, n_columns), np.int64)
    aliases = np.empty((n_rows, n_columns), np.int64)
    small = np.empty(n_columns, np.int64)
    large = np.empty(n_columns, np.int64)
    for row in range(n_rows):
        left = counts[row].copy()
        n_small = n_large = 0
        for column in range(n_columns):
            aliases[row, column] = column
            if left[column] < full:
                small[n_small] = column
                n_small += 1
            elif left[column] > full:
                large[n_large] = column
                n_large += 1
        while n_small:
            n_small -= 1
            poor, rich = small[n_small], large[n_large - 1]
            thresholds[row, poor] = left[poor]
            aliases[row, poor] = rich
            left[rich] -= full - left[poor]
            if left[rich] <= full:
                n_large -= 1
            if left[rich] < full:
                small[n_small] = rich
                n_small += 1
    return thresholds, aliases


@jit
def _look_up_offsets(words: np.ndarray, table: np.ndarray, entries: np.ndarray) -> None:
    mask = np.uint32((1 << OFFSET_BITS) - 1)
    for i in range(len(words)):
        entries[i] = table[np.uint64(words[i] & mask)]


@jit
def _add_offsets(values: np.ndarray, words: np.ndarray, entries: np.ndarray, out: np.ndarray) -> None:
    bits, mask = np.uint32(OFFSET_BITS), np.uint32((1 << OFFSET_BITS) - 1)
    for i in range(len(out)):
        own, alias = np.uint32(words[i] & mask), np.uint32(entries[i] & mask)
        chosen = own if np.uint32(words[i] >> bits) < np.uint32(entries[i] >> bits) else alias
        moved = np.int32(np.int32(values[i]) + np.int32(chosen) - np.int32(255))
        out[i] = np.uint8(min(max(moved, np.int32(0)), np.int32(255)))


@jit
def add_offsets(values: np.ndarray, table: np.ndarray, key: np.ndarray) -> np.ndarray:
    """Each value plus a random offset, clipped, (N,) uint8.

    Args:
        table: (512,) uint32: threshold << 9 | alias; column j stands for the offset j - 255.
    """
    out = np.empty(values.size, np.uint8)
    words, entries = np.empty(CHUNK, np.uint32), np.empty(CHUNK, np.uint32)
    for start in range(0, values.size, CHUNK):
        part = values[start : start + CHUNK]
        fill_words(words, start // 4, key)
        _look_up_offsets(words[: part.size], table, entries)
        _add_offsets(part, words, entries, out[start : start + CHUNK])
    return out


@jit
def _index(values: np.ndarray, words: np.ndarray, n_columns: int, index: np.ndarray) -> None:
    columns = np.uint32(n_columns)
    mask = np.uint32(n_columns - 1)
    for i in range(len(values)):
        index[i] = np.uint32(np.uint32(values[i]) * columns) + np.uint32(words[i] & mask)


@jit
def _look_up(index: np.ndarray, table: np.ndarray, entries: np.ndarray) -> None:
    for i in range(len(index)):
        entries[i] = table[np.uint64(index[i])]


@jit
def _choose(words: np.ndarray, entries: np.ndarray, mask: int, factor: int, out: np.ndarray) -> None:
    bits, low, columns, step = np.uint32(LEVEL_BITS), np.uint32(255), np.uint32(mask), np.uint32(factor)
    for i in range(len(out)):
        own = np.uint32(np.uint32(np.uint32(words[i] & columns) * step) >> np.uint32(16))
        alias = np.uint32(entries[i] & low)
        out[i] = np.uint8(own if np.uint32(words[i] >> bits) < np.uint32(entries[i] >> bits) else alias)


@jit
def replace_levels(values: np.ndarray, table: np.ndarray, factor: int, key: np.ndarray) -> np.ndarray:
    """Each value replaced by a random level whose distribution depends on the value, (N,) uint8.

    Args:
        table: (256, C) uint32, C a power of two up to 256: threshold << 8 | the level of the alias.
        factor: Column j stands for the level (j * factor) >> 16.
    """
    n_columns = table.shape[1]
    flat = table.reshape(-1)
    out = np.empty(values.size, np.uint8)
    words, entries, index = np.empty(CHUNK, np.uint32), np.empty(CHUNK, np.uint32), np.empty(CHUNK, np.uint32)
    for start in range(0, values.size, CHUNK):
        part = values[start : start + CHUNK]
        fill_words(words, start // 4, key)
        _index(part, words, n_columns, index)
        _look_up(index[: part.size], flat, entries)
        _choose(words, entries, n_columns - 1, factor, out[start : start + CHUNK])
    return out


@jit
def _strike(values: np.ndarray, words: np.ndarray, salt: int, struck: int, out: np.ndarray) -> None:
    to_white, to_black = np.uint32(salt), np.uint32(struck)
    for i in range(len(out)):
        kept = np.uint8(0) if words[i] < to_black else values[i]
        out[i] = np.uint8(255) if words[i] < to_white else kept


@jit
def salt_and_pepper(values: np.ndarray, salt: int, struck: int, key: np.ndarray) -> np.ndarray:
    """Each value 255 where its word is below ``salt``, else 0 where it is below ``struck``, else as it was."""
    out = np.empty(values.size, np.uint8)
    words = np.empty(CHUNK, np.uint32)
    for start in range(0, values.size, CHUNK):
        fill_words(words, start // 4, key)
        _strike(values[start : start + CHUNK], words, salt, struck, out[start : start + CHUNK])
    return out
