"""The published data sets: what each should hold, where it lies, and who reads it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from oodometer.catalogue.tables import key_of, table


@dataclass(frozen=True, kw_only=True)
class SetFacts:
    """What is known of a published data set.

    Args:
        name: What it is called here.
        title: What people call it.
        page: The project's page, where to get it.
        layout: What is expected on disk, in a few words.
        places: Paths below a root where it is looked for, the first that exists counts.
        n_images, n_classes: As published (classes that have images); None where releases differ.
        per_class: Images of each class, where the published set has equally many of all.
        unit: A column of whose values ``n_images`` is the number, where not images are counted (``anchor``).
        size: (width, height) that every image has; None where they differ.
        clean: The set that it is compared with; a shifted set has no image of its clean one.
    """

    name: str
    title: str
    page: str
    layout: str
    places: tuple[str, ...]
    n_images: int | None = None
    n_classes: int | None = None
    per_class: int | None = None
    unit: str | None = None
    size: tuple[int, int] | None = None
    clean: str | None = None


@dataclass(frozen=True, kw_only=True)
class SetEntry(SetFacts):
    """A published data set as the table has it.

    Args:
        reader: ``module:function`` below `oodometer.data.layouts`.
        aliases: What else it is called.
        training: Who reads the training images that are published with it, in the same way; None where none are.
        training_test: Who reads the test images that belong to those, labelled as they are; None where there are none.
        classes: The bundled list of the class names that folders may have; None where any may occur.
    """

    reader: str
    training: str | None = None
    training_test: str | None = None
    aliases: tuple[str, ...] = ()
    classes: str | None = None


@cache
def set_entries() -> dict[str, SetEntry]:
    """All sets by name, in the order of the table.

    >>> set_entries()["imagenet-a"].n_images
    7500
    """
    return {one["name"]: _entry(one) for one in table("sets")["set"]}


def find_set(text: str) -> SetEntry | None:
    """The set of that name or alias, in any spelling; None where there is none.

    >>> find_set("DeepFashion2").name, find_set("nothing")
    ('deepfashion-remixed', None)
    """
    return _by_key().get(key_of(text))


@cache
def _by_key() -> dict[str, SetEntry]:
    return {key_of(name): entry for entry in set_entries().values() for name in (entry.name, *entry.aliases)}


def _entry(values: dict[str, Any]) -> SetEntry:
    """TOML's lists as tuples."""
    plain: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
    return SetEntry(**plain)
