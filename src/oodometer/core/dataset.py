"""A data set: ids, labels, and a way to get each image as uint8 RGB. Nothing is read before it is asked for."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from oodometer.core.errors import DataError
from oodometer.core.labels import LabelSpace
from oodometer.core.preprocessing import Geometry
from oodometer.core.reading import check_texts
from oodometer.core.sample import Sample

Progress = Callable[[int, int], None]
"""Called with (done, total)."""


def silent(done: int, total: int) -> None:
    """The progress that nobody watches."""


@dataclass(frozen=True)
class Scan:
    """What one pass over the files of a data set found.

    Args:
        contents: The digest of each image's content, (N,) of 16 bytes.
        broken: Position of each unreadable image and what is wrong with it.
    """

    contents: tuple[bytes, ...]
    broken: Mapping[int, str]


class ImageSource(Protocol):
    """Where the images of a data set come from; called by many threads at once."""

    def views(self, index: int, views: Sequence[Geometry | None]) -> list[np.ndarray]:
        """Image ``index``, decoded once, as each view wants it, (H, W, 3) uint8; None: the whole image.

        Raises:
            DataError: The image can't be decoded; the message names it.
        """
        ...

    def scan(self, indices: np.ndarray, progress: Progress) -> Scan:
        """Digest and check the content of these images."""
        ...


@dataclass(frozen=True)
class Dataset:
    """Labelled images under stable ids.

    Args:
        name: What the user calls it.
        ids: One id per image, unique, independent of where the data lie.
        labels: Index into ``space`` per image, (N,) int64; -1 where there is none.
        space: The classes.
        source: Where the images come from.
        rows: Position of each image in the source, (N,); a subset keeps its source.
        columns: What else is known per image (video, frame, vendor...), each (N,).
        other_labels: Where an image has several labels, any of which counts: per image those besides ``labels``.
        part: Which part of the data of that name it is (``fog/3``, ``anchors``); empty: all.
        subset: Which images of it were chosen (``100, seed 0``); empty: all.
        sample: How they were drawn, where they stand for a larger data set.
    """

    name: str
    ids: tuple[str, ...]
    labels: np.ndarray
    space: LabelSpace
    source: ImageSource
    rows: np.ndarray
    columns: Mapping[str, np.ndarray] = field(default_factory=dict)
    other_labels: tuple[tuple[int, ...], ...] | None = None
    part: str = ""
    subset: str = ""
    sample: Sample | None = None

    def __post_init__(self) -> None:
        if not self.ids:
            raise DataError(f"{self.name}: no images in it")
        if not len(self.ids) == len(self.labels) == len(self.rows):
            raise DataError(f"{self.name}: {len(self.ids)} images but {len(self.labels)} labels")
        if len(set(self.ids)) != len(self.ids):
            seen: set[str] = set()
            twice = next(one for one in self.ids if one in seen or seen.add(one))  # type: ignore[func-returns-value]
            raise DataError(f"{self.name}: two images have the id {twice!r}; ids must be unique")
        check_texts((self.name,), "the data set")
        check_texts(self.ids, f"{self.name}: the image")
        check_texts(self.space.classes, f"{self.name}: the class")
        low, high = int(self.labels.min()), int(self.labels.max())
        if low < -1 or high >= len(self.space):
            bad = high if high >= len(self.space) else low
            raise DataError(f"{self.name}: label {bad} is outside the label space of {len(self.space)} classes")
        self._check_other_labels()

    def _check_other_labels(self) -> None:
        if self.other_labels is None:
            return
        if len(self.other_labels) != len(self.ids):
            raise DataError(f"{self.name}: {len(self.ids)} images but {len(self.other_labels)} sets of other labels")
        for bad in (one for some in self.other_labels for one in some if not 0 <= one < len(self.space)):
            raise DataError(f"{self.name}: label {bad} is outside the label space of {len(self.space)} classes")

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def title(self) -> str:
        """The name with the part and the subset: ``imagenet-c/fog/3[100, seed 0]``."""
        return title_of(self.name, self.part, self.subset)

    def image(self, index: int) -> np.ndarray:
        """Image ``index`` whole, (H, W, 3) uint8."""
        return self.source.views(int(self.rows[index]), [None])[0]

    def views(self, index: int, views: Sequence[Geometry | None]) -> list[np.ndarray]:
        """Image ``index``, decoded once, as each view wants it."""
        return self.source.views(int(self.rows[index]), views)

    def take(
        self, positions: np.ndarray, *, name: str | None = None, part: str | None = None, subset: str | None = None
    ) -> Dataset:
        """The data set of these positions alone; what it is called stays, unless it is said here."""
        return replace(
            self,
            name=name or self.name,
            part=self.part if part is None else part,
            subset=self.subset if subset is None else subset,
            ids=tuple(self.ids[position] for position in positions),
            labels=self.labels[positions],
            rows=self.rows[positions],
            columns={key: column[positions] for key, column in self.columns.items()},
            other_labels=None if self.other_labels is None else tuple(self.other_labels[one] for one in positions),
        )

    def as_sample(self, sample: Sample) -> Dataset:
        """The same, known to be a sample of a larger data set."""
        return replace(self, sample=sample)

    def scan(self, progress: Progress = silent) -> Scan:
        """Digest and check every image, once; a second call costs nothing."""
        if "_scan" not in self.__dict__:
            self.__dict__["_scan"] = self.source.scan(self.rows, progress)
        scan: Scan = self.__dict__["_scan"]
        return scan

    @cached_property
    def digest(self) -> str:
        """The digest of ids, labels and contents: the same wherever and however the data are kept."""
        total = hashlib.blake2b(digest_size=16)
        total.update("\0".join(self.space.classes).encode())
        for one, label, content in zip(self.ids, self.labels.tolist(), self.scan().contents, strict=True):
            total.update(f"\0{one}\0{label}\0".encode() + content)
        if self.other_labels is not None:
            total.update(repr(self.other_labels).encode())
        return total.hexdigest()


def title_of(name: str, part: str, subset: str) -> str:
    """What to call a part and a subset of data.

    >>> title_of("imagenet-c", "fog/3", "100, seed 0"), title_of("val", "", "")
    ('imagenet-c/fog/3[100, seed 0]', 'val')
    """
    return f"{name}{part and f'/{part}'}{subset and f'[{subset}]'}"


def unreadable(dataset: Dataset, broken: Mapping[int, str]) -> str:
    """What to say about images that can't be read."""
    first = broken[min(broken)]
    return f"{dataset.title}: {len(broken)} of {len(dataset)} images can't be read, first {first}"


def scan_together(datasets: Sequence[Dataset], progress: Progress = silent) -> None:
    """Scan data sets of one source such that each image is looked at once, however many of them have it."""
    new = [one for one in datasets if "_scan" not in one.__dict__]
    if not new:
        return
    rows = np.unique(np.concatenate([one.rows for one in new]))
    found = new[0].source.scan(rows, progress)
    for one in new:
        places = np.searchsorted(rows, one.rows).tolist()
        broken = {position: found.broken[place] for position, place in enumerate(places) if place in found.broken}
        one.__dict__["_scan"] = Scan(tuple(found.contents[place] for place in places), broken)
