"""The keyword of each original image: that of its nearest neighbour in the source that the originals were taken from.

CIFAR-10.1 was made so (Recht et al. 2019, appendix B.1): every image of CIFAR-10 has an exact copy in Tiny Images,
where each image is filed under a keyword. What comes out is how many originals of each class have each keyword, as
``keyword-quotas`` follow them, and how far the neighbours were: far ones are no copies, and their keywords are guesses.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from oodometer.build.testset.features import Features
from oodometer.build.testset.likeness import FEATURES, PIXELS, SOFT, SOFT_SIDE, STRUCTURE, Pictures, check_metrics
from oodometer.build.testset.model_features import model_features
from oodometer.build.testset.neighbours import nearest_between
from oodometer.build.testset.pixel_features import SIDE, SMALL, pixel_features, structure_features
from oodometer.core.dataset import Dataset, Progress, silent
from oodometer.core.errors import DataError
from oodometer.core.preprocessing import Geometry

COLUMN = "keyword"
COPY_WITHIN = 1e-6
"""As far apart as exact copies may be by rounding."""

AT_ONCE = 1 << 13
"""Images of the source whose vectors are in memory together: 100 MB of pixels."""


@dataclass(frozen=True)
class Nearest:
    """The nearest neighbour of each image.

    Args:
        rows: Its position in the source, (N,); -1 where none could be read.
        distance: How far it is, (N,).
        unreadable: Images of the source that can't be read, by position, with the reason.
    """

    rows: np.ndarray
    distance: np.ndarray
    unreadable: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Keywords:
    """What originals are of.

    Args:
        of: The keyword of each; empty where its neighbour is too far.
        distance: From each to its neighbour, (N,).
        counts: By class how many originals have each keyword, the commonest first.
        unreadable: Images of the source that can't be read, with the reason.
    """

    of: tuple[str, ...]
    distance: np.ndarray
    counts: Mapping[str, Mapping[str, int]]
    unreadable: Mapping[int, str] = field(default_factory=dict)

    @property
    def n_copies(self) -> int:
        """How many originals have a neighbour that is no way away."""
        return int((self.distance <= COPY_WITHIN).sum())

    @property
    def n_without(self) -> int:
        """How many have no keyword."""
        return sum(not one for one in self.of)

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return {
            "originals": len(self.of),
            "copies": self.n_copies,
            "without_keyword": self.n_without,
            "farthest": float(self.distance.max()) if len(self.distance) else None,
            "keywords": {name: dict(counts) for name, counts in self.counts.items()},
            "unreadable": {str(at): why for at, why in self.unreadable.items()},
        }

    def __str__(self) -> str:
        n_words = len({(name, word) for name, counts in self.counts.items() for word in counts})
        parts = [f"{len(self.of)} originals of {len(self.counts)} classes have {n_words} keywords"]
        parts.append(f"{self.n_copies} have a neighbour at distance 0, the farthest is {self.distance.max():.3g} away")
        if self.n_without:
            parts.append(f"{self.n_without} have none: their neighbours are too far")
        if self.unreadable:
            parts.append(f"{len(self.unreadable)} images of the source can't be read")
        return "; ".join(parts)


def keywords_by_neighbour(
    originals: Pictures,
    classes: Sequence[str],
    source: Dataset,
    *,
    metric: str = PIXELS,
    within: float = float("inf"),
    progress: Progress = silent,
) -> Keywords:
    """The keyword of each original, and how many originals of each class have it.

    Args:
        classes: The class of each original.
        source: Its column ``keyword`` says what each image is filed under; without one, its classes do.
        metric: ``pixels``, ``structure``, ``soft-pixels`` or ``features:MODEL``.
        within: Neighbours that are further say nothing.
    """
    words = keywords_in(source)
    if not len(originals) or not len(source):
        raise DataError(f"{source.name}: no image in it" if len(originals) else "there is no original image")
    near = nearest_in(originals, source, metric=metric, progress=progress)
    close = (near.rows >= 0) & (near.distance <= within)
    of = tuple(words[row] if near_enough else "" for row, near_enough in zip(near.rows, close, strict=True))
    return Keywords(of, near.distance, counts_of(classes, of), near.unreadable)


def keywords_in(source: Dataset) -> list[str]:
    """What each image of a source is filed under."""
    if COLUMN in source.columns:
        return [str(word).strip() for word in source.columns[COLUMN]]
    if (source.labels < 0).any():
        raise DataError(f"{source.name}: it has no column {COLUMN!r}, and images without a class")
    return [source.space.classes[label] for label in source.labels.tolist()]


def counts_of(classes: Sequence[str], keywords: Sequence[str]) -> dict[str, dict[str, int]]:
    """By class how many images have each keyword, the commonest first, of equal ones the first by name.

    >>> counts_of(["cat", "cat", "cat", "owl", "owl"], ["tom", "alley_cat", "tom", "barn_owl", ""])
    {'cat': {'tom': 2, 'alley_cat': 1}, 'owl': {'barn_owl': 1}}
    """
    pairs = Counter((name, word) for name, word in zip(classes, keywords, strict=True) if word)
    found: dict[str, dict[str, int]] = {}
    for (name, word), n in sorted(pairs.items(), key=lambda item: (item[0][0], -item[1], item[0][1])):
        found.setdefault(name, {})[word] = n
    return found


def nearest_in(images: Pictures, source: Pictures, *, metric: str = PIXELS, progress: Progress = silent) -> Nearest:
    """The nearest neighbour of each image in a source, which may be large: it is read part by part.

    Of neighbours as far as each other the first of the source counts.
    """
    (name,) = check_metrics([metric])
    looks = _look(name)
    rows, distance = np.full(len(images), -1, np.int64), np.full(len(images), np.inf)
    mine, wrong = looks(images, range(len(images)))
    if wrong:
        raise DataError(next(iter(wrong.values())))
    unreadable: dict[int, str] = {}
    for start in range(0, len(source), AT_ONCE):
        some = range(start, min(start + AT_ONCE, len(source)))
        theirs, wrong = looks(source, some)
        unreadable |= wrong
        at = np.array([row for row in some if row not in wrong], dtype=np.int64)
        if len(at):
            found = nearest_between(mine, theirs, 1)
            closer = found.distance < distance[found.first]
            first = found.first[closer]
            rows[first], distance[first] = at[found.second[closer]], found.distance[closer]
        progress(some.stop, len(source))
    if len(unreadable) == len(source):
        raise DataError(next(iter(unreadable.values())))
    return Nearest(rows, distance, unreadable)


def write_keywords(counts: Mapping[str, Mapping[str, int]], address: str | Path) -> int:
    """Write the counts as a table with the columns class, keyword and count; gives how many rows."""
    rows = [(name, word, n) for name, words in counts.items() for word, n in words.items()]
    with Path(address).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("class", "keyword", "count"))
        writer.writerows(rows)
    return len(rows)


Looked = tuple[Features, dict[int, str]]
"""The vectors of the images that can be read, and by position why others can't."""


def _look(metric: str) -> Callable[[Pictures, range], Looked]:
    """How images are looked at by a metric."""
    kind, _, name = metric.partition(":")
    if kind == FEATURES:
        from oodometer.models.load import load_answering

        model = load_answering(name)
        return partial(_looked, view=model.input.view, make=partial(model_features, model))
    makers: dict[str, Callable[[np.ndarray], Features]] = {
        PIXELS: pixel_features,
        STRUCTURE: structure_features,
        SOFT: partial(pixel_features, side=SOFT_SIDE),
    }
    return partial(_looked, view=SMALL, make=lambda views: makers[kind](_together(views)))


def _looked(
    images: Pictures, rows: range, *, view: Geometry, make: Callable[[Iterator[np.ndarray]], Features]
) -> Looked:
    unreadable: dict[int, str] = {}

    def views() -> Iterator[np.ndarray]:
        for row in rows:
            try:
                yield images.views(row, [view])[0]
            except DataError as error:
                unreadable[row] = str(error)

    return make(views()), unreadable


def _together(pictures: Iterator[np.ndarray]) -> np.ndarray:
    kept = list(pictures)
    return np.stack(kept) if kept else np.empty((0, SIDE, SIDE, 3), np.uint8)
