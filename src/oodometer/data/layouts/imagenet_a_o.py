"""ImageNet-A and ImageNet-O: natural adversarial examples (Hendrycks et al. 2021)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from oodometer.core.dataset import Dataset
from oodometer.data.layouts.class_folders import open_class_folders
from oodometer.data.layouts.class_lists import class_list
from oodometer.data.layouts.known_set import KnownSet

PAGE = "https://github.com/hendrycks/natural-adv-examples"


def open_imagenet_a(address: str, *, name: str) -> Dataset:
    """The images of 200 class folders."""
    return open_class_folders(address, name=name, classes=class_list("imagenet_a"))


def open_imagenet_o(address: str, *, name: str) -> Dataset:
    """Images of none of ImageNet's classes: without labels; the folder that each lies in is a column."""
    found = open_class_folders(address, name=name, classes=class_list("imagenet_o"))
    folders = np.array([found.space.classes[label] for label in found.labels])
    return replace(found, labels=np.full(len(found), -1, dtype=np.int64), columns={"folder": folders})


IMAGENET_A = KnownSet(
    name="imagenet-a",
    title="ImageNet-A",
    page=PAGE,
    layout="200 class folders named by WordNet id",
    places=("imagenet-a",),
    open=open_imagenet_a,
    n_images=7_500,
    n_classes=200,
    classes=lambda: frozenset(class_list("imagenet_a")),
)
IMAGENET_O = KnownSet(
    name="imagenet-o",
    title="ImageNet-O",
    page=PAGE,
    layout="200 folders named by WordNet id, of images that belong to none of these classes",
    places=("imagenet-o",),
    open=open_imagenet_o,
    n_images=2_000,
    n_classes=200,
    classes=lambda: frozenset(class_list("imagenet_o")),
)
