"""The 1,000 classes of ImageNet (ILSVRC 2012), by WordNet id, in the order that every model answers them."""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files

from oodometer.core.labels import LabelSpace


@cache
def imagenet() -> LabelSpace:
    """The label space of ImageNet-1k.

    >>> imagenet().name, imagenet().classes[0], len(imagenet())
    ('imagenet-1k', 'n01440764', 1000)
    """
    return LabelSpace("imagenet-1k", tuple(row["wnid"] for row in _table()))


@cache
def imagenet_names() -> tuple[str, ...]:
    """What people call the classes.

    >>> imagenet_names()[0]
    'tench'
    """
    return tuple(row["name"] for row in _table())


@cache
def imagenet_index() -> dict[str, int]:
    """The index of each WordNet id."""
    return {wnid: index for index, wnid in enumerate(imagenet().classes)}


@cache
def _table() -> list[dict[str, str]]:
    text = (files("oodometer.data") / "imagenet_classes.csv").read_text(encoding="utf-8")
    return sorted(csv.DictReader(text.splitlines()), key=lambda row: int(row["index"]))
