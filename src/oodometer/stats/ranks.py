"""Ranks of models, and how they change from one test set to another."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from oodometer.core.errors import OodometerError


class RankRange(NamedTuple):
    """The ranks that each model may have, both (M,)."""

    best: np.ndarray
    worst: np.ndarray


def ranks(values: np.ndarray) -> np.ndarray:
    """The rank of each model, 1 for the largest value; equals share the better rank, and the next ones are left out.

    For errors rather than accuracies pass ``-values``.

    >>> ranks(np.array([0.7, 0.9, 0.7, 0.2])).tolist()
    [2, 1, 2, 4]
    """
    return rank_range(values, rounding=0.0).best


def rank_range(values: np.ndarray, *, rounding: float = 0.0005) -> RankRange:
    """The best and the worst rank that each model may have, where values were rounded before they were published.

    Rounding keeps the order, so of two values rounded the same way only equal ones may have stood either way. That is
    the rule of the published tables (Recht et al. 2019): their ranks are all different and come from the accuracies
    before rounding, so that among equals any order occurs.

    Args:
        values: Larger is better, (M,).
        rounding: Half of the last digit: values closer than twice this may be exchanged. 0.0005 for accuracies printed
            in percent with one digit after the point; 0 for exact values.

    >>> found = rank_range(np.array([0.829, 0.827, 0.827, 0.825]))
    >>> found.best.tolist(), found.worst.tolist()
    ([1, 2, 2, 4], [1, 3, 3, 4])
    """
    values = _values(values)
    if not rounding >= 0:
        raise OodometerError(f"rounding {rounding}: must be 0 or more, for example 0.0005")
    lead = values[:, None] - values
    # A hair, since 0.829 - 0.828 is not 0.001 in floating point.
    surely_before = lead > max(2 * rounding - 1e-9, 0.0)
    return RankRange(1 + surely_before.sum(axis=0), len(values) - surely_before.sum(axis=1))


def rank_change(old: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Old rank minus new rank, as in the tables of Recht et al. 2019: -2 is a drop by two places, (M,).

    >>> rank_change(np.array([0.9, 0.8, 0.7]), np.array([0.5, 0.7, 0.6])).tolist()
    [-2, 1, 1]
    """
    old, new = _pair(old, new)
    change: np.ndarray = ranks(old) - ranks(new)
    return change


def rank_change_range(old: np.ndarray, new: np.ndarray, *, rounding: float = 0.0005) -> RankRange:
    """The best (largest) and the worst change of rank that the rounding of both sets allows.

    >>> found = rank_change_range(np.array([0.9, 0.8, 0.7]), np.array([0.7, 0.7, 0.6]))
    >>> found.best.tolist(), found.worst.tolist()
    ([0, 1, 0], [-1, 0, 0])
    """
    old, new = _pair(old, new)
    before, after = rank_range(old, rounding=rounding), rank_range(new, rounding=rounding)
    return RankRange(before.worst - after.best, before.best - after.worst)


def swapped_pairs(old: np.ndarray, new: np.ndarray) -> int:
    """The number of pairs of models whose order changes (Kendall's distance); a tie on either set is no change.

    >>> swapped_pairs(np.array([0.9, 0.8, 0.7]), np.array([0.5, 0.7, 0.6]))
    2
    """
    old, new = _pair(old, new)
    before, after = old[:, None] > old, new[:, None] > new
    return int((before & after.T).sum())


def top_overlap(old: np.ndarray, new: np.ndarray, k: int) -> float:
    """The share of the k best models on the old set that are among the k best on the new one.

    Where equals stand on both sides of place k, it is the expected share if their order is drawn by lot.

    >>> top_overlap(np.array([0.9, 0.8, 0.7, 0.6]), np.array([0.5, 0.7, 0.6, 0.4]), 2)
    0.5
    """
    old, new = _pair(old, new)
    if not 1 <= k <= len(old):
        raise OodometerError(f"top {k} of {len(old)} models: must lie between 1 and {len(old)}")
    return float((_chance_of_top(old, k) * _chance_of_top(new, k)).sum() / k)


def _chance_of_top(values: np.ndarray, k: int) -> np.ndarray:
    """The probability that each model is among the k best if equals are ordered by lot, (M,)."""
    best, worst = rank_range(values, rounding=0.0)
    chance: np.ndarray = np.clip((k - best + 1) / (worst - best + 1), 0.0, 1.0)
    return chance


def _pair(old: np.ndarray, new: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both sets' values, checked."""
    old, new = _values(old), _values(new)
    if len(old) != len(new):
        raise OodometerError(f"{len(old)} models on the old set but {len(new)} on the new one: ranks need the same")
    return old, new


def _values(values: np.ndarray) -> np.ndarray:
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != 1 or len(values) == 0:
        raise OodometerError(f"values of shape {values.shape}: ranks need one for each of one or more models")
    if np.isnan(values).any():
        raise OodometerError(f"{int(np.isnan(values).sum())} of {len(values)} values are NaN: leave these models out")
    return values
