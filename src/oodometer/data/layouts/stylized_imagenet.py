"""Stylized ImageNet: the validation images painted over (Geirhos et al. 2019)."""

from __future__ import annotations

from dataclasses import replace

from oodometer.core.dataset import Dataset
from oodometer.data.imagenet import imagenet
from oodometer.data.layouts.class_folders import open_class_folders
from oodometer.data.layouts.cropped_sources import of_one_size
from oodometer.data.layouts.known_set import KnownSet

SIDE = 224


def open_stylized_imagenet(address: str, *, name: str) -> Dataset:
    """The images of 1,000 class folders; they are made from the 224 px centre crop and have that size."""
    found = open_class_folders(address, name=name)
    return replace(found, source=of_one_size(found.source, SIDE))


STYLIZED_IMAGENET = KnownSet(
    name="stylized-imagenet",
    title="Stylized ImageNet, validation part",
    page="https://github.com/rgeirhos/Stylized-ImageNet",
    layout="1,000 class folders named by WordNet id, images of 224x224",
    places=("stylized-imagenet/val", "stylized_imagenet/val", "stylized-imagenet", "stylized_imagenet"),
    open=open_stylized_imagenet,
    n_images=50_000,
    n_classes=1000,
    per_class=50,
    size=(SIDE, SIDE),
    classes=lambda: frozenset(imagenet().classes),
)
