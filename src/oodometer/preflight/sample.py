"""The images that a preflight asks about: several of each of some classes, so that a permuted order shows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from oodometer.core.dataset import Dataset
from oodometer.core.labels import LabelSpace, align
from oodometer.core.preprocessing import Geometry
from oodometer.core.random import key_words

IMAGES = 256
"""So many are asked: an accuracy is then known to six points."""

MORE = 4
"""Times so many, where an alternative seems better and chance could still explain it."""

PER_CLASS = 8
"""So many of one class, where there are many classes: the answers to half of them must tell those to the other half."""


@dataclass(frozen=True)
class Sample:
    """Some labelled images of a data set.

    Args:
        positions: Of the images in the data, (N,).
        labels: Their labels among the model's outputs, (N,).
    """

    dataset: Dataset
    positions: np.ndarray
    labels: np.ndarray

    def __len__(self) -> int:
        return len(self.positions)

    def pixels(self, view: Geometry, some: slice = slice(None)) -> np.ndarray:
        """The images as a view wants them, (n, H, W, 3) uint8."""
        return np.stack([self.dataset.views(int(place), [view])[0] for place in self.positions[some]])


def sample_of(dataset: Dataset, space: LabelSpace, *, n: int, seed: int, model: str) -> Sample:
    """At most so many labelled images; which, depends on their ids and the seed."""
    labels = align(dataset.labels, dataset.space, space, what=f"model {model}")
    places = chosen_places(labels, dataset.ids, n=n, seed=seed)
    return Sample(dataset, places, labels[places])


def chosen_places(labels: np.ndarray, ids: tuple[str, ...], *, n: int, seed: int) -> np.ndarray:
    """The places of the images, classes of many images first, in an order in which any first part is a fair one.

    >>> labels = np.array([0, 0, 0, 1, 2, 2, -1])
    >>> sorted(labels[chosen_places(labels, tuple("abcdefg"), n=5, seed=0)].tolist())
    [0, 0, 0, 2, 2]
    """
    drawn = {place: int(key_words(ids[place], seed=seed)[0]) for place in np.flatnonzero(labels >= 0).tolist()}
    of_class: dict[int, list[int]] = {}
    for place in sorted(drawn, key=lambda place: drawn[place]):
        of_class.setdefault(int(labels[place]), []).append(place)
    most = max(PER_CLASS, -(-n // max(1, len(of_class))))
    full_first = sorted(of_class.values(), key=lambda places: -min(len(places), most))
    chosen = [place for places in full_first for place in places[:most]][:n]
    return np.array(sorted(chosen, key=lambda place: drawn[place]), dtype=np.int64)
