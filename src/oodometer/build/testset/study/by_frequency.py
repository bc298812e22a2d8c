"""Accuracy by selection frequency (Recht et al. 2019, section 4): what few annotators select, models get wrong."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from oodometer.build.testset.sampling.matched_frequency import EDGES, bins_of
from oodometer.build.testset.study.image_sets import ImageSet
from oodometer.build.testset.study.rights import Rights
from oodometer.core.estimate import Estimate

BINS = tuple(f"[{low:.1f}, {high:.1f}{']' if high == 1 else ')'}" for low, high in pairwise(EDGES))
MEAN = "mean of the models"


@dataclass(frozen=True)
class FrequencyAccuracies:
    """Of one set of images.

    Args:
        images: What the set is called.
        n_images: In each bin of selection frequency.
        accuracies: By model, and for the mean of the models, one for each bin; None where a bin has no image.
    """

    images: str
    n_images: tuple[int, ...]
    accuracies: dict[str, tuple[Estimate | None, ...]]


def accuracy_by_frequency(images: ImageSet, rights: Rights, *, level: float = 0.95) -> FrequencyAccuracies:
    """The accuracy of each model on the images of each of the five bins, and the mean of the models."""
    known = ~np.isnan(images.frequency)
    bins = np.where(known, bins_of(np.nan_to_num(images.frequency)), -1)
    rows = [bins == at for at in range(len(BINS))]
    found = {name: tuple(rights.accuracy(name, some, level=level) for some in rows) for name in rights.models}
    if len(rights.models) > 1:
        found[MEAN] = tuple(rights.mean_accuracy(some, level=level) for some in rows)
    return FrequencyAccuracies(images.name, tuple(int(some.sum()) for some in rows), found)
