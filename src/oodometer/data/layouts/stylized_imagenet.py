"""Stylized ImageNet: the validation images painted over (Geirhos et al. 2019)."""

from __future__ import annotations

from dataclasses import replace

from oodometer.core.dataset import Dataset
from oodometer.data.layouts.class_folders import open_class_folders
from oodometer.data.layouts.cropped_sources import of_one_size

SIDE = 224


def open_stylized_imagenet(address: str, *, name: str) -> Dataset:
    """The images of 1,000 class folders; they are made from the 224 px centre crop and have that size."""
    found = open_class_folders(address, name=name)
    return replace(found, source=of_one_size(found.source, SIDE))
