"""What people call the classes that data name by WordNet ids or number as ImageNet does."""

from __future__ import annotations

import csv
from collections import Counter
from functools import cache, lru_cache
from importlib.resources import files

from oodometer.core.labels import NUMBERS, LabelSpace, numbered

IMAGENET = "imagenet-1k"
N_IMAGENET = 1000


def human_names(space: LabelSpace, answered: str = "") -> list[str]:
    """What people call each class; two that are called alike keep the id or number of the data.

    Args:
        space: The classes; a thousand numbers are those of ImageNet, as in ImageNetV2.
        answered: The name of the classes that models answer: under ImageNet's, fewer numbers are its classes too, and
            all thousand have a name here.

    >>> human_names(LabelSpace("animals", ("n02099601", "sea_lion")))
    ['golden retriever', 'sea lion']
    >>> human_names(LabelSpace("cranes", ("n02012849", "n03126707")))
    ['crane (n02012849)', 'crane (n03126707)']
    >>> human_names(numbered(1000))[207], human_names(numbered(300), IMAGENET)[609], human_names(numbered(2))
    ('golden retriever', 'jeep', ['0', '1'])
    """
    return list(_human_names(space, answered))


@lru_cache(16)
def _human_names(space: LabelSpace, answered: str) -> tuple[str, ...]:
    is_imagenet = space.name == NUMBERS and (len(space) == N_IMAGENET or answered == IMAGENET)
    classes = numbered(N_IMAGENET).classes if is_imagenet else space.classes
    whole = [_spoken(name, is_number=is_imagenet) for name in classes]
    short = [text.removesuffix(f" ({name})") for text, name in zip(whole, classes, strict=True)]
    times = Counter(short)
    return tuple(
        (brief if times[brief] == 1 else text).replace("_", " ") for brief, text in zip(short, whole, strict=True)
    )


def _spoken(name: str, *, is_number: bool) -> str:
    """A class as people call it, with the id or number that the data have; any other name as it is."""
    called = _in_order()[int(name)] if is_number else _names().get(name)
    return name if called is None else f"{called} ({name})"


@cache
def _in_order() -> tuple[str, ...]:
    return tuple(_names().values())


@cache
def _names() -> dict[str, str]:
    text = files("oodometer").joinpath("data", "imagenet_classes.csv").read_text(encoding="utf-8")
    rows = sorted(csv.DictReader(text.splitlines()), key=lambda row: int(row["index"]))
    return {row["wnid"]: row["name"] for row in rows}
