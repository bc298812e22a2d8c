"""The one number that sums up a family of corruptions: mCE where AlexNet's errors are about it, else the mean error."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from oodometer.core.condition import Family
from oodometer.metrics.corruption_error import COMMON, SEVERITIES, alexnet

MCE, MEAN_ERROR = "mce", "mean-corruption-error"
MEAN_ACCURACY = "mean accuracy"
"""Over some of the severities: what `gaps` and the report have, and no metric of `score`."""

N_IMAGENET = 1000
OF_ALEXNET = re.compile(r"imagenet-c(-extra)?(:raw|:disk)?(@testbed)?")
"""The families that AlexNet's published errors are about, in whatever way they are shown."""


@dataclass(frozen=True)
class FamilyNumber:
    """A number that is a weighted sum of errors.

    Args:
        metric: What `score` calls it.
        weights: Of each condition's error, (K,).
    """

    metric: str
    weights: np.ndarray

    @property
    def scale(self) -> float:
        """What it is where every answer is wrong."""
        return float(self.weights.sum())


def is_about_alexnet(family: str, n_classes: int) -> bool:
    """Whether AlexNet's published errors are about a family, answered over so many classes.

    >>> is_about_alexnet("imagenet-c", 1000), is_about_alexnet("imagenet-c", 10), is_about_alexnet("cifar-10-c", 1000)
    (True, False, False)
    """
    return OF_ALEXNET.fullmatch(family) is not None and n_classes == N_IMAGENET


def number_of_family(members: Sequence[Family], n_classes: int) -> FamilyNumber:
    """The number that sums up these conditions of one family, and what each error weighs in it.

    >>> every = [Family("imagenet-c", name, severity) for name in COMMON for severity in SEVERITIES]
    >>> number = number_of_family(every, 1000)
    >>> number.metric, round(number.scale, 4)  # of a network that is always wrong
    ('mce', 1.2935)
    >>> number_of_family(every[:10], 1000).metric, number_of_family(every[:4], 1000).metric
    ('mean-corruption-error', 'mean accuracy')
    """
    places = [(member.corruption, member.severity) for member in members]
    whole = {(name, severity) for name in COMMON for severity in SEVERITIES}
    if set(places) == whole and is_about_alexnet(members[0].name, n_classes):
        sums = dict(zip(COMMON, alexnet(COMMON).errors.sum(axis=1).tolist(), strict=True))
        return FamilyNumber(MCE, np.array([1 / (len(COMMON) * sums[name]) for name, _ in places]))
    even = np.full(len(places), 1 / len(places))
    severities = [{severity for other, severity in places if other == name} for name, _ in places]
    return FamilyNumber(MEAN_ERROR if all(one == set(SEVERITIES) for one in severities) else MEAN_ACCURACY, even)
