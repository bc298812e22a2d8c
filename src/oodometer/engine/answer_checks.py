"""What looks wrong about answers from elsewhere: signs of a mistake in the file, not of a bad model."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from oodometer.core.predictions import Predictions

FEWEST = 10
"""So many images must show a mistake before it is told: fewer may be chance."""


def doubts(rows: Predictions, *, n_classes: int, n_known: int) -> list[str]:
    """What a reader of these answers should know, in a line each.

    Args:
        n_classes: Of the data.
        n_known: How many of the best classes are known per image.
    """
    labelled = rows.label >= 0
    if not labelled.any():
        return []
    shifted = _counted_otherwise(rows.prediction[labelled], rows.label[labelled], n_classes)
    return [*shifted, *_out_of_order(rows.rank[labelled], n_classes, min(n_known, 5))]


def _counted_otherwise(prediction: np.ndarray, label: np.ndarray, n_classes: int) -> Iterator[str]:
    """A line where the answers are one beside the labels.

    The rule: at least a tenth of the answers (and ten) are the label plus or minus one, three times as many as are the
    label, and three times as many as by chance. The tenth, because on images that are hard by choice next to no answer
    is right and some name a kin of the class, which often has the next number.
    """
    n, right = len(label), int((prediction == label).sum())
    for step, word in ((1, "plus"), (-1, "minus")):
        beside = int((prediction == label + step).sum())
        if beside >= max(FEWEST, 0.1 * n, 3 * right, 3 * n / n_classes):
            yield (
                f"{beside / n:.1%} of the answers are the label {word} 1 and {right / n:.1%} the "
                "label itself; is one of them counted from 1?"
            )


def _out_of_order(rank: np.ndarray, n_classes: int, n_known: int) -> Iterator[str]:
    """A line where the best classes are not in order, the best first.

    The rule: the true class is among the best k for at least half of what chance leaves, is first for less than a
    third of these, and a later place holds it more often than the first.
    """
    places = np.bincount(rank[rank < n_known], minlength=n_known)
    among, first = places.sum() / len(rank), places[0] / len(rank)
    high = (1 + min(1.0, n_known / n_classes)) / 2
    if n_known > 1 and places.sum() >= FEWEST and among >= high and first < among / 3 and places.argmax() > 0:
        yield (
            f"the true class is first for {first:.1%} of the images but among the best {n_known} for {among:.1%}, most "
            f"often at place {places.argmax() + 1}; are the classes in order, the best first?"
        )
