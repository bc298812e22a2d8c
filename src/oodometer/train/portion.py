"""A part of the training images: a share of them, some of the classes, or all but one fold."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from oodometer.core.dataset import Dataset
from oodometer.core.errors import UsageError
from oodometer.core.labels import LabelSpace
from oodometer.core.random import key_words
from oodometer.data.subset import stratified

_RATIO = re.compile(r"(\d{1,9})/(\d{1,9})")


@dataclass(frozen=True)
class Portion:
    """What of the data a training uses; by default all of it.

    Args:
        share: Of the training images, every class in proportion; smaller shares lie within larger ones.
        n_classes: How many of the classes; fewer lie within more.
        fold: (1, 5): the first of five folds is the IID test, and the other four are trained on.
    """

    share: Fraction | None = None
    n_classes: int | None = None
    fold: tuple[int, int] | None = None

    def notes(self) -> dict[str, Any]:
        """For the card, under the names of the options; what is None is not used."""
        return {
            "share": None if self.share is None else str(self.share),
            "classes": self.n_classes,
            "fold": None if self.fold is None else f"{self.fold[0]}/{self.fold[1]}",
        }

    def in_words(self) -> str:
        """For the card's training data; empty where all is used.

        >>> Portion(share=Fraction(1, 8), n_classes=125).in_words()
        ', 1/8 of the images, 125 classes'
        """
        told = [
            f", {self.share} of the images" if self.share is not None else "",
            f", {self.n_classes} classes" if self.n_classes is not None else "",
            f", without fold {self.fold[0]} of {self.fold[1]}" if self.fold is not None else "",
        ]
        return "".join(told)


def portion_of(share: str | None, n_classes: int | None, fold: str | None) -> Portion:
    """The portion that the options ``--share``, ``--classes`` and ``--fold`` say.

    >>> portion_of("1/8", None, "2/5")
    Portion(share=Fraction(1, 8), n_classes=None, fold=(2, 5))
    """
    return Portion(_share(share), _n_classes(n_classes), _fold(fold))


def _share(text: str | None) -> Fraction | None:
    if text is None:
        return None
    try:
        share = Fraction(text.strip())
    except (ValueError, ZeroDivisionError):
        share = Fraction(0)
    if not 0 < share <= 1:
        raise UsageError(f"--share {text}: expected a share of the images such as 1/8 or 0.125")
    return share


def _n_classes(n: int | None) -> int | None:
    if n is not None and n < 2:
        raise UsageError(f"--classes {n}: at least 2 classes can be told apart")
    return n


def _fold(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    match = _RATIO.fullmatch(text.strip())
    number, n_folds = (int(match[1]), int(match[2])) if match else (0, 0)
    if not 1 <= number <= n_folds or n_folds < 2:
        raise UsageError(f"--fold {text}: expected which of how many folds, 1/5 to 5/5 for one")
    return number, n_folds


def of_classes(dataset: Dataset, n: int, *, seed: int) -> Dataset:
    """The images of ``n`` classes, in the order of the classes; which ones depends on their names and the seed.

    Of images with several labels, those with one of the classes, without their other labels.
    """
    if n > len(dataset.space):
        raise UsageError(f"--classes {n}: {dataset.name} has {len(dataset.space)} classes")
    by_chance = sorted(range(len(dataset.space)), key=lambda one: _draw("classes", dataset.space.classes[one], seed))
    kept = sorted(by_chance[:n])
    places = {old: new for new, old in enumerate(kept)}
    others = dataset.other_labels or ((),) * len(dataset)
    labels = [
        [places[one] for one in (first, *more) if one in places]
        for first, more in zip(dataset.labels.tolist(), others, strict=True)
    ]
    rows = np.array([row for row, some in enumerate(labels) if some], dtype=np.int64)
    if not len(rows):
        raise UsageError(f"--classes {n}: {dataset.name} has no image of these classes")
    few = dataset.take(rows)
    return replace(
        few,
        labels=np.array([labels[row][0] for row in rows], dtype=np.int64),
        space=LabelSpace(dataset.space.name, tuple(dataset.space.classes[one] for one in kept)),
        other_labels=None if dataset.other_labels is None else tuple(tuple(labels[row][1:]) for row in rows),
    )


def share_of_images(dataset: Dataset, share: Fraction, *, seed: int) -> Dataset:
    """That share of the images, at least one, every class in proportion."""
    return stratified(dataset, max(1, round(len(dataset) * share)), seed=seed)


def in_fold(dataset: Dataset, fold: tuple[int, int]) -> np.ndarray:
    """Which images are in a fold, (N,) bool: every class in proportion, all folds of one size to within one image.

    By the ids alone, so that the folds are the same for every model.
    """
    number, n_folds = fold
    if n_folds > len(dataset):
        raise UsageError(f"--fold {number}/{n_folds}: {dataset.name} has {len(dataset)} images only")
    keys = [(label, _draw("fold", id_, 0)) for label, id_ in zip(dataset.labels.tolist(), dataset.ids, strict=True)]
    dealt = np.empty(len(dataset), dtype=np.int64)
    dealt[sorted(range(len(dataset)), key=keys.__getitem__)] = np.arange(len(dataset)) % n_folds
    return np.asarray(dealt == number - 1)


def _draw(what: str, name: str, seed: int) -> tuple[int, ...]:
    return tuple(key_words(what, name, seed=seed).tolist())
