"""Logistic regression with a ridge: which of two kinds something is, from its features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from oodometer.core.errors import DataError, UsageError

TOLERANCE = 1e-8
MOST_STEPS = 100


@dataclass(frozen=True, eq=False)
class Logistic:
    """A fitted classifier.

    Args:
        weights: (D,).
        intercept: What the score is where all features are 0.
    """

    weights: np.ndarray
    intercept: float

    def scores(self, features: np.ndarray) -> np.ndarray:
        """The log odds of being of the second kind, (N, D) -> (N,)."""
        return np.asarray(features @ self.weights + self.intercept)


def fit_logistic(features: np.ndarray, second: np.ndarray, *, penalty: float = 1.0) -> Logistic:
    """The weights that minimise the sum of the losses plus ``penalty / 2`` times their squares; the intercept is free.

    By Newton's method, whose steps are halved where they go too far; the sum is convex, so there is one minimum.

    Args:
        features: (N, D), each on a scale like the others', since the penalty is the same for all.
        second: Which are of the second kind, (N,) bool.

    >>> x = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> found = fit_logistic(x, np.array([False, False, True, True]))
    >>> round(float(found.weights[0]), 4), abs(round(found.intercept, 4))
    (1.0066, 0.0)
    """
    if penalty <= 0:
        raise UsageError(f"a penalty of {penalty}: above 0, since the weights of kinds that can be parted are infinite")
    if second.all() or not second.any():
        raise DataError("all are of one kind: there is nothing to tell apart")
    design = np.column_stack([np.asarray(features, np.float64), np.ones(len(features))])
    ridge = np.append(np.full(features.shape[1], penalty), 0.0)
    weights = np.zeros(design.shape[1])
    value, slope, curve = _loss(design, second, ridge, weights)
    for _ in range(MOST_STEPS):
        step = np.linalg.solve(curve, slope)
        if float(slope @ step) < TOLERANCE:
            break
        size = 1.0
        while _loss_alone(design, second, ridge, weights - size * step) > value - 1e-4 * size * float(slope @ step):
            size /= 2
        weights = weights - size * step
        value, slope, curve = _loss(design, second, ridge, weights)
    return Logistic(weights[:-1], float(weights[-1]))


def _loss_alone(design: np.ndarray, second: np.ndarray, ridge: np.ndarray, weights: np.ndarray) -> float:
    scores = design @ weights
    return float(np.logaddexp(0, np.where(second, -scores, scores)).sum() + (ridge * weights**2).sum() / 2)


def _loss(
    design: np.ndarray, second: np.ndarray, ridge: np.ndarray, weights: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray]:
    """The loss, its slope and its curvature."""
    share = np.exp(-np.logaddexp(0, -(design @ weights)))
    slope = design.T @ (share - second) + ridge * weights
    # A little more than the curvature where all are told for certain, so that it can be divided by.
    spread = np.maximum(share * (1 - share), 1e-12)
    curve = (design * spread[:, None]).T @ design + np.diag(ridge)
    return _loss_alone(design, second, ridge, weights), slope, curve
