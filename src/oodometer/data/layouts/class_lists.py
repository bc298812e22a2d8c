"""The classes of the sets that have some of ImageNet's, by WordNet id."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def class_list(name: str) -> tuple[str, ...]:
    """The WordNet ids of a set's classes, in the order of ImageNet's.

    >>> len(class_list("imagenet_a")), class_list("imagenet_a")[0]
    (200, 'n01498041')
    """
    text = (files("oodometer.data.layouts") / "classes" / f"{name}.txt").read_text(encoding="utf-8")
    return tuple(text.split())
