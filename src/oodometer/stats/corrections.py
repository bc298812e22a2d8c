"""Many tests at once: p-values adjusted for their number."""

from __future__ import annotations

from typing import Literal

import numpy as np

from oodometer.core.errors import UsageError, did_you_mean

Correction = Literal["holm", "benjamini-hochberg", "bonferroni", "none"]

CORRECTIONS: tuple[Correction, ...] = ("holm", "benjamini-hochberg", "bonferroni", "none")


def holm(p_values: np.ndarray) -> np.ndarray:
    """Holm's adjusted p-values, (K,) -> (K,): comparing them with a level keeps all errors together below it.

    Holm, Scandinavian Journal of Statistics 6 (1979). NaN stays NaN and is no test.

    >>> holm(np.array([0.01, 0.04, 0.03])).round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    adjusted, order = _tests(p_values)
    stepped = p_values[order] * np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(stepped), 1)
    return adjusted


def benjamini_hochberg(p_values: np.ndarray) -> np.ndarray:
    """Adjusted p-values, (K,) -> (K,), that keep the share of errors among what is found below a level, on average.

    Benjamini and Hochberg, Journal of the Royal Statistical Society B 57 (1995): for tests that are independent, or
    that move together. NaN stays NaN and is no test.

    >>> benjamini_hochberg(np.array([0.01, 0.04, 0.03])).round(3).tolist()
    [0.03, 0.04, 0.04]
    """
    adjusted, order = _tests(p_values)
    stepped = p_values[order] * len(order) / np.arange(1, len(order) + 1)
    adjusted[order] = np.minimum(np.minimum.accumulate(stepped[::-1])[::-1], 1)
    return adjusted


def corrected(p_values: np.ndarray, correction: str) -> np.ndarray:
    """The p-values adjusted for their number, (K,) -> (K,); NaN stays NaN and is no test.

    >>> corrected(np.array([0.01, 0.04, np.nan]), "bonferroni").tolist()
    [0.02, 0.08, nan]
    """
    if correction == "holm":
        return holm(p_values)
    if correction == "benjamini-hochberg":
        return benjamini_hochberg(p_values)
    if correction not in CORRECTIONS:
        raise UsageError(
            f"no correction {correction!r}{did_you_mean(correction, CORRECTIONS)}; there are {', '.join(CORRECTIONS)}"
        )
    times = int((~np.isnan(p_values)).sum()) if correction == "bonferroni" else 1
    return np.asarray(np.minimum(p_values * times, 1))


def correction_in_words(correction: str) -> str:
    """How p-values are adjusted, for a sentence.

    >>> correction_in_words("benjamini-hochberg"), correction_in_words("none")
    ('corrected after Benjamini-Hochberg', 'not corrected for their number')
    """
    return "not corrected for their number" if correction == "none" else f"corrected after {correction.title()}"


def _tests(p_values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Room for the adjusted p-values, and the places of those that are known, the smallest first."""
    return np.full(len(p_values), np.nan), np.argsort(p_values)[: int((~np.isnan(p_values)).sum())]
