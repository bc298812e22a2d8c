"""ImageNet-A and ImageNet-O: natural adversarial examples (Hendrycks et al. 2021)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from oodometer.core.dataset import Dataset
from oodometer.data.layouts.class_folders import open_class_folders
from oodometer.data.layouts.class_lists import class_list


def open_imagenet_a(address: str, *, name: str) -> Dataset:
    """The images of 200 class folders."""
    return open_class_folders(address, name=name, classes=class_list("imagenet_a"))


def open_imagenet_o(address: str, *, name: str) -> Dataset:
    """Images of none of ImageNet's classes: without labels; the folder that each lies in is a column."""
    found = open_class_folders(address, name=name, classes=class_list("imagenet_o"))
    folders = np.array([found.space.classes[label] for label in found.labels])
    return replace(found, labels=np.full(len(found), -1, dtype=np.int64), columns={"folder": folders})
