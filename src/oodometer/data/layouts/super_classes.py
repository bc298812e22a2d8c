"""The broad classes of the video sets, each made of classes of ImageNet."""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files

from oodometer.core.labels import LabelMap, LabelSpace
from oodometer.data.imagenet import imagenet, imagenet_index


@cache
def super_class_map(name: str) -> LabelMap:
    """The map from the 1,000 classes of ImageNet to the broad classes of a set, in the order of the set's indices.

    >>> vid = super_class_map("imagenet_vid_robust")
    >>> len(vid.target), sum(len(group) for group in vid.members), vid.target.classes[:3]
    (30, 288, ('airplane', 'antelope', 'bear'))
    """
    groups: dict[str, list[int]] = {}
    text = (files("oodometer.data.layouts") / "classes" / f"{name}.csv").read_text(encoding="utf-8")
    for row in csv.DictReader(text.splitlines()):
        # A class without a WordNet id is one that no class of ImageNet belongs to.
        groups.setdefault(row["name"], []).extend([imagenet_index()[row["wnid"]]] if row["wnid"] else [])
    members = tuple(tuple(group) for group in groups.values())
    space = LabelSpace(name, tuple(groups))
    return LabelMap(name, imagenet(), space, members, unanswerable=not all(members))
