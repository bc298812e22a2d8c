"""Tiny-ImageNet and Tiny-ImageNet-C: 200 classes of ImageNet at 64 px."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

import numpy as np

from oodometer.core.dataset import Dataset
from oodometer.core.errors import DataError
from oodometer.core.labels import LabelSpace, align
from oodometer.data import addresses
from oodometer.data.addresses import FoundFile
from oodometer.data.kinds.folder import list_images
from oodometer.data.kinds.imagenet_c import open_imagenet_c
from oodometer.data.labels import ids_of_paths
from oodometer.data.layouts.class_lists import class_list
from oodometer.data.source import EncodedSource, ImageFiles

ANNOTATIONS = "val_annotations.txt"


@cache
def tiny_imagenet() -> LabelSpace:
    """The 200 classes by WordNet id, sorted: the order of a model that was trained on the class folders.

    The file ``wnids.txt`` of the set has another order; a model that answers in that one must name its classes.

    >>> len(tiny_imagenet()), tiny_imagenet().classes[0]
    (200, 'n01443537')
    """
    return LabelSpace("tiny-imagenet", class_list("tiny_imagenet"))


def open_tiny_imagenet(address: str, *, name: str) -> Dataset:
    """The validation set as distributed (one folder and ``val_annotations.txt``) or put into class folders.

    An id is CLASS/FILE in both cases, as in Tiny-ImageNet-C.
    """
    val = addresses.join(address, "val")
    folder = val if addresses.exists(val) else address
    files = list_images(folder)
    if not files:
        raise DataError(f"{folder}: no images in it; expected images/val_0.JPEG and so on, and {ANNOTATIONS}")
    classes = _classes_of(folder, files)
    return _dataset(folder, files, classes, name)


def _classes_of(folder: str, files: list[FoundFile]) -> list[str]:
    """The WordNet id of each image."""
    folders = [file.path.partition("/")[0] if "/" in file.path else "" for file in files]
    if all(one in tiny_imagenet().classes for one in folders):
        return folders
    if set(folders) != {"images"}:
        odd = next(file.path for file, one in zip(files, folders, strict=True) if one not in tiny_imagenet().classes)
        raise DataError(
            f"{folder}: {odd} is neither in images/ nor in the folder of one of the 200 classes of Tiny-ImageNet"
        )
    written = _annotations(addresses.join(folder, ANNOTATIONS))
    names = [addresses.base_name(file.path) for file in files]
    unknown = next((one for one in names if one not in written), None)
    if unknown is not None:
        raise DataError(f"{folder}: {ANNOTATIONS} says nothing about {unknown}")
    return [written[one] for one in names]


def _annotations(path: str) -> Mapping[str, str]:
    """The class of each file; a line is FILE, CLASS and a box, with tabs between."""
    if not addresses.exists(path):
        raise DataError(f"{path}: no such file; it says which class each image of Tiny-ImageNet has")
    lines = addresses.read_bytes(path).decode("utf-8", "replace").splitlines()
    fields = [line.split() for line in lines if line.strip()]
    for number, one in enumerate(fields, start=1):
        if len(one) < 2 or one[1] not in tiny_imagenet().classes:
            raise DataError(f"{path}: line {number} does not name one of the 200 classes of Tiny-ImageNet")
    return {one[0]: one[1] for one in fields}


def _dataset(folder: str, files: list[FoundFile], classes: list[str], name: str) -> Dataset:
    places = {one: index for index, one in enumerate(tiny_imagenet().classes)}
    named = [f"{one}/{addresses.base_name(file.path)}" for file, one in zip(files, classes, strict=True)]
    order = sorted(range(len(files)), key=lambda at: named[at])
    return Dataset(
        name=name,
        ids=ids_of_paths([named[at] for at in order]),
        labels=np.array([places[classes[at]] for at in order], dtype=np.int64),
        space=tiny_imagenet(),
        source=EncodedSource(ImageFiles.below(folder, (files[at] for at in order))),
        rows=np.arange(len(files)),
    )


def open_tiny_imagenet_c(address: str, *, name: str) -> Dataset:
    """All corrupted images with their columns corruption and severity."""
    found = open_imagenet_c(address, name=name)
    # All 200 are classes of ImageNet too: without this, their labels would be among its 1,000.
    labels = align(found.labels, found.space, tiny_imagenet(), what=f"{address}: Tiny-ImageNet")
    return replace(found, labels=labels, space=tiny_imagenet())
