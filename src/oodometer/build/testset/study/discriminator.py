"""How well a classifier tells the new images from the original ones (Recht et al. 2019, appendices B.2.8 and C.3.3).

Equally many images of both sets are taken of each class, so that neither the share of a set nor its mix of classes
tells anything, and a guess is right half of the time. A logistic regression learns on all folds but one and answers for
that one, each in turn.

The answers are not independent: any two of the classifiers have most of their training images in common. Where the two
sets are the same, the accuracy of a cross-validation in five folds varies by 1.6 times the variance of independent
answers (by simulation), and an unbiased estimate of its variance does not exist (Bengio and Grandvalet 2004). So the
interval is that of fewer independent answers, by the correction of Nadeau and Bengio (2003): the variance is taken as
1 + k / (k - 1) times as large, with k folds, which is somewhat more than it is. What the interval is about is the
accuracy of classifiers of so many images on other images. A network may see what these features don't show.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np

from oodometer.build.testset.likeness import Pictures
from oodometer.build.testset.model_features import model_features
from oodometer.build.testset.pixel_features import SMALL, pixel_features
from oodometer.build.testset.sampling.draw import places_in_line
from oodometer.build.testset.study.image_sets import ImageSet
from oodometer.build.testset.study.logistic import fit_logistic
from oodometer.core.errors import DataError, UsageError
from oodometer.core.estimate import Estimate
from oodometer.core.model import n_cores
from oodometer.core.preprocessing import Geometry
from oodometer.stats.intervals import weighted_share_of

PIXELS = "pixels"
SIDE = 8
FOLDS = 5
PENALTY = 10.0
"""Of features that are standardised; the weights of a hundred that tell nothing stay small for it."""


@dataclass(frozen=True)
class Discriminator:
    """How well two sets can be told apart.

    Args:
        features: What the classifier sees: ``pixels``, or what a model answers.
        accuracy: The share of images, held out, whose set it names.
        n_each: How many images of each set there were.
        n_features: How many numbers each image is.
        folds: Of the cross-validation.
    """

    features: str
    accuracy: Estimate
    n_each: int
    n_features: int
    folds: int


def discriminator(
    new: ImageSet,
    original: ImageSet,
    features: str = PIXELS,
    *,
    folds: int = FOLDS,
    seed: int = 0,
    level: float = 0.95,
) -> Discriminator:
    """How well a classifier tells the images of two sets apart.

    Args:
        features: ``pixels`` (8 x 8 of them), or the address of a model, whose answers are looked at.
        seed: Of which images are taken where one set has more of a class, and of the folds.
    """
    rows = balanced(new.classes, original.classes, new.ids, original.ids, seed=seed)
    sides = [_features(one.pictures, some, features) for one, some in zip((new, original), rows, strict=True)]
    classes = [*(new.classes[row] for row in rows[0]), *(original.classes[row] for row in rows[1])]
    ids = [*(new.ids[row] for row in rows[0]), *(original.ids[row] for row in rows[1])]
    is_new = np.arange(len(ids)) < len(rows[0])
    fold = folds_of(classes, is_new, ids, folds=folds, seed=seed)
    told = cross_validated(np.concatenate(sides), is_new, fold)
    accuracy = accuracy_over_folds(told, folds, level=level)
    return Discriminator(features, accuracy, len(rows[0]), sides[0].shape[1], folds)


def accuracy_over_folds(told: np.ndarray, folds: int, *, level: float = 0.95) -> Estimate:
    """The share of held-out images that are told rightly, (N,) bool, with an interval for training images in common.

    >>> print(accuracy_over_folds(np.arange(100) < 60, 5))
    0.6000 [0.4423, 0.7439]  n=100
    """
    effective = len(told) / (1 + folds / (folds - 1))
    found = weighted_share_of(float(told.mean()), effective, n=len(told), level=level)
    return replace(found, interval=f"nadeau-bengio over {folds} folds {100 * level:g}%")


def cross_validated(
    features: np.ndarray, is_new: np.ndarray, fold: np.ndarray, *, penalty: float = PENALTY
) -> np.ndarray:
    """Which images are told rightly by a classifier that has not seen their fold, (N,) bool."""
    told = np.zeros(len(is_new), dtype=bool)
    for at in np.unique(fold):
        held = fold == at
        mean, spread = features[~held].mean(axis=0), features[~held].std(axis=0)
        scaled = (features - mean) / np.where(spread > 0, spread, 1)
        found = fit_logistic(scaled[~held], is_new[~held], penalty=penalty)
        told[held] = (found.scores(scaled[held]) > 0) == is_new[held]
    return told


def balanced(
    new: Sequence[str], original: Sequence[str], new_ids: Sequence[str], original_ids: Sequence[str], *, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Rows of both sets, equally many of each class: those of the set that has more are a uniform draw."""
    sides = []
    for classes, ids in ((new, new_ids), (original, original_ids)):
        line = places_in_line(ids, seed)
        of_class: dict[str, list[int]] = {}
        for row in np.argsort(line, kind="stable").tolist():
            of_class.setdefault(classes[row], []).append(row)
        sides.append(of_class)
    n = {name: min(len(sides[0][name]), len(sides[1][name])) for name in sides[0].keys() & sides[1].keys()}
    if not n:
        raise DataError("the two sets have no class in common: what tells them apart would be their classes")
    rows = [np.sort([row for name in sorted(n) for row in side[name][: n[name]]]).astype(np.int64) for side in sides]
    return rows[0], rows[1]


def folds_of(classes: Sequence[str], is_new: np.ndarray, ids: Sequence[str], *, folds: int, seed: int) -> np.ndarray:
    """The fold of each image, (N,): each has as many of both sets, and of every class, as can be."""
    if not 2 <= folds <= len(ids) // 2:
        raise UsageError(f"--folds {folds}: at least 2, and at most one for each image of a set ({len(ids) // 2})")
    line = places_in_line(ids, seed)
    found = np.zeros(len(ids), dtype=np.int64)
    for side in (True, False):
        rows = np.flatnonzero(is_new == side)
        # One class after the other, each in the order of a draw: the folds take turns through all of them.
        order = sorted(rows.tolist(), key=lambda row: (classes[row], int(line[row])))
        found[order] = np.arange(len(order)) % folds
    return found


def _features(pictures: Pictures, rows: np.ndarray, features: str) -> np.ndarray:
    if features == PIXELS:
        small = _views(pictures, rows, SMALL)
        return pixel_features(np.stack(small), side=SIDE).vectors.astype(np.float64)
    from oodometer.models.load import load_answering

    model = load_answering(features)
    return model_features(model, _views(pictures, rows, model.input.view)).vectors.astype(np.float64)


def _views(pictures: Pictures, rows: np.ndarray, view: Geometry) -> list[np.ndarray]:
    with ThreadPoolExecutor(n_cores()) as threads:
        return list(threads.map(lambda row: pictures.views(row, [view])[0], rows.tolist()))
