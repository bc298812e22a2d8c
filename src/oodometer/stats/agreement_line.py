"""Accuracy on images without labels from how often models agree there: agreement on the line.

Where the accuracies of models on clean and on shifted images lie on a line on the probit scale, the agreements of pairs
of them often lie on the same line (Baek et al. 2022). Agreement needs no labels, so the line can be drawn without any.
"""

from __future__ import annotations

import numpy as np

from oodometer.core.errors import OodometerError
from oodometer.stats.lines import Line, fit_line
from oodometer.stats.scales import from_scale, to_scale

FEWEST_MODELS = 3
"""Two models have one agreement, and a point is no line."""


def agreement_line(agreement_clean: np.ndarray, agreement_shifted: np.ndarray) -> Line:
    """The least-squares line of shifted on clean agreement over all pairs of M models, on the probit scale.

    Pairs that agree always or never have no place on the scale; the line says how many they were.

    Args:
        agreement_clean, agreement_shifted: Shares of images, (M, M) each.

    >>> clean = np.array([[1.0, 0.9, 0.8], [0.9, 1.0, 0.7], [0.8, 0.7, 1.0]])
    >>> line = agreement_line(clean, clean)
    >>> round(line.slope, 6), abs(round(line.intercept, 6)), line.n
    (1.0, 0.0, 3)
    """
    pairs = pairs_of_models(agreement_clean, agreement_shifted)
    x, y = agreement_clean[pairs], agreement_shifted[pairs]
    placed = np.isfinite(to_scale(x, "probit")) & np.isfinite(to_scale(y, "probit"))
    if placed.sum() < FEWEST_MODELS:
        raise OodometerError(
            f"{int(placed.sum())} of {len(x)} pairs of models agree sometimes and not always on both sides: a line "
            f"needs at least {FEWEST_MODELS}; add models that differ, or images"
        )
    if np.ptp(x[placed]) == 0 or np.ptp(y[placed]) == 0:
        raise OodometerError("all pairs of models agree equally often: no line is determined; add other models")
    return fit_line(x, y, scale="probit")


def pairs_of_models(agreement_clean: np.ndarray, agreement_shifted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which two models each pair is, (P,) and (P,): each pair once; an error where they are too few."""
    n = len(agreement_clean)
    if agreement_clean.shape != (n, n) or agreement_shifted.shape != (n, n):
        raise OodometerError(
            f"agreements of shapes {agreement_clean.shape} and {agreement_shifted.shape}: need one for every two of "
            "the same models, (M, M)"
        )
    if n < FEWEST_MODELS:
        raise OodometerError(
            f"{n} model{'' if n == 1 else 's'}: a line through the agreements of pairs needs at least {FEWEST_MODELS}"
        )
    return np.triu_indices(n, 1)


def aline_s(accuracy_clean: np.ndarray, agreement_clean: np.ndarray, agreement_shifted: np.ndarray) -> np.ndarray:
    """The accuracy of each model on the shifted images: its clean accuracy, carried over by the line of agreement.

    ALine-S of Baek et al. 2022, (M,), (M, M), (M, M) -> (M,).

    >>> clean = np.array([[1.0, 0.9, 0.8], [0.9, 1.0, 0.7], [0.8, 0.7, 1.0]])
    >>> aline_s(np.array([0.9, 0.8, 0.6]), clean, clean).round(6).tolist()
    [0.9, 0.8, 0.6]
    """
    _check_accuracies(accuracy_clean, agreement_clean)
    return agreement_line(agreement_clean, agreement_shifted).at(accuracy_clean)


def aline_d(accuracy_clean: np.ndarray, agreement_clean: np.ndarray, agreement_shifted: np.ndarray) -> np.ndarray:
    """The same from every pair of models by itself: where their own agreement went, so went their accuracy.

    ALine-D of Baek et al. 2022. With the slope a of the line of agreement, each pair says what the mean of its two
    accuracies is on the probit scale: its shifted agreement, plus a times what its clean accuracies are above its clean
    agreement. All pairs together say it of each model, by least squares. NaN for a model that is always or never right
    on the clean images, or is in no pair with a place on the scale.

    >>> clean = np.array([[1.0, 0.9, 0.8], [0.9, 1.0, 0.7], [0.8, 0.7, 1.0]])
    >>> aline_d(np.array([0.9, 0.8, 0.6]), clean, clean).round(6).tolist()
    [0.9, 0.8, 0.6]
    """
    _check_accuracies(accuracy_clean, agreement_clean)
    slope = agreement_line(agreement_clean, agreement_shifted).slope
    accuracy, clean, shifted = (
        to_scale(shares, "probit") for shares in (accuracy_clean, agreement_clean, agreement_shifted)
    )
    placed = np.isfinite(clean) & np.isfinite(shifted) & np.isfinite(accuracy) & np.isfinite(accuracy)[:, None]
    np.fill_diagonal(placed, False)
    with np.errstate(invalid="ignore"):
        means = shifted + slope * ((accuracy + accuracy[:, None]) / 2 - clean)
    means = np.where(placed, means, 0.0)
    # The normal equations of (w_i + w_j) / 2 = mean of the pair, over all pairs that have a place.
    normal = np.diag(placed.sum(axis=1)) + placed
    known = placed.any(axis=1)
    some = normal[np.ix_(known, known)].astype(np.float64)
    if not known.any() or np.linalg.eigvalsh(some)[0] < 1e-9:
        raise OodometerError(
            "too few pairs of models agree sometimes and not always; add models that differ, or images"
        )
    found = np.full(len(accuracy), np.nan)
    found[known] = np.linalg.solve(some, 2 * means.sum(axis=1)[known])
    return from_scale(found, "probit")


def _check_accuracies(accuracy_clean: np.ndarray, agreement_clean: np.ndarray) -> None:
    if accuracy_clean.shape != agreement_clean.shape[:1]:
        raise OodometerError(
            f"{accuracy_clean.shape} accuracies for agreements of shape {agreement_clean.shape}: give one per model"
        )
