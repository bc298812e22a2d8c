"""Measures of how alike two images are, by name, and the pairs of images that each of them finds close.

``pixels`` and ``structure`` (SSIM of the whole picture as one window) see copies that were encoded again, resized,
recoloured; ``crops`` those that show a part of the other as well, among the neighbours by ``soft-pixels``, which are
few and large; ``features:MODEL`` what a model finds alike. Mirrored copies are looked for by all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from typing import Protocol

import numpy as np

from oodometer.build.testset.cropped import crop_distances
from oodometer.build.testset.features import Features
from oodometer.build.testset.model_features import model_features
from oodometer.build.testset.neighbours import nearest_between, nearest_within, pairs_between, pairs_within
from oodometer.build.testset.pairs import Pairs, by_distance, joined
from oodometer.build.testset.pixel_features import SIDE, SMALL, pixel_features, structure_features, structure_radius
from oodometer.core.dataset import Progress, silent
from oodometer.core.errors import DataError, UsageError, did_you_mean
from oodometer.core.model import Model, n_cores
from oodometer.core.preprocessing import Geometry

PIXELS, STRUCTURE, CROPS, SOFT, FEATURES = "pixels", "structure", "crops", "soft-pixels", "features"
METRICS = (PIXELS, STRUCTURE, CROPS, SOFT)
"""Those that need no model."""

DEFAULT_METRICS = (PIXELS, STRUCTURE, CROPS)
"""Soft pixels alone propose thousands of pairs of which nearly all are two pictures."""
NEAREST = 30
"""As many neighbours of each image as Recht et al. (2019, appendix C.1.1) looked at."""

DUPLICATE_WITHIN = {
    PIXELS: 0.05,
    STRUCTURE: structure_radius(0.96),
    CROPS: 0.3,
    SOFT: 0.01,
    FEATURES: 0.1,
}
"""So close that a pair counts as one picture until somebody looks. Chosen on 10,000 made-up pictures and 1,000
photographs with copies; benchmarks/near_duplicates.py measures them on others."""

LOOK_WITHIN = {
    PIXELS: 0.1,
    STRUCTURE: structure_radius(0.9),
    CROPS: 0.45,
    SOFT: 0.05,
    FEATURES: 0.5,
}
"""Pairs further apart are nobody's duplicates: no person needs to see them."""

COLOURS_WITHIN = 0.3
"""By soft pixels: what is further apart was not recoloured, it is another picture. By structure alone all pictures of
one colour are the same, black or white."""
CROP_NEAREST, CROP_WITHIN = 10, 0.12
"""Neighbours by soft pixels among which crops are looked for: all of 200 among 100,000 made-up pictures are there,
and all of 200 among 2,000 photographs."""

SOFT_SIDE = 4
AT_ONCE = 1 << 14
"""Images of another set whose vectors are in memory together: 200 MB of pixels."""
MANY = 1 << 10
"""From so many images on, long vectors are searched within a radius, by shorter ones first."""


class Pictures(Protocol):
    """A set of images, such as a `Dataset`."""

    def __len__(self) -> int: ...

    def views(self, index: int, views: Sequence[Geometry | None], /) -> list[np.ndarray]:
        """An image as each view wants it; a `DataError` where it can't be read."""
        ...


@dataclass(frozen=True)
class Reach:
    """How far to look.

    Args:
        nearest: The nearest of each image, so many; None: all within the radius.
        within: The radius of each metric, or of all; by default `LOOK_WITHIN`.
    """

    nearest: int | None = NEAREST
    within: float | Mapping[str, float] | None = None

    def __post_init__(self) -> None:
        if self.nearest is not None and self.nearest < 1:
            raise UsageError(f"--nearest {self.nearest}: at least 1")
        given = self.within.values() if isinstance(self.within, Mapping) else [self.within or 0.0]
        for one in given:
            if not 0 <= one < np.inf:
                raise UsageError(f"--within {one}: a distance is a number of at least 0")

    def radius(self, metric: str) -> float:
        """How far apart by this metric."""
        if isinstance(self.within, Mapping):
            return self.within.get(metric, within_of(LOOK_WITHIN, metric))
        return within_of(LOOK_WITHIN, metric) if self.within is None else self.within


USUAL_REACH = Reach()


@dataclass(frozen=True)
class Found:
    """Close pairs.

    Args:
        pairs: By metric.
        unreadable: Images of the other set that can't be read, by position, with the reason; they are in no pair.
    """

    pairs: Mapping[str, Pairs]
    unreadable: Mapping[int, str] = field(default_factory=dict)


