"""The bundled lists of classes, by the names under which the catalogue knows them."""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files

from oodometer.data.imagenet import imagenet


@cache
def class_list(name: str) -> tuple[str, ...]:
    """The classes of a set that has a plain list of them: WordNet ids, in the order of ImageNet's, or names.

    >>> len(class_list("imagenet_a")), class_list("imagenet_a")[0]
    (200, 'n01498041')
    """
    return tuple(_text(f"{name}.txt").split())


@cache
def class_names(name: str) -> frozenset[str]:
    """The names that class folders may have: of ImageNet, of a plain list, or the column ``class`` of a table.

    >>> len(class_names("imagenet")), len(class_names("imagenet_r")), len(class_names("cifar_100"))
    (1000, 200, 20)
    """
    if name == "imagenet":
        return frozenset(imagenet().classes)
    if (files("oodometer.data.layouts") / "classes" / f"{name}.csv").is_file():
        return frozenset(row["class"] for row in csv.DictReader(_text(f"{name}.csv").splitlines()))
    return frozenset(class_list(name))


def _text(file: str) -> str:
    return (files("oodometer.data.layouts") / "classes" / file).read_text(encoding="utf-8")
