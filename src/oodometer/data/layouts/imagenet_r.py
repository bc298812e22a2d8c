"""ImageNet-R: renditions of 200 classes (Hendrycks et al. 2021)."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from oodometer.core.dataset import Dataset
from oodometer.data.layouts.class_folders import open_class_folders
from oodometer.data.layouts.class_lists import class_list


def open_imagenet_r(address: str, *, name: str) -> Dataset:
    """The images of 200 class folders; the rendition, which is in the file's name, is the column ``style``."""
    found = open_class_folders(address, name=name, classes=class_list("imagenet_r"))
    return replace(found, columns={"style": np.array([style_of(one) for one in found.ids])})


def style_of(image_id: str) -> str:
    """The rendition that a file's name tells.

    >>> style_of("n01443537/videogame_3"), style_of("n01443537/goldfish")
    ('videogame', 'unknown')
    """
    found = re.fullmatch(r"(?:.*/)?([A-Za-z]+)_\d+(?:\.\w+)?", image_id)
    return found[1].lower() if found else "unknown"
