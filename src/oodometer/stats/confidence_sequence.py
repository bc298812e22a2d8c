"""A confidence sequence for the mean of a finite set of numbers that are looked at one by one in a random order.

Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting" (JRSS B 86, 2024), without
replacement: whoever bets against a wrong mean gets rich. The capital of a gambler who bets against the true one exceeds
2/α at any time with a probability of at most α/2 (Ville's inequality), so the means against which neither the gambler
on the high side nor the one on the low side has that much are an interval that holds at every look at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from oodometer.core.errors import OodometerError
from oodometer.core.estimate import Estimate
from oodometer.stats.intervals import check_level

MOST_OF_THE_CAPITAL = 0.9
"""Of what a gambler may lose at most in one bet: never everything, so that the game goes on."""

PRIOR_VARIANCE = 0.25
"""Of a coin, until something is known: it counts as one observation."""

STEPS = 40
"""Halvings of where an end may lie: 1e-12 of the scale."""


@dataclass(frozen=True)
class Bets:
    """What is known before each look, and how much is bet on it.

    Args:
        values: In [0, 1], in the order in which they came, (n,).
        before: The sum of those that came before, (n,).
        left: How many had not come, itself included, (n,).
        stakes: Of the bet, before it is cut to what may be lost, (n,).
    """

    values: np.ndarray
    before: np.ndarray
    left: np.ndarray
    stakes: np.ndarray


def confidence_sequence(
    values: np.ndarray, total: int, *, aims: Sequence[tuple[int, float]], level: float = 0.95
) -> Estimate:
    """The mean of all ``total`` numbers, of which the first n of a random order are known, with its interval.

    The interval may be looked at after every number, and the looking stopped for any reason. When all are known it is
    the mean itself.

    Args:
        values: In [0, 1], in the order in which they came, (n,).
        aims: The half widths that the bets aim at, each until so many numbers; the last one goes on. They must not
            depend on the numbers that they are about. Any are valid; an interval is narrowest where it reaches its aim.

    >>> first = np.tile([1.0, 1.0, 0.0, 1.0], 100)
    >>> print(confidence_sequence(first, 50_000, aims=[(400, 0.06)]))
    0.7500 [0.6828, 0.8020]  n=400
    >>> print(confidence_sequence(first, 400, aims=[(400, 0.06)]))
    0.7500 [0.7500, 0.7500]  n=400
    """
    check_level(level)
    n = len(values)
    if n == 0:
        raise OodometerError("no images: the share is undefined")
    if total < n:
        raise OodometerError(f"{n} of {total} images: more than there are")
    if values.min() < 0 or values.max() > 1:
        raise OodometerError("a confidence sequence is about numbers between 0 and 1")
    bets = bets_of(np.asarray(values, dtype=np.float64), total, aims)
    known = float(bets.values.sum())
    lowest, highest = known / total, (known + total - n) / total
    enough = float(np.log(2 / (1 - level)))
    value = known / n
    low = _end(bets, total, lowest, min(max(value, lowest), highest), enough)
    high = 1 - _end(_mirrored(bets), total, 1 - highest, 1 - min(max(value, lowest), highest), enough)
    return Estimate(value, min(low, value), max(high, value), n, f"betting, of {total} images, {100 * level:g}%")


def p_value_at_any_time(values: np.ndarray, total: int, mean: float, *, aims: Sequence[tuple[int, float]]) -> float:
    """Of "the mean of all is this", valid whenever the looking stopped: the interval of level 1 - p just reaches it.

    Two over what the richer of the two gamblers has.

    >>> first = np.tile([1.0, 1.0, 0.0, 1.0], 100)
    >>> round(p_value_at_any_time(first, 50_000, 0.6828, aims=[(400, 0.06)]), 3)
    0.05
    """
    bets = bets_of(np.asarray(values, dtype=np.float64), total, aims)
    richer = max(_log_capital(bets, total, mean), _log_capital(_mirrored(bets), total, 1 - mean))
    return float(min(2 * np.exp(-richer), 1.0))


def numbers_needed(
    alike: np.ndarray, total: int, *, aims: Sequence[tuple[int, float]], width: float, level: float = 0.95
) -> int:
    """After how many numbers like these the interval is within ± width: a guess, since others will come.

    >>> numbers_needed(np.array([1.0, 0.0]), 50_000, aims=[(50_000, 0.01)], width=0.01)
    13473
    """
    low, high = 1, total
    while low < high:
        middle = (low + high) // 2
        found = confidence_sequence(np.resize(alike, middle), total, aims=aims, level=level)
        assert found.low is not None
        assert found.high is not None
        if (found.high - found.low) / 2 <= width:
            high = middle
        else:
            low = middle + 1
    return low


def bets_of(values: np.ndarray, total: int, aims: Sequence[tuple[int, float]]) -> Bets:
    """What is staked on each number, from those before it alone.

    A stake of aim / variance makes the interval narrowest when its half width is the aim. Without replacement a wrong
    mean shows more clearly in what is left, by total / left, and the stake follows.
    """
    n = len(values)
    if not aims or min(width for _, width in aims) <= 0:
        raise OodometerError("a confidence sequence needs the half width that it aims at")
    before = np.concatenate([[0.0], np.cumsum(values)[:-1]])
    left = total - np.arange(n)
    count = np.arange(1, n + 1)
    means = (0.5 + before + values) / (count + 1)
    spread = np.concatenate([[0.0], np.cumsum((values - means) ** 2)[:-1]])
    variance = (PRIOR_VARIANCE + spread) / count
    bounds = np.array([stop for stop, _ in aims[:-1]])
    widths = np.array([width for _, width in aims])[np.searchsorted(bounds, np.arange(n), side="right")]
    return Bets(values, before, left, widths / variance * total / left)


def _mirrored(bets: Bets) -> Bets:
    """The same about one minus each number: what is high becomes low."""
    return Bets(1 - bets.values, np.arange(len(bets.values)) - bets.before, bets.left, bets.stakes)


def _end(bets: Bets, total: int, lowest: float, value: float, enough: float) -> float:
    """The lowest mean against which the capital is not enough yet; it falls as the mean grows."""
    if _log_capital(bets, total, lowest) < enough:
        return lowest
    low, high = lowest, value
    for _ in range(STEPS):
        middle = (low + high) / 2
        if _log_capital(bets, total, middle) < enough:
            high = middle
        else:
            low = middle
    return high


def _log_capital(bets: Bets, total: int, mean: float) -> float:
    """What a gambler has who started with 1 and always bet that the next number lies above what the mean expects."""
    expected = (total * mean - bets.before) / bets.left
    if expected.min() < 0:  # what came already is more than such a mean allows
        return float(np.inf)
    with np.errstate(divide="ignore"):
        stakes = np.minimum(bets.stakes, np.where(expected > 0, MOST_OF_THE_CAPITAL / expected, np.inf))
    return float(np.log1p(stakes * (bets.values - expected)).sum())