def check_metrics(metrics: Sequence[str]) -> tuple[str, ...]:
    """The metrics, each once; an error where one is not known.

    >>> check_metrics(["pixels", "features:zoo:icons/resnet20", "pixels"])
    ('pixels', 'features:zoo:icons/resnet20')
    """
    for name in metrics:
        if name not in METRICS and not (name.startswith(f"{FEATURES}:") and name.partition(":")[2]):
            hint = did_you_mean(name, METRICS) or f"; there are {', '.join(METRICS)} and {FEATURES}:MODEL"
            raise UsageError(f"no metric named {name!r}{hint}")
    if not metrics:
        raise UsageError(f"no metric is named: give {', '.join(METRICS)} or {FEATURES}:MODEL")
    return tuple(dict.fromkeys(metrics))


def within_of(radii: Mapping[str, float], metric: str) -> float:
    """The radius of a metric; one for all models unless one has its own.

    >>> within_of(LOOK_WITHIN, "features:zoo:icons/resnet20")
    0.5
    """
    return radii.get(metric, radii.get(metric.partition(":")[0], 0.0))


def close_inside(
    images: Pictures,
    metrics: Sequence[str] = DEFAULT_METRICS,
    reach: Reach = USUAL_REACH,
    *,
    progress: Progress = silent,
) -> Found:
    """The close pairs of one set of images."""
    looked = _Looked.at(images, range(len(images)), progress)
    pairs = {}
    for metric in check_metrics(metrics):
        features = looked.features(metric, mirror=True)
        found = _crop_candidates(features) if metric == CROPS else _inside(features, *_search(metric, reach))
        pairs[metric] = looked.in_place(_refined(metric, looked, looked, found, reach), first=True, second=True)
    return Found(pairs, looked.unreadable)


def close_between(
    images: Pictures,
    others: Pictures,
    metrics: Sequence[str] = DEFAULT_METRICS,
    reach: Reach = USUAL_REACH,
    *,
    progress: Progress = silent,
) -> Found:
    """The close pairs of an image of one set and one of another, which may be large: it is read part by part."""
    names = check_metrics(metrics)
    ours = _Looked.at(images, range(len(images)), silent)
    mine = {metric: ours.features(metric, mirror=True) for metric in names}
    parts: dict[str, list[Pairs]] = {metric: [] for metric in names}
    unreadable: dict[int, str] = {}
    for start in range(0, len(others), AT_ONCE):
        some = range(start, min(start + AT_ONCE, len(others)))
        theirs = _Looked.at(others, some, _further(progress, start, len(others)))
        unreadable |= theirs.unreadable
        for metric in names:
            found = _between(mine[metric], theirs.features(metric), *_search(metric, reach))
            found = _refined(metric, ours, theirs, found, reach)
            parts[metric].append(theirs.in_place(ours.in_place(found, first=True), second=True))
    pairs = {metric: _nearest_of_first(joined(some), reach.nearest) for metric, some in parts.items()}
    return Found(pairs, unreadable)


def _search(metric: str, reach: Reach) -> tuple[int | None, float]:
    """How many neighbours to look at, and how far away: crops are looked for among those by soft pixels."""
    return (CROP_NEAREST, CROP_WITHIN) if metric == CROPS else (reach.nearest, reach.radius(metric))


def _crop_candidates(features: Features) -> Pairs:
    """Pairs of one set that may be crops of each other: for a second look, so that half of the search will do."""
    found = nearest_within(features, CROP_NEAREST, mirror=True, later=True)
    return found.take(found.distance <= CROP_WITHIN)


def _inside(features: Features, nearest: int | None, radius: float) -> Pairs:
    if nearest is None:
        return pairs_within(features, radius, mirror=True)
    if _is_long(features) and len(features) > MANY:
        return _nearest_of_either(pairs_within(features, radius, mirror=True), nearest)
    found = nearest_within(features, nearest, mirror=True)
    return found.take(found.distance <= radius)


def _between(ours: Features, theirs: Features, nearest: int | None, radius: float) -> Pairs:
    if nearest is None or (_is_long(ours) and min(len(ours), len(theirs)) > MANY):
        return pairs_between(ours, theirs, radius, mirror=True)
    found = nearest_between(ours, theirs, nearest, mirror=True)
    return found.take(found.distance <= radius)


def _refined(metric: str, ours: _Looked, theirs: _Looked, pairs: Pairs, reach: Reach) -> Pairs:
    """The pairs that a second look leaves."""
    if metric == STRUCTURE:
        return pairs.take(_apart_in_colour(ours.pictures, theirs.pictures, pairs) <= COLOURS_WITHIN)
    if metric == CROPS:
        pairs = crop_distances(ours.pictures, theirs.pictures, pairs)
        return pairs.take(pairs.distance <= reach.radius(CROPS))
    return pairs


