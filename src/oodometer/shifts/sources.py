"""Where the images of a run come from: a data set that the user names, a root of published ones, or both."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from oodometer.core.condition import Condition, clean
from oodometer.core.dataset import Dataset
from oodometer.core.errors import UsageError
from oodometer.core.labels import LabelMap, align
from oodometer.data.icon_protocols import has_icons
from oodometer.data.released import Registration
from oodometer.data.root import DataRoot
from oodometer.data.subset import stratified

T = TypeVar("T")

IMAGENET = "imagenet"
ICONS = "icons-50"
VAL = "val"
"""What the clean ImageNet images are called, as in the 204-model testbed."""


class UnmatchedError(UsageError):
    """One side of a shift has no images of the classes of the other."""


@dataclass(frozen=True)
class Sources:
    """The data of a run; each set is opened once, so that conditions on the same images share them.

    Args:
        dataset: What the user names with ``--data``; where there is a root too, it is its clean ImageNet, and where it
            has the columns of icons, its ICONS-50.
        root: The root of published sets.
        images: At most so many images of each set, shared out among the classes; None: all.
        seed: Of the choice of images, and of every draw.
        settings: What some shifts want besides, by name (the weights of a style transfer...).
        as_testbed: Show in the way of the 204-model testbed what it shows otherwise.
        release: The release that the data set is, where it is asked for by its name.
    """

    dataset: Dataset | None = None
    root: DataRoot | None = None
    images: int | None = None
    seed: int = 0
    settings: Mapping[str, str] = field(default_factory=dict)
    as_testbed: bool = False
    release: Registration | None = None
    _opened: dict[str, Dataset] = field(default_factory=dict, repr=False, compare=False)
    _made: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def has(self, name: str) -> bool:
        """Whether the published set of that name is there."""
        return self._is_given(name) or (self.root is not None and self.root.has(name))

    def _is_given(self, name: str) -> bool:
        """Whether the user's own data stand for the published set of that name."""
        if self.dataset is None:
            return False
        return name == IMAGENET or (name == ICONS and has_icons(self.dataset))

    def open(self, name: str, *, called: str | None = None) -> Dataset:
        """The published set of that name, or as many of its images as are wanted.

        Args:
            called: What the data are called in the store; by default their name.
        """
        if name not in self._opened:
            self._opened[name] = self.fewer(self.whole(name, called=called))
        return self._opened[name]

    def whole(self, name: str, *, called: str | None = None) -> Dataset:
        """All images of the published set, for shifts that are made of parts of one: `fewer` then takes of each."""
        called = called or name
        if self.dataset is not None and self._is_given(name):
            return self.dataset
        if self.root is None:
            raise UsageError(f"{name}: say where your data sets are, with --data-root FOLDER or OODOMETER_DATA")
        found = self.root.open(name)
        return found.take(np.arange(len(found)), name=called) if found.name != called else found

    def fewer(self, dataset: Dataset) -> Dataset:
        """As many of the images as are wanted; of two sets with the same ids and labels, the same ones.

        Of frames around anchors (columns ``anchor`` and ``offset``) as many anchors, each with all its frames.
        """
        if self.images is None:
            return dataset
        columns = dataset.columns
        own = np.flatnonzero(columns["offset"] == 0) if {"anchor", "offset"} <= set(columns) else np.array([])
        if not len(own):
            return stratified(dataset, self.images, seed=self.seed)
        chosen = stratified(dataset.take(own), self.images, seed=self.seed)
        kept = np.isin(columns["anchor"], chosen.columns["anchor"])
        return dataset if kept.all() else dataset.take(np.flatnonzero(kept), subset=chosen.subset)

    def given(self) -> Dataset:
        """The data that conditions without a set of their own are about: the user's, or the clean ImageNet."""
        if self.dataset is None and self.root is None:
            raise UsageError("say which images: --data ADDRESS, or --data-root FOLDER with published sets in it")
        return self.open(IMAGENET, called=VAL)

    def clean(self) -> Condition:
        """The given images as they are."""
        return self.once("clean", lambda: clean(self.given()))

    def clean_of(self, name: str) -> Condition:
        """The images of a published set as they are."""
        return self.clean() if name == IMAGENET else self.once(f"clean {name}", lambda: clean(self.open(name)))

    def once(self, key: str, make: Callable[[], T]) -> T:
        """What has that key, made when it is first asked for: shifts that share a condition get the same object."""
        if key not in self._made:
            self._made[key] = make()
        found: T = self._made[key]
        return found

    def clean_on(self, label_map: LabelMap, *, name: str) -> Condition:
        """The clean ImageNet images of the classes that a label map knows, answered over those alone.

        Args:
            name: Of the condition, ``val-on-imagenet-a-classes`` for one.
        """

        def make() -> Condition:
            # Of all images, not of the few that a run may look at: so many are wanted of these classes too.
            whole = self.whole(IMAGENET, called=VAL)
            aligned = align(whole.labels, whole.space, label_map.source, what=f"label map {label_map.name}")
            members = np.array(sorted(index for group in label_map.members for index in group))
            kept = np.flatnonzero(np.isin(aligned, members))
            if not len(kept):
                raise UnmatchedError(f"{whole.name}: no image of the classes of {label_map.name}, to compare with")
            return Condition(name, self.fewer(whole.take(kept, name=name)), label_map)

        return self.once(name, make)
