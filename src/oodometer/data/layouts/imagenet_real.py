"""ReaL: re-assessed labels of the validation images of ImageNet, several or none per image (Beyer et al. 2020)."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np

from oodometer.catalogue.sets import set_entries
from oodometer.core.dataset import Dataset
from oodometer.core.errors import DataError
from oodometer.core.labels import NUMBERS
from oodometer.data import addresses
from oodometer.data.imagenet import imagenet
from oodometer.data.layouts.imagenet import open_imagenet
from oodometer.data.layouts.imagenet_ground_truth import number_of

RealLabels = list[list[int]]
"""The class indices of each validation image, by its number less one."""


def open_imagenet_real(address: str, *, name: str) -> Dataset:
    """The validation images that lie near the labels, with these; images without any are left out."""
    return relabelled(open_imagenet(_images_near(address), name="val"), real_labels(address), name=name)


def real_labels(address: str) -> RealLabels:
    """The labels of a ``real.json``."""
    try:
        found = json.loads(addresses.read_bytes(address))
    except (ValueError, RecursionError) as error:
        raise DataError(f"{address}: not JSON; expected a list of lists of class indices") from error
    good = isinstance(found, list) and all(
        isinstance(some, list) and all(type(one) is int and 0 <= one < len(imagenet()) for one in some)
        for some in found
    )
    if not good or not found:
        raise DataError(f"{address}: expected a list that has, for each validation image, a list of numbers 0 to 999")
    labels: RealLabels = found
    return labels


def relabelled(dataset: Dataset, labels: RealLabels, *, name: str) -> Dataset:
    """The validation images with their re-assessed labels; those without any are left out."""
    _check_space(dataset)
    kept: list[int] = []
    chosen: list[list[int]] = []
    for position, image_id in enumerate(dataset.ids):
        number = number_of(image_id)
        if number is None:
            raise DataError(
                f"{dataset.name}: {image_id} has no number like ILSVRC2012_val_00000001 in its name; "
                "real.json knows the images by that number alone"
            )
        if not 1 <= number <= len(labels):
            raise DataError(f"{dataset.name}: {image_id} is beyond the {len(labels):,} images of real.json")
        if labels[number - 1]:
            kept.append(position)
            chosen.append(labels[number - 1])
    if not kept:
        raise DataError(f"{dataset.name}: real.json has no label for any of its images")
    return replace(
        dataset.take(np.array(kept), name=name),
        labels=np.array([some[0] for some in chosen], dtype=np.int64),
        other_labels=tuple(tuple(some[1:]) for some in chosen),
    )


def _check_space(dataset: Dataset) -> None:
    space = dataset.space
    if space.classes != imagenet().classes and (space.name, len(space)) != (NUMBERS, len(imagenet())):
        raise DataError(f"{dataset.name}: its {len(space):,} classes are not the 1,000 of ImageNet")


def _images_near(address: str) -> str:
    folder = addresses.parent(address)
    places = set_entries()["imagenet"].places
    for place in places:
        for start in (addresses.parent(folder), folder):
            images = addresses.join(start, place)
            if addresses.is_folder(images) and images.rstrip("/") != folder.rstrip("/"):
                return images
    raise DataError(f"{address}: labels without images; expected the validation set at {places[0]} beside it")
