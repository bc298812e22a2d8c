"""ImageNet-C as it is distributed: 224 px files of 15 or 19 corruptions at five severities."""

from __future__ import annotations

from dataclasses import replace

from oodometer.core.dataset import Dataset
from oodometer.core.errors import DataError
from oodometer.core.labels import align
from oodometer.data.imagenet import imagenet
from oodometer.data.kinds.imagenet_c import open_imagenet_c
from oodometer.data.layouts.cropped_sources import of_one_size

SIDE = 224


def open_published(address: str, *, name: str) -> Dataset:
    """All corrupted images, with their columns corruption and severity, in the classes of ImageNet."""
    found = open_imagenet_c(address, name=name)
    try:
        labels = align(found.labels, found.space, imagenet(), what="ImageNet")
    except DataError as error:
        raise DataError(f"{address}: {error}") from error
    return replace(found, labels=labels, space=imagenet(), source=of_one_size(found.source, SIDE))
