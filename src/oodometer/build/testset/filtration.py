"""Adversarial filtration: which candidates are hard for some models, as ImageNet-A and ImageNet-O were chosen.

Both papers let a person choose from what is left. Rules are plain functions of answers, so that whoever has stored
predictions can filter without a model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from oodometer.build.testset.sampling.draw import places_in_line
from oodometer.core.errors import DataError, UsageError

MOST_CONFIDENCE = 0.15
MOST_PER_CONFUSION = 15
"""Hendrycks et al. 2021 (natural adversarial examples), section 3."""

RIGHT = "answered rightly in a crop by a model"
SURE = "given too much confidence on its true class by a model"
NEAR = "taken for a class that is too near to count as an error"
COMMON = "one more of a common confusion"
UNSURE = "called a known class with too little confidence"


@dataclass(frozen=True, eq=False)
class Filtered:
    """What a rule leaves.

    Args:
        rows: Of the images that are left, (n,).
        out: By image why it is out; empty where it is left, (N,).
        reasons: Why any may be out, in the order in which the rule asks.
    """

    rows: np.ndarray
    out: tuple[str, ...]
    reasons: tuple[str, ...]

    @property
    def funnel(self) -> list[tuple[str, int]]:
        """How many are left after each question, the first being all.

        >>> Filtered(np.array([1]), ("too dark", "", "too small"), ("too small", "too dark")).funnel
        [('candidates', 3), ('not too small', 2), ('not too dark', 1)]
        """
        gone, steps = Counter(self.out), [("candidates", len(self.out))]
        for reason in self.reasons:
            steps.append((f"not {reason}", steps[-1][1] - gone[reason]))
        return steps


@dataclass(frozen=True, eq=False)
class FilterAnswers:
    """What models answered, each asked about some crops of every image.

    Args:
        ids: Of the images.
        labels: Their true classes, (N,).
        predictions: The answer of each model in each crop, (A, N).
        on_true_class: The confidence of each model, over its crops or in each, that the true class gets, (B, N).
        called: What an image is taken for, (N,): by the confusion that it counts in.
    """

    ids: Sequence[str]
    labels: np.ndarray
    predictions: np.ndarray
    on_true_class: np.ndarray
    called: np.ndarray

    def __post_init__(self) -> None:
        n = len(self.ids)
        shapes = (len(self.labels), self.predictions.shape[-1], self.on_true_class.shape[-1], len(self.called))
        if any(one != n for one in shapes):
            raise DataError(f"{n} images, but answers about {', '.join(map(str, shapes))}")
        if not ((self.on_true_class >= 0) & (self.on_true_class <= 1)).all():
            raise DataError("a confidence in the true class is no probability: give shares in [0, 1]")


def imagenet_a(
    answers: FilterAnswers,
    *,
    most_confidence: float = MOST_CONFIDENCE,
    most_per_confusion: int = MOST_PER_CONFUSION,
    groups: np.ndarray | None = None,
    seed: int = 0,
) -> Filtered:
    """The images that all models get wrong in all crops, with little confidence in the truth; of each confusion a few.

    An image goes out if any crop is answered rightly by any model, or if any gives its true class more than 15 %
    confidence; then each confusion (true class, answer) appears at most 15 times. Which of a confusion stay is a
    uniform draw: the paper does not say.

    Args:
        groups: By class the number of its group, (K,): mistakes within a group of near classes are none that counts.
    """
    if most_per_confusion < 1:
        raise UsageError(f"--per-confusion {most_per_confusion}: at least 1")
    reasons = (RIGHT, SURE, *((NEAR,) if groups is not None else ()), COMMON)
    labels, n = answers.labels, len(answers.ids)
    why: list[str] = [""] * n
    _give(why, (answers.predictions == labels).any(axis=0), RIGHT)
    _give(why, np.asarray((answers.on_true_class > most_confidence).any(axis=0)), SURE)
    if groups is not None:
        _give(why, groups[answers.called] == groups[labels], NEAR)
    left = np.array([row for row in range(n) if not why[row]], dtype=np.int64)
    line = places_in_line(answers.ids, seed)
    seen: Counter[tuple[int, int]] = Counter()
    for row in left[np.argsort(line[left], kind="stable")].tolist():
        confusion = int(labels[row]), int(answers.called[row])
        seen[confusion] += 1
        if seen[confusion] > most_per_confusion:
            why[row] = COMMON
    return Filtered(_left(why), tuple(why), reasons)


def imagenet_o(confidence: np.ndarray, *, at_least: float) -> Filtered:
    """Of images of classes that no model knows, those that each model calls a known one with this confidence or more.

    The paper keeps what a ResNet-50 calls a known class "with high confidence", and names no number.

    Args:
        confidence: The largest probability that each model gives, (A, N).

    >>> imagenet_o(np.array([[0.9, 0.4], [0.8, 0.9]]), at_least=0.5).rows.tolist()
    [0]
    """
    if not 0 < at_least <= 1:
        raise UsageError(f"--at-least {at_least:g}: a confidence above 0, at most 1")
    why = [""] * confidence.shape[1]
    _give(why, np.asarray((confidence < at_least).any(axis=0)), UNSURE)
    return Filtered(_left(why), tuple(why), (UNSURE,))


def _give(why: list[str], rows: np.ndarray, reason: str) -> None:
    """Give a reason to those of these rows that have none yet."""
    for row in np.flatnonzero(rows).tolist():
        why[row] = why[row] or reason


def _left(why: Sequence[str]) -> np.ndarray:
    return np.array([row for row, reason in enumerate(why) if not reason], dtype=np.int64)
