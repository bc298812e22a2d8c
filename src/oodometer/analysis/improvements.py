"""By how much pairs of models improve under a shift, in the shift's own unit, and how these numbers vary together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from oodometer.analysis.controlled_pairs import ControlledPair
from oodometer.analysis.points import Points
from oodometer.catalogue.hypotheses import is_in_result
from oodometer.core.condition import MEASURES
from oodometer.core.errors import OodometerError
from oodometer.core.estimate import Estimate
from oodometer.stats.mean_over_pairs import OverPairs, mean_over_pairs


@dataclass(frozen=True)
class Improvements:
    """What pairs gain under one shift.

    Args:
        pairs: The pairs of which both models were measured on both sides, K of them.
        values: Shares: what is counted, of the model with the thing minus that without it, (K,).
        covariance: Of the values over images, (K, K).
        n: Shifted images.
        counted: What is counted, in words.
    """

    pairs: tuple[ControlledPair, ...]
    values: np.ndarray
    covariance: np.ndarray
    n: int | None
    counted: str

    def mean(self) -> OverPairs:
        """Over the pairs."""
        return mean_over_pairs(self.values, self.covariance, self.n)

    def each(self, level: float) -> list[Estimate]:
        """Of every pair with its interval over images."""
        diagonal = np.diag(self.covariance)
        return [
            mean_over_pairs(np.array([value]), np.array([[variance]]), self.n).estimate(level)
            for value, variance in zip(self.values, diagonal, strict=True)
        ]


def counted_on(points: Points, kind: str) -> str:
    """What is counted on a shift: its result, or the gap to the clean one."""
    measure = MEASURES[points.measure]
    return measure if is_in_result(points.y, kind) else f"gap in {measure}"


def improvements(points: Points, kind: str, pairs: Sequence[ControlledPair], level: float) -> Improvements:
    """What the pairs gain under a shift; an error where none was measured, or nothing is known of their doubt."""
    places = {point.model: at for at, point in enumerate(points.models)}
    here = [pair for pair in pairs if pair.before in places and pair.after in places]
    if not here:
        raise OodometerError("no pair of models was measured on both sides")
    before, after = ([places[getattr(pair, side)] for pair in here] for side in ("before", "after"))
    counts_gap = not is_in_result(points.y, kind)
    clean, shifted = ([_value(points, at, side) for at in range(len(points.models))] for side in ("x", "y"))
    values = _step(np.array(shifted), before, after)
    if counts_gap:
        values = values - _step(np.array(clean), before, after)
    known = points.right_x is not None and points.right_y is not None
    covariance = (
        _over_images(points, before, after, counts_gap)
        if known
        else _by_intervals(points, before, after, counts_gap, level)
    )
    return Improvements(tuple(here), values, covariance, points.models[before[0]].y.n, counted_on(points, kind))


def _value(points: Points, at: int, side: str) -> float:
    point = points.models[at]
    return point.x[0].value if side == "x" else point.y.value


def _step(values: np.ndarray, before: Sequence[int], after: Sequence[int]) -> np.ndarray:
    """The value after minus that before, of each pair."""
    return np.asarray(values[after].astype(np.float64) - values[before])


def _over_images(points: Points, before: Sequence[int], after: Sequence[int], counts_gap: bool) -> np.ndarray:
    """The covariance of the pairs' values where it is known who is right on which image, (K, K)."""
    assert points.right_x is not None
    assert points.right_y is not None
    shifted = _step(points.right_y, before, after)
    if not counts_gap:
        return covariance_of_means(shifted)
    clean = _step(points.right_x, before, after)
    if points.same_images:
        return covariance_of_means(shifted - clean)
    return np.asarray(covariance_of_means(shifted) + covariance_of_means(clean))


def covariance_of_means(differences: np.ndarray) -> np.ndarray:
    """The covariance of the means of several rows over the same images, (K, N) -> (K, K).

    As if two more images had been seen on which the models differ half of the time, once in either direction (Agresti &
    Min, Statistics in Medicine 24, 2005): two models that never differed on ten images may differ on the eleventh.

    >>> covariance_of_means(np.zeros((1, 8))).tolist()
    [[0.01]]
    """
    n = differences.shape[1]
    sums = differences.sum(axis=1)
    products = differences @ differences.T + np.eye(len(differences)) - np.outer(sums, sums) / (n + 2)
    return np.asarray(products / (n + 2) ** 2)


def _by_intervals(
    points: Points, before: Sequence[int], after: Sequence[int], counts_gap: bool, level: float
) -> np.ndarray:
    """The same where accuracies alone are known: models are taken as independent, which errs to the safe side."""
    used = sorted({*before, *after})
    identity = np.eye(len(points.models))
    steps = (identity[after] - identity[before])[:, used]  # the rows that take the difference of each pair
    variances = np.array([_variance(points.models[at].y, level) for at in used])
    if counts_gap:
        variances += [_variance(points.models[at].x[0], level) for at in used]
    return np.asarray(steps * variances @ steps.T)


def _variance(estimate: Estimate, level: float) -> float:
    """Of an accuracy, from the width of its interval."""
    from scipy.special import ndtri

    if estimate.low is None or estimate.high is None:
        raise OodometerError("nobody says how many images are behind these accuracies")
    return float(((estimate.high - estimate.low) / (2 * ndtri((1 + level) / 2))) ** 2)
