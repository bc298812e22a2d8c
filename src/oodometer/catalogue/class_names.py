"""What people call the classes that data name by WordNet ids."""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files

IMAGENET = "imagenet-1k"


def spoken(name: str, space: str = "") -> str:
    """A class as people call it, with the id or number that the data have; any other name as it is.

    Args:
        space: The name of the classes that the models answer: under ImageNet's, numbers are known too.

    >>> spoken("n02099601"), spoken("gym"), spoken("207"), spoken("207", IMAGENET)
    ('golden retriever (n02099601)', 'gym', '207', 'golden retriever (207)')
    """
    names = _names()
    if space == IMAGENET and name.isdigit() and int(name) < len(names):
        called: str | None = list(names.values())[int(name)]
    else:
        called = names.get(name)
    return name if called is None else f"{called.replace('_', ' ')} ({name})"


@cache
def _names() -> dict[str, str]:
    text = files("oodometer").joinpath("data", "imagenet_classes.csv").read_text(encoding="utf-8")
    rows = sorted(csv.DictReader(text.splitlines()), key=lambda row: int(row["index"]))
    return {row["wnid"]: row["name"] for row in rows}
