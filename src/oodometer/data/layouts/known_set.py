"""A published data set: what the catalogue says of it, with the function that reads its layout."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial
from typing import Protocol

from oodometer.catalogue.sets import SetEntry, SetFacts, set_entries
from oodometer.core.dataset import Dataset
from oodometer.core.registry import Registry
from oodometer.data.layouts.class_lists import class_names

READERS = "oodometer.data.layouts"


class OpenSet(Protocol):
    """Opens a data set at an address, without reading an image."""

    def __call__(self, address: str, *, name: str) -> Dataset:
        """The data set; a `DataError` says in one line what was expected and what was found."""
        ...


@dataclass(frozen=True, kw_only=True)
class KnownSet(SetFacts):
    """A published data set, with who reads it.

    Args:
        open: Reads the layout.
        training: Reads the training images that are published with it; None where none are.
        training_test: Reads the test images that belong to those, labelled as they are.
        classes: The class names that folders may have; None where any may occur.
    """

    open: OpenSet
    training: OpenSet | None = None
    training_test: OpenSet | None = None
    classes: Callable[[], frozenset[str]] | None = None


class _KnownSets(Registry[KnownSet]):
    """The sets of the catalogue and of installed packages; a reader is imported when its set is first asked for."""

    def _find(self, name: str) -> KnownSet:
        return known_set_of(set_entries()[name]) if name in self._addresses else super()._find(name)


def known_set_of(entry: SetEntry) -> KnownSet:
    """An entry of the catalogue with its reader."""
    return KnownSet(
        **{one.name: getattr(entry, one.name) for one in fields(SetFacts)},
        open=_reader(entry.reader),
        training=None if entry.training is None else _reader(entry.training),
        training_test=None if entry.training_test is None else _reader(entry.training_test),
        classes=None if entry.classes is None else partial(class_names, entry.classes),
    )


def _reader(address: str) -> OpenSet:
    module, _, function = address.partition(":")
    reader: OpenSet = getattr(importlib.import_module(f"{READERS}.{module}"), function)
    return reader


known_sets: Registry[KnownSet] = _KnownSets(
    "data set", {name: entry.reader for name, entry in set_entries().items()}, group="oodometer.sets"
)
"""Every set that can be found below a root, by name."""
