"""Accuracies and differences over a family whose conditions have images of their own: errors average out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from oodometer.analysis.judged_pair import Judged, PairAnswers, answers_of_pair, judged_when_stopped
from oodometer.analysis.sampled import (
    accuracy_of,
    accuracy_when_stopped,
    first_stopped,
    in_order_drawn,
    one_minus,
    stopped,
    sum_when_stopped,
)
from oodometer.core.estimate import Estimate
from oodometer.core.sample import Sample
from oodometer.stats.mean_of_shares import Answers, mean_of_shares
from oodometer.stats.paired import PairedCounts
from oodometer.store.cells import Cell
from oodometer.store.index import Index

Z_APART = "z, images drawn apart"
"""What the test is called."""


def mean_accuracy_apart(index: Index, cells: Sequence[Cell], *, level: float) -> Estimate:
    """The mean accuracy over conditions that have images of their own."""
    if len(cells) == 1 and (sample := stopped(cells[0])) is not None:
        return accuracy_when_stopped(in_order_drawn(index, cells[0]), sample, level=level)
    if all(stopped(cell) is not None for cell in cells):
        wrong = sum_when_stopped(index, cells, np.full(len(cells), 1 / len(cells)), level=level)
        return one_minus(wrong)
    several = []
    for cell in cells:
        (verdicts,) = index.verdicts([cell])
        known = verdicts.verdict >= 0
        several.append(Answers(index.images(cell).ids[verdicts.image[known]], verdicts.verdict[known] == 0))
    # Its n counts photographs; what is told of a sample is how many images of each condition it has.
    return replace(mean_of_shares(several, level=level), n=min(len(one.ids) for one in several))


def covariances_apart(right: Sequence[np.ndarray]) -> np.ndarray:
    """Of models' mean accuracies over conditions that have images of their own, (M, M).

    Within a condition all models saw the same images; between conditions nothing is shared, and variances add up.

    Args:
        right: Whether each model is right on the images of each condition, (M, n) each.
    """
    total = np.zeros((len(right[0]), len(right[0])))
    for of_condition in right:
        n = of_condition.shape[1]
        centred = of_condition - of_condition.mean(axis=1, keepdims=True)
        total += centred @ centred.T / (n * max(n - 1, 1))
    return np.asarray(total / len(right) ** 2)


def judged_apart(index: Index, pairs: Sequence[tuple[Cell, Cell]]) -> Judged:
    """Whether the mean over conditions of the accuracy of the second model is that of the first.

    Args:
        pairs: The cells of both models on each condition.
    """
    return PairApart.of(index, pairs).judged


@dataclass(frozen=True)
class PairApart:
    """Two models on conditions that have images of their own, on those that both saw of each.

    Args:
        answers: On each condition.
        sample: Of samples that were stopped.
    """

    answers: tuple[PairAnswers, ...]
    sample: Sample | None

    @classmethod
    def of(cls, index: Index, pairs: Sequence[tuple[Cell, Cell]]) -> PairApart:
        """What a store knows of the cells of both on each condition."""
        answers = tuple(answers_of_pair(index, [a], [b]) for a, b in pairs)
        return cls(answers, first_stopped([cell for pair in pairs for cell in pair]))

    @property
    def judged(self) -> Judged:
        """Whether the mean over conditions of the accuracy of the second model is that of the first."""
        found = judged_on_each([(one.right[0], one.right[1]) for one in self.answers], self.sample)
        if self.sample is not None:
            return found
        # An image that was drawn for two conditions is one image, as in the accuracies.
        n = len({image for one in self.answers for image in _ids(one).tolist()})
        return replace(found, n=n, difference_at=lambda level: replace(found.difference_at(level), n=n))

    def accuracies(self, level: float) -> list[Estimate]:
        """The mean over conditions of each model's accuracy."""
        if self.sample is None:
            return [
                mean_of_shares([Answers(_ids(one), one.right[side]) for one in self.answers], level=level)
                for side in (0, 1)
            ]
        rows = _steps([(one.right[0], one.right[1]) for one in self.answers])
        return [accuracy_of(row, level, replace(self.sample, members=1)) for row in rows]


