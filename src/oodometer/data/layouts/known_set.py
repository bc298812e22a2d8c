"""A published data set: what the catalogue says of it, with the function that reads its layout."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from oodometer.catalogue.sets import SetEntry, set_entries
from oodometer.core.dataset import Dataset
from oodometer.core.registry import Registry
from oodometer.data.layouts.class_lists import class_names

READERS = "oodometer.data.layouts"


class OpenSet(Protocol):
    """Opens a data set at an address, without reading an image."""

    def __call__(self, address: str, *, name: str) -> Dataset:
        """The data set; a `DataError` says in one line what was expected and what was found."""
        ...


@dataclass(frozen=True)
class KnownSet:
    """A published data set.

    Args:
        name: What it is called here.
        title: What people call it.
        page: The project's page, where to get it.
        layout: What is expected on disk, in a few words.
        places: Paths below a root where it is looked for, the first that exists counts.
        open: Reads the layout.
        n_images, n_classes: As published (classes that have images); None where releases differ.
        per_class: Images of each class, where the published set has equally many of all.
        unit: A column of whose values ``n_images`` is the number, where not images are counted (``anchor``).
        size: (width, height) that every image has; None where they differ.
        classes: The class names that folders may have; None where any may occur.
        clean: The set that it is compared with; a shifted set has no image of its clean one.
    """

    name: str
    title: str
    page: str
    layout: str
    places: tuple[str, ...]
    open: OpenSet
    n_images: int | None = None
    n_classes: int | None = None
    per_class: int | None = None
    unit: str | None = None
    size: tuple[int, int] | None = None
    classes: Callable[[], frozenset[str]] | None = None
    clean: str | None = None


class _KnownSets(Registry[KnownSet]):
    """The sets of the catalogue and of installed packages; a reader is imported when its set is first asked for."""

    def _find(self, name: str) -> KnownSet:
        return known_set_of(set_entries()[name]) if name in self._addresses else super()._find(name)


def known_set_of(entry: SetEntry) -> KnownSet:
    """An entry of the catalogue with its reader."""
    module, _, function = entry.reader.partition(":")
    return KnownSet(
        name=entry.name,
        title=entry.title,
        page=entry.page,
        layout=entry.layout,
        places=entry.places,
        open=getattr(importlib.import_module(f"{READERS}.{module}"), function),
        n_images=entry.n_images,
        n_classes=entry.n_classes,
        per_class=entry.per_class,
        unit=entry.unit,
        size=entry.size,
        classes=None if entry.classes is None else partial(class_names, entry.classes),
        clean=entry.clean,
    )


known_sets: Registry[KnownSet] = _KnownSets(
    "data set", {name: entry.reader for name, entry in set_entries().items()}, group="oodometer.sets"
)
"""Every set that can be found below a root, by name."""
