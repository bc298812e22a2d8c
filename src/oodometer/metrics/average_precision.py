"""Mean average precision of multi-label answers, as on DeepFashion Remixed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from oodometer.core.errors import OodometerError, UsageError
from oodometer.metrics.ood_detection import BLOCK, Area, aupr, aupr_of, counts_of, ranking_of

Averaging = Literal["weighted", "plain"]

DFR_SHIFTS = (
    "size_small",
    "size_large",
    "occlusion_slight",
    "occlusion_heavy",
    "viewpoint_not_worn",
    "viewpoint_side_back",
    "zoom_medium",
    "zoom_large",
)
"""The shifts of DeepFashion Remixed that change one attribute each (Hendrycks et al. 2021)."""


@dataclass(frozen=True)
class ClassPrecision:
    """The average precision of each class, (C,) both.

    Args:
        average_precision: NaN for a class without positives, where it is undefined.
        n_positive: Images that carry the label.
    """

    average_precision: np.ndarray
    n_positive: np.ndarray

    @property
    def left_out(self) -> tuple[int, ...]:
        """The classes without positives, which take no part in a mean."""
        return tuple(int(one) for one in np.flatnonzero(self.n_positive == 0))

    def mean(self, averaging: Averaging = "weighted") -> float:
        """The mAP: Σ_c AP_c n_c / Σ_c n_c, or with ``plain`` the mean over the classes that have positives."""
        if averaging not in ("weighted", "plain"):
            raise UsageError(f"no averaging named {averaging!r}; known: weighted, plain")
        has = self.n_positive > 0
        weights = self.n_positive[has] if averaging == "weighted" else None
        return float(np.average(self.average_precision[has], weights=weights))


def class_precision(scores: np.ndarray, targets: np.ndarray, *, area: Area = "average-precision") -> ClassPrecision:
    """The average precision of each class, from scores (N, C) and which labels each image has, (N, C) bool.

    The script that made the published DeepFashion Remixed numbers (hendrycks/imagenet-r) takes the ``trapezoid`` area
    under the precision-recall curve of each class, and weights the classes by their positives.

    >>> scores = np.array([[0.9, 0.1, 0.3], [0.8, 0.7, 0.1], [0.1, 0.6, 0.2]])
    >>> targets = np.array([[True, False, False], [False, True, False], [True, True, False]])
    >>> found = class_precision(scores, targets)
    >>> found.average_precision.round(4).tolist(), found.left_out, round(found.mean(), 4)
    ([0.8333, 1.0, nan], (2,), 0.9167)
    """
    scores, targets = _checked(scores, targets)
    n_positive = targets.sum(axis=0)
    found = np.full(scores.shape[1], np.nan)
    for one in np.flatnonzero(n_positive):
        column, has = scores[:, one], targets[:, one]
        # Where every image has the label, every order is perfect.
        found[one] = 1.0 if has.all() else aupr(column[~has], column[has], area=area)
    return ClassPrecision(found, n_positive)


def mean_average_precision(
    scores: np.ndarray,
    targets: np.ndarray,
    *,
    averaging: Averaging = "weighted",
    area: Area = "average-precision",
) -> float:
    """The mAP over the classes that have positives, weighted by how many they have; see `class_precision`.

    >>> scores = np.array([[0.9, 0.1], [0.8, 0.7], [0.1, 0.6]])
    >>> targets = np.array([[True, False], [False, False], [True, True]])
    >>> mean_average_precision(scores, targets), mean_average_precision(scores, targets, averaging="plain")
    (0.7222222222222222, 0.6666666666666666)
    """
    return class_precision(scores, targets, area=area).mean(averaging)


def mean_average_precisions(
    scores: np.ndarray, targets: np.ndarray, weights: np.ndarray, *, area: Area = "average-precision"
) -> np.ndarray:
    """The weighted mAP of many draws of the images at once, (D,); ``weights`` (D, N) say how often each is in a draw.

    A class that has no positives in a draw takes no part in it.

    >>> scores = np.array([[0.9, 0.1], [0.8, 0.7], [0.1, 0.6]])
    >>> targets = np.array([[True, False], [False, False], [True, True]])
    >>> mean_average_precisions(scores, targets, np.array([[1, 1, 1], [2, 1, 0]])).round(4)
    array([0.7222, 1.    ])
    """
    scores, targets = _checked(scores, targets)
    if weights.ndim != 2 or weights.shape[1] != len(scores):
        raise OodometerError(f"weights {weights.shape}: must be (draws, {len(scores)}), one column per image")
    n_positive = weights @ targets.astype(np.int64)
    if not n_positive.any(axis=1).all():
        raise OodometerError("a draw in which no image has a label: mAP is undefined for it")
    totals = np.zeros(len(weights))
    for one in np.flatnonzero(n_positive.any(axis=0)):
        drawn = np.flatnonzero(n_positive[:, one])
        found = _average_precisions(scores[:, one], targets[:, one], weights[drawn], area)
        totals[drawn] += found * n_positive[drawn, one]
    return np.asarray(totals / n_positive.sum(axis=1))


def _average_precisions(scores: np.ndarray, has: np.ndarray, weights: np.ndarray, area: Area) -> np.ndarray:
    """The average precision of one class in each draw, (D,)."""
    if has.all():
        return np.ones(len(weights))
    ranking = ranking_of(scores[~has], scores[has])
    order = np.concatenate([np.flatnonzero(~has), np.flatnonzero(has)])
    step = max(BLOCK // len(scores), 1)
    blocks = (weights[start : start + step][:, order] for start in range(0, len(weights), step))
    return np.concatenate([aupr_of(counts_of(ranking, block), area=area) for block in blocks])


def ood_mean(values: Mapping[str, float]) -> float:
    """The plain mean of the eight shifts of DeepFashion Remixed, by name; others, such as the IID set, are ignored.

    >>> round(ood_mean(dict(zip(DFR_SHIFTS, [39.4, 73.0, 51.5, 41.2, 50.5, 63.2, 48.7, 73.3]))), 1)  # their ResNet-50
    55.1
    """
    missing = [name for name in DFR_SHIFTS if name not in values]
    if missing:
        raise OodometerError(f"the OOD mean is over eight shifts; missing: {', '.join(missing)}")
    return float(np.mean([values[name] for name in DFR_SHIFTS]))


def _checked(scores: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    scores, targets = np.asarray(scores), np.asarray(targets)
    if scores.ndim != 2 or scores.shape != targets.shape:
        raise OodometerError(f"scores {scores.shape}, targets {targets.shape}: must both be (images, classes)")
    if not np.isin(targets, (0, 1)).all():
        raise OodometerError("each target must say whether the image has the label: True or False, 1 or 0")
    if np.isnan(scores).any():
        raise OodometerError("a score that is NaN: every image needs a score for every class")
    targets = targets.astype(bool)
    if not targets.any():
        raise OodometerError("no image has a label: mAP is undefined")
    return scores, targets