def _ids(answers: PairAnswers) -> np.ndarray:
    assert answers.ids is not None
    return answers.ids


def _steps(pairs: Sequence[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Two models on one image of every condition after the other, as long as there is one of each, (n,) both."""
    n = min(len(a) for a, _ in pairs)
    first, second = (np.mean([values[side][:n] for values in pairs], axis=0) for side in (0, 1))
    return first, second


def judged_on_each(pairs: Sequence[tuple[np.ndarray, np.ndarray]], sample: Sample | None) -> Judged:
    """The same, where it is known which images both models are right on.

    Each condition's images are paired, and drawn apart from those of the others: the variances add up. By the normal
    law, or by a bet where the samples were stopped by what was seen.

    Args:
        pairs: Of each condition, (n,) bool both.
        sample: Of samples that were stopped.
    """
    from scipy.special import ndtr

    if sample is not None:
        return judged_when_stopped(*_steps(pairs), replace(sample, members=1))
    counts = [PairedCounts.of(a, b) for a, b in pairs]
    value, error = _difference_and_error(*_differing(counts))
    p_value = float(2 * ndtr(-abs(value) / error))
    n = sum(one.n for one in counts)
    return Judged(Z_APART, p_value, lambda level: mean_difference_of(counts, level=level), n)


def p_values_apart(right: Sequence[np.ndarray]) -> np.ndarray:
    """Those of `judged_on_each` for all pairs of models at once, (M, M).

    Args:
        right: Whether each model is right on the images of each condition, (M, n) each.
    """
    from scipy.special import ndtr

    only_one = np.stack([one.astype(np.float64) @ (~one).T.astype(np.float64) for one in right], axis=-1)
    n = np.array([one.shape[1] for one in right], dtype=np.float64)
    value, error = _difference_and_error(np.swapaxes(only_one, 0, 1), only_one, n)
    return np.asarray(2 * ndtr(-np.abs(value) / error))


def mean_difference_of(counts: Sequence[PairedCounts], *, level: float) -> Estimate:
    """The mean of differences of accuracies, B minus A, each over images of its own, with the normal interval.

    >>> print(mean_difference_of([PairedCounts(5, 1, 3, 1)] * 75, level=0.95))
    0.2000 [0.1546, 0.2454]  n=750
    """
    from scipy.special import ndtri

    value, error = (float(one) for one in _difference_and_error(*_differing(counts)))
    half = float(ndtri((1 + level) / 2)) * error
    total = sum(one.n for one in counts)
    name = f"normal, images drawn apart {100 * level:g}%"
    return Estimate(value, max(value - half, -1.0), min(value + half, 1.0), total, name)


def _differing(counts: Sequence[PairedCounts]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """On how many images of each condition only the second is right, only the first, and how many there are, (C,)."""
    b, c, n = (np.array([getattr(one, name) for one in counts], dtype=np.float64) for name in ("only_b", "only_a", "n"))
    return b, c, n


def _difference_and_error(b: np.ndarray, c: np.ndarray, n: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The mean difference over conditions, and its standard error, (...,).

    Each condition counts as if one more image were right for one model alone and one for the other, so that few images
    on which nobody differs are not taken for certainty (Agresti and Min, Statistics in Medicine 24, 2005).

    Args:
        b, c: Images that only the second, only the first model is right on, (..., C).
        n: Images of each condition, (C,).
    """
    conditions = b.shape[-1]
    more = 2 / conditions
    share, mean = (b + c + more) / (n + more), (b - c) / (n + more)
    variance = ((share - mean**2) / np.maximum(n - 1, 1)).sum(axis=-1)
    return np.asarray(((b - c) / n).mean(axis=-1)), np.asarray(np.sqrt(variance) / conditions)