def _apart_in_colour(pictures: np.ndarray, others: np.ndarray, pairs: Pairs) -> np.ndarray:
    """By soft pixels, (P,)."""
    apart = np.empty(len(pairs))
    for start in range(0, len(pairs), AT_ONCE):
        rows = slice(start, start + AT_ONCE)
        first = pixel_features(pictures[pairs.first[rows]], side=SOFT_SIDE)
        second = pixel_features(others[pairs.second[rows]], side=SOFT_SIDE).vectors
        turned = np.where(pairs.mirrored[rows, None], first.in_mirror(slice(None)), first.vectors)
        apart[rows] = np.linalg.norm(turned - second, axis=1)
    return apart


@dataclass(frozen=True)
class _Looked:
    """Some images, looked at once."""

    images: Pictures
    rows: np.ndarray
    pictures: np.ndarray
    unreadable: Mapping[int, str]

    @classmethod
    def at(cls, images: Pictures, rows: range, progress: Progress) -> _Looked:
        """Read them; those that can't be read are left out, unless none can."""
        pictures = np.zeros((len(rows), SIDE, SIDE, 3), np.uint8)
        unreadable: dict[int, str] = {}
        for at, (row, found) in enumerate(zip(rows, _read(images, rows, SMALL), strict=True)):
            if isinstance(found, str):
                unreadable[row] = found
            else:
                pictures[at] = found
            progress(at + 1, len(rows))
        if rows and len(unreadable) == len(rows) == len(images):
            raise DataError(next(iter(unreadable.values())))
        kept = np.array([row not in unreadable for row in rows], dtype=bool)
        return cls(images, np.arange(rows.start, rows.stop)[kept], pictures[kept], unreadable)

    def features(self, metric: str, *, mirror: bool = False) -> Features:
        """The vectors of those that can be read."""
        kind, _, model = metric.partition(":")
        if kind == FEATURES:
            return self._by_model(_model(model), mirror)
        makers: dict[str, Callable[[np.ndarray], Features]] = {
            PIXELS: pixel_features,
            STRUCTURE: structure_features,
            SOFT: _soft,
            CROPS: _soft,
        }
        return makers[kind](self.pictures)

    def _by_model(self, model: Model, mirror: bool) -> Features:
        def views() -> Iterator[np.ndarray]:
            for found in _read(self.images, self.rows.tolist(), model.input.view):
                if isinstance(found, str):
                    raise DataError(f"{found}; it could be read a moment ago")
                yield found

        return model_features(model, views(), mirror=mirror)

    def in_place(self, pairs: Pairs, *, first: bool = False, second: bool = False) -> Pairs:
        """The pairs by the positions of the images in their whole set."""
        return Pairs(
            self.rows[pairs.first] if first else pairs.first,
            self.rows[pairs.second] if second else pairs.second,
            pairs.distance,
            pairs.mirrored,
        )


def _further(progress: Progress, start: int, total: int) -> Progress:
    return lambda done, _: progress(start + done, total)


def _soft(pictures: np.ndarray) -> Features:
    return pixel_features(pictures, side=SOFT_SIDE)


@cache
def _model(spec: str) -> Model:
    from oodometer.models.load import load_answering

    return load_answering(spec)


def _read(images: Pictures, rows: Sequence[int], view: Geometry) -> Iterator[np.ndarray | str]:
    """Each image as the view wants it, or why it can't be read, in order; a few are decoded together."""

    def one(row: int) -> np.ndarray | str:
        try:
            return images.views(row, [view])[0]
        except DataError as error:
            return str(error)

    with ThreadPoolExecutor(n_cores()) as threads:
        for start in range(0, len(rows), 1024):
            yield from threads.map(one, rows[start : start + 1024])


def _is_long(features: Features) -> bool:
    return bool(features.vectors.shape[1] > 512)


def _nearest_of_first(pairs: Pairs, k: int | None) -> Pairs:
    """The k closest pairs of each first image."""
    return pairs if k is None else by_distance(pairs.take(_rank(pairs.first, pairs.distance) < k))


def _nearest_of_either(pairs: Pairs, k: int) -> Pairs:
    """Pairs inside a set that are among the k closest of one of the two."""
    both = np.concatenate([pairs.first, pairs.second])
    rank = _rank(both, np.concatenate([pairs.distance, pairs.distance]))
    return pairs.take((rank[: len(pairs)] < k) | (rank[len(pairs) :] < k))


def _rank(group: np.ndarray, distance: np.ndarray) -> np.ndarray:
    """How many of its group are closer, or as close and before it, (P,)."""
    order = np.lexsort((np.arange(len(group)), distance, group))
    ordered = group[order]
    rank = np.empty(len(group), dtype=np.int64)
    rank[order] = np.arange(len(group)) - np.searchsorted(ordered, ordered)
    return rank
