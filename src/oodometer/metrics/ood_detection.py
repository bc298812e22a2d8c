"""Out-of-distribution detection: how well a score tells images of unknown classes from images of known ones.

The OOD images are the positive class throughout, and a higher score means "more OOD". Images of the same score are on
the same side of every threshold.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple

import numpy as np

from oodometer.core.errors import OodometerError, UsageError, did_you_mean
from oodometer.core.predictions import Predictions

Area = Literal["average-precision", "trapezoid"]
At = Literal["first", "nearest"]

SCORES: Mapping[str, tuple[str, int]] = {
    "max-softmax": ("confidence", -1),
    "max-logit": ("max_logit", -1),
    "energy": ("energy", -1),
    "entropy": ("entropy", 1),
}
"""Name of the score to the column of `Predictions` that it is, and its sign."""

BLOCK = 1 << 22
"""Weights worked on at once: some draws of all images."""


def scores_of(rows: Predictions, name: str = "max-softmax") -> np.ndarray:
    """The score of each image, higher for more OOD, (N,): max-softmax, max-logit, energy or entropy.

    On ImageNet-O the rows must come from logits masked to its 200 classes, as with ImageNet-A.

    >>> from oodometer.core.predictions import from_logits
    >>> rows = from_logits(np.array([[2.0, 0.0], [0.5, 0.0]]), np.array([-1, -1]), np.arange(2))
    >>> scores_of(rows, "max-logit").tolist()
    [-2.0, -0.5]
    """
    if name not in SCORES:
        raise UsageError(f"no OOD score named {name!r}{did_you_mean(name, SCORES)}")
    column, sign = SCORES[name]
    return np.asarray(sign * getattr(rows, column))


def chance_aupr(n_in: int, n_ood: int) -> float:
    """The AUPR of a score that knows nothing: the share of OOD images.

    >>> round(chance_aupr(10_000, 2_000), 4)  # ImageNet-O against the clean images of its classes
    0.1667
    """
    if n_in < 1 or n_ood < 1:
        raise OodometerError(f"{n_in} in-distribution and {n_ood} OOD images: detection needs some of both")
    return n_ood / (n_in + n_ood)


def auroc(in_scores: np.ndarray, ood_scores: np.ndarray) -> float:
    """How often an OOD image scores higher than an in-distribution image; equal scores count half.

    >>> auroc(np.array([0.1, 0.2, 0.3]), np.array([0.3, 0.9]))
    0.9166666666666666
    """
    return float(auroc_of(counts_of(ranking_of(in_scores, ood_scores)))[0])


def aupr(in_scores: np.ndarray, ood_scores: np.ndarray, *, area: Area = "average-precision") -> float:
    """The area under the precision-recall curve, OOD positive.

    Average precision is Σ (R_k − R_k−1) P_k over the thresholds, what the published tables have; ``trapezoid`` joins
    the points of the curve by straight lines, starting from precision 1 at recall 0: far too high where many scores are
    tied, a little lower than average precision where none are.

    >>> round(aupr(np.array([0.1, 0.2, 0.5]), np.array([0.4, 0.9])), 4)
    0.8333
    >>> round(aupr(np.array([0.1, 0.2, 0.5]), np.array([0.4, 0.9]), area="trapezoid"), 4)
    0.7917
    """
    return float(aupr_of(counts_of(ranking_of(in_scores, ood_scores)), area=area)[0])


def fpr_at_tpr(in_scores: np.ndarray, ood_scores: np.ndarray, *, tpr: float = 0.95, at: At = "first") -> float:
    """The share of in-distribution images taken for OOD where 95 % of the OOD images are caught.

    ``first``: at the highest threshold that catches at least that share. ``nearest``: where the share caught is
    nearest to it, as ``fpr_and_fdr_at_recall`` of hendrycks/outlier-exposure has it; it may be below. Of several
    thresholds that catch the same share it takes the lowest, so the most false alarms (the highest where all are
    caught), and of two shares as near the larger.

    >>> in_scores, ood_scores = np.arange(10) / 10, np.array([0.45, 0.65, 0.75, 0.95])
    >>> fpr_at_tpr(in_scores, ood_scores, tpr=0.7), fpr_at_tpr(in_scores, ood_scores, tpr=0.7, at="nearest")
    (0.3, 0.5)
    """
    return float(fpr_of(counts_of(ranking_of(in_scores, ood_scores)), tpr=tpr, at=at)[0])


@dataclass(frozen=True)
class Ranking:
    """All images sorted once, most OOD first, so that they can be counted many times with other weights.

    Args:
        order: Positions of the images, in-distribution before OOD ones, (N,).
        is_ood: Of the sorted images, (N,).
        starts: Where a new step of the curve begins, (G,). In-distribution images between two OOD images are one
            step: no measure here looks inside.
    """

    order: np.ndarray
    is_ood: np.ndarray
    starts: np.ndarray


class Counts(NamedTuple):
    """Images at or above each threshold, from the highest threshold to the lowest; both (D, G)."""

    caught: np.ndarray
    false_alarms: np.ndarray


def ranking_of(in_scores: np.ndarray, ood_scores: np.ndarray) -> Ranking:
    """The images of both kinds in one order, most OOD first."""
    in_scores, ood_scores = np.asarray(in_scores), np.asarray(ood_scores)
    if in_scores.ndim != 1 or ood_scores.ndim != 1 or len(in_scores) == 0 or len(ood_scores) == 0:
        raise OodometerError(
            f"in-distribution scores {in_scores.shape}, OOD scores {ood_scores.shape}: detection needs some of both, "
            "one per image"
        )
    scores = np.concatenate([in_scores, ood_scores])
    if np.isnan(scores).any():
        raise OodometerError("a score that is NaN: only the best classes of these answers are known")
    order = np.argsort(scores, kind="stable")[::-1]
    scores, is_ood = scores[order], order >= len(in_scores)
    starts = np.flatnonzero(np.append(True, scores[1:] != scores[:-1]))
    has_ood = np.logical_or.reduceat(is_ood, starts)
    kept = np.append(True, has_ood[1:] | has_ood[:-1])
    return Ranking(order, is_ood, starts[kept])


def counts_of(ranking: Ranking, weights: np.ndarray | None = None) -> Counts:
    """The counts at each threshold; each row of weights (D, N), one column per image, gives a row of counts.

    Args:
        ranking: Of N images.
        weights: How often each image counts, as whole numbers: the in-distribution images first, then the OOD images,
            each in the order of their scores as given. A bootstrap draws them. None: every image once.
    """
    if weights is None:
        weights = np.ones((1, len(ranking.order)), dtype=np.int64)
    if weights.ndim != 2 or weights.shape[1] != len(ranking.order):
        raise OodometerError(f"weights {weights.shape}: must be (draws, {len(ranking.order)}), one column per image")
    in_order = weights[:, ranking.order]
    every = np.add.reduceat(in_order, ranking.starts, axis=1, dtype=np.int64)
    caught = np.add.reduceat(in_order * ranking.is_ood, ranking.starts, axis=1, dtype=np.int64)
    return Counts(np.cumsum(caught, axis=1), np.cumsum(every - caught, axis=1))


def auroc_of(counts: Counts) -> np.ndarray:
    """The AUROC of each row of counts, (D,)."""
    caught, alarms = _with_some(counts, "caught", "false_alarms")
    new_alarms = np.diff(alarms, axis=1, prepend=0)
    # Of the OOD images in the same step, which have the same score, half count.
    twice = 2 * caught - np.diff(caught, axis=1, prepend=0)
    pairs = np.einsum("dg,dg->d", new_alarms, twice)
    return np.asarray(pairs / (2 * caught[:, -1] * alarms[:, -1]))


def aupr_of(counts: Counts, *, area: Area = "average-precision") -> np.ndarray:
    """The AUPR of each row of counts, (D,)."""
    caught, alarms = _with_some(counts, "caught")
    # Before the first image that is drawn at all, precision is 1 at recall 0: where the curve starts.
    flagged = caught + alarms
    precision = np.where(flagged > 0, caught, 1) / np.maximum(flagged, 1)
    if area == "trapezoid":
        precision = (precision + np.hstack([np.ones((len(caught), 1)), precision[:, :-1]])) / 2
    elif area != "average-precision":
        raise UsageError(f"no area named {area!r}; known: average-precision, trapezoid")
    newly = np.diff(caught, axis=1, prepend=0)
    return np.asarray(np.einsum("dg,dg->d", newly, precision) / caught[:, -1])


def fpr_of(counts: Counts, *, tpr: float = 0.95, at: At = "first") -> np.ndarray:
    """The false positive rate at a true positive rate, of each row of counts, (D,)."""
    if not 0 < tpr <= 1:
        raise OodometerError(f"true positive rate {tpr}: must lie in (0, 1], for example 0.95")
    caught, alarms = _with_some(counts, "caught", "false_alarms")
    recall = caught / caught[:, -1:]
    if at == "first":
        step = np.argmax(recall >= tpr, axis=1)
    elif at == "nearest":
        distance = np.abs(recall - tpr)
        # Thresholds below the first that catches everything are no candidates.
        distance[:, 1:][recall[:, :-1] >= 1] = np.inf
        step = recall.shape[1] - 1 - np.argmin(distance[:, ::-1], axis=1)
    else:
        raise UsageError(f"no convention named {at!r}; known: first, nearest")
    return np.asarray(alarms[np.arange(len(step)), step] / alarms[:, -1])


def _with_some(counts: Counts, *kinds: Literal["caught", "false_alarms"]) -> Counts:
    """The counts; an error where a draw has no image of a kind that is needed."""
    if not all(getattr(counts, kind)[:, -1].all() for kind in kinds):
        raise OodometerError("a draw without OOD or without in-distribution images: draw each kind from its own")
    return counts


detection_measures: Mapping[str, Callable[[Counts], np.ndarray]] = {
    "auroc": auroc_of,
    "aupr": aupr_of,
    "aupr:trapezoid": partial(aupr_of, area="trapezoid"),
    "fpr@95%": fpr_of,
    "fpr@95%:nearest": partial(fpr_of, at="nearest"),
}
"""The measures by the name of their convention."""


def detection_values(ranking: Ranking, weights: np.ndarray | None = None) -> dict[str, np.ndarray]:
    """Every measure of every row of weights, (D,) each; see `counts_of` for the weights.

    >>> ranking = ranking_of(np.array([0.1, 0.2, 0.5]), np.array([0.4, 0.9]))
    >>> {name: values.round(4).tolist() for name, values in detection_values(ranking).items()}
    ... # doctest: +NORMALIZE_WHITESPACE
    {'auroc': [0.8333], 'aupr': [0.8333], 'aupr:trapezoid': [0.7917], 'fpr@95%': [0.3333],
     'fpr@95%:nearest': [0.3333]}
    """
    if weights is None:
        weights = np.ones((1, len(ranking.order)), dtype=np.int64)
    step = max(BLOCK // len(ranking.order), 1)
    blocks = []
    for start in range(0, len(weights), step):
        counts = counts_of(ranking, weights[start : start + step])
        blocks.append([measure(counts) for measure in detection_measures.values()])
    return dict(zip(detection_measures, map(np.concatenate, zip(*blocks, strict=True)), strict=True))
