"""What people call the classes that data name by WordNet ids."""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files


def spoken(name: str) -> str:
    """A class as people call it, with the id that the data have; any other name as it is.

    >>> spoken("n02099601"), spoken("gym")
    ('golden retriever (n02099601)', 'gym')
    """
    called = _names().get(name)
    return name if called is None else f"{called.replace('_', ' ')} ({name})"


@cache
def _names() -> dict[str, str]:
    text = files("oodometer").joinpath("data", "imagenet_classes.csv").read_text(encoding="utf-8")
    return {row["wnid"]: row["name"] for row in csv.DictReader(text.splitlines())}
