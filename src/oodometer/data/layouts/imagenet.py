"""The validation set of ImageNet (ILSVRC 2012), in class folders or flat with a ground-truth file."""

from __future__ import annotations

from collections.abc import Sequence

from oodometer.core.dataset import Dataset
from oodometer.core.errors import DataError
from oodometer.data.addresses import FoundFile
from oodometer.data.layouts.class_folders import class_of_folders, images_below, labelled
from oodometer.data.layouts.imagenet_ground_truth import DEVKIT_TRUTH, ground_truth_for, number_of


def open_imagenet(address: str, *, name: str) -> Dataset:
    """The validation images; ids, labels and digest are the same in every layout."""
    inside, files = images_below(address, numbers=True)
    flat = all("/" not in file.path for file in files)
    classes = _flat(inside, files) if flat else class_of_folders(inside, files, classes=None, numbers=True)
    return labelled(inside, files, classes, name=name)


def _flat(address: str, files: Sequence[FoundFile]) -> list[int]:
    """The class of each image by the number in its name."""
    truth = ground_truth_for(address)
    if truth is None:
        raise DataError(
            f"{address}: {len(files):,} images in no class folders, and nothing that tells their classes: put "
            f"LOC_val_solution.csv, Caffe's val.txt, or {DEVKIT_TRUTH} with meta.mat beside or above them"
        )
    classes = []
    for file in files:
        number = number_of(file.path)
        if number is None:
            raise DataError(f"{address}: {file.path} is not named like ILSVRC2012_val_00000001.JPEG")
        if number not in truth.classes:
            raise DataError(
                f"{address}: {file.path} is not in {truth.address}, which has {len(truth.classes):,} images"
            )
        classes.append(truth.classes[number])
    return classes
