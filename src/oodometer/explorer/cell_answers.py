"""The answers of single cells as arrays: what a page asks about one model, or about two on the same images.

A file has them in the order of the images, so counting is a few passes over arrays: a tenth of the time of a query.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from oodometer.explorer.catalogue import Held
from oodometer.store.index import Index
from oodometer.store.queries import Pairs

COLUMNS = ("image", "label", "prediction", "rank", "confidence")
SIDES = ("only_a", "only_b", "both", "neither")
"""Which of two models is right."""


@dataclass(frozen=True, eq=False)
class CellAnswers:
    """The rows of a cell, (N,) each: the place of the image in its data, and what `Predictions` has of it."""

    image: np.ndarray
    label: np.ndarray
    prediction: np.ndarray
    rank: np.ndarray
    confidence: np.ndarray

    def at(self, rows: np.ndarray) -> CellAnswers:
        """Some of the rows."""
        return CellAnswers(*(getattr(self, name)[rows] for name in COLUMNS))


class Agreed(NamedTuple):
    """Of images of a data set by their places, in order: models that were asked, and that are right, (N,) each."""

    image: np.ndarray
    n: np.ndarray
    n_right: np.ndarray


class OfClasses(NamedTuple):
    """How the images of every class are answered, a number for each class.

    Args:
        labels: The classes that occur, numbered as the answers are.
        n, n_right: Their images, and those answered rightly.
        instead: What the others are most often taken for, and how often, by class; not there where all are right.
    """

    labels: list[int]
    n: list[int]
    n_right: list[int]
    instead: dict[int, tuple[int, int]]


def read_answers(index: Index, held: Held) -> CellAnswers:
    """The rows of a cell as they are in the store."""
    return CellAnswers(**index.columns(held.cell, *COLUMNS))


def by_class(answers: CellAnswers) -> OfClasses:
    """Every class that occurs; of several that it is taken for as often, the first."""
    labelled = answers.rank >= 0
    label, rank, prediction = answers.label[labelled], answers.rank[labelled], answers.prediction[labelled]
    n = np.bincount(label)
    right = np.bincount(label[rank == 0], minlength=len(n))
    several = int(prediction.max(initial=0)) + 1
    wrong, times = np.unique(label[rank > 0].astype(np.int64) * several + prediction[rank > 0], return_counts=True)
    of_class = wrong // several  # in order, and within a class its answers
    classes, starts, sizes = np.unique(of_class, return_index=True, return_counts=True)
    most = np.repeat(np.maximum.reduceat(times, starts), sizes) if len(starts) else times
    worst = np.flatnonzero(times == most)
    worst = worst[np.diff(of_class[worst], prepend=-1) > 0]  # of as many the first
    instead = zip((wrong[worst] % several).tolist(), times[worst].tolist(), strict=True)
    present = np.flatnonzero(n)
    return OfClasses(
        present.tolist(),
        n[present].tolist(),
        right[present].tolist(),
        dict(zip(classes.tolist(), instead, strict=True)),
    )


def on_same_images(a: CellAnswers, b: CellAnswers) -> tuple[CellAnswers, CellAnswers]:
    """Both on the images that both have, in the order of the images; of cells of one data set."""
    if np.array_equal(a.image, b.image):
        return a, b
    _, rows_a, rows_b = np.intersect1d(a.image, b.image, assume_unique=True, return_indices=True)
    return a.at(rows_a), b.at(rows_b)


def pairs_of(a: CellAnswers, b: CellAnswers, *, grouped: bool, same_numbers: bool) -> Pairs:
    """Who is right on the labelled images of both.

    Args:
        grouped: Whether an image stands for a group, so that each model has its own.
        same_numbers: Whether both are known to number their classes alike; else their labels tell.
    """
    n_a, n_b = (int((answers.rank >= 0).sum()) for answers in (a, b))
    a, b = on_same_images(a, b)
    labelled = (a.rank >= 0) & (b.rank >= 0)
    good_a, good_b = a.rank == 0, b.rank == 0
    sides = (good_a & good_b, good_a & ~good_b, ~good_a & good_b, ~good_a & ~good_b)
    both, only_a, only_b, neither = (int(np.count_nonzero(side & labelled)) for side in sides)
    comparable = not grouped and (same_numbers or bool((a.label == b.label)[labelled].all()))
    same = int(np.count_nonzero((a.prediction == b.prediction) & labelled)) if comparable else None
    return Pairs(both, only_a, only_b, neither, same, n_a, n_b, None, None)


def rows_of_side(a: CellAnswers, b: CellAnswers, side: str) -> np.ndarray:
    """Which rows of two cells on the same images are of one of `SIDES`."""
    right, wrong = (a.rank == 0, b.rank == 0), (a.rank > 0, b.rank > 0)
    wanted = {
        "only_a": right[0] & wrong[1],
        "only_b": wrong[0] & right[1],
        "both": right[0] & right[1],
        "neither": wrong[0] & wrong[1],
    }
    return np.flatnonzero(wanted[side])
