"""Folders named after classes of ImageNet, by WordNet id or by number, as the sets around ImageNet are distributed."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

import numpy as np

from oodometer.core.dataset import Dataset
from oodometer.core.errors import DataError
from oodometer.data import addresses
from oodometer.data.addresses import FoundFile
from oodometer.data.imagenet import imagenet, imagenet_index
from oodometer.data.kinds.folder import list_images
from oodometer.data.labels import ids_of_paths, is_number
from oodometer.data.source import EncodedSource, ImageFiles


def open_class_folders(
    address: str, *, name: str, classes: Sequence[str] | None = None, numbers: bool = False
) -> Dataset:
    """The images of class folders, labelled among the 1,000 classes of ImageNet.

    Args:
        classes: The WordNet ids that may occur; None: all of ImageNet's.
        numbers: Folders may be named by the index of their class, too.
    """
    inside, files = images_below(address, numbers=numbers)
    return labelled(inside, files, class_of_folders(inside, files, classes=classes, numbers=numbers), name=name)


def open_numbered_folders(address: str, *, name: str) -> Dataset:
    """The images of folders 0 to 999; the folder's number is the class, whatever order the folders are listed in."""
    return open_class_folders(address, name=name, numbers=True)


def images_below(address: str, *, numbers: bool) -> tuple[str, list[FoundFile]]:
    """The images of a set, and the folder that their paths begin in: archives often hold one folder around it all."""
    files = list_images(address)
    if not files:
        raise DataError(f"{address}: no images in it; expected {_expected(numbers)}")
    while True:
        tops = {file.path.partition("/")[0] for file in files}
        top = min(tops)
        if len(tops) > 1 or class_index(top, numbers=numbers) is not None or files[0].path == top:
            return address, files
        address = addresses.join(address, top)
        files = [FoundFile(file.path.partition("/")[2], file.version) for file in files]


def class_of_folders(
    address: str, files: Sequence[FoundFile], *, classes: Sequence[str] | None, numbers: bool
) -> list[int]:
    """The class of each image, by the folder that it lies in."""
    loose = [file.path for file in files if "/" not in file.path]
    if loose:
        raise DataError(f"{address}: {len(loose):,} images, such as {loose[0]}, are in no class folder")
    found: dict[str, int] = {}
    for folder in {file.path.partition("/")[0] for file in files}:
        index = class_index(folder, numbers=numbers)
        if index is None:
            raise DataError(f"{address}: a folder {folder!r} is not of this set; expected {_expected(numbers)}")
        if classes is not None and imagenet().classes[index] not in classes:
            raise DataError(f"{address}: {folder} is not one of the {len(classes)} classes of this set; is it another?")
        found[folder] = index
    return [found[file.path.partition("/")[0]] for file in files]


def class_index(folder: str, *, numbers: bool) -> int | None:
    """The index of the class that a folder is named after, read as a number and never as text; None where of none.

    >>> class_index("n01443537", numbers=False), class_index("0010", numbers=True), class_index("10", numbers=False)
    (1, 10, None)
    """
    if numbers and is_number(folder):
        return int(folder) if int(folder) < len(imagenet()) else None
    return imagenet_index().get(folder)


def labelled(address: str, files: Sequence[FoundFile], classes: Sequence[int], *, name: str) -> Dataset:
    """The images with their classes; ids are WNID/FILE in every layout, so that all give the same data set."""
    order = sorted(range(len(files)), key=lambda at: (classes[at], posixpath.basename(files[at].path), files[at].path))
    files, labels = [files[at] for at in order], [classes[at] for at in order]
    wnids = imagenet().classes
    return Dataset(
        name=name,
        ids=ids_of_paths(
            [
                f"{wnids[label]}/{file.path.partition('/')[2] or file.path}"
                for label, file in zip(labels, files, strict=True)
            ]
        ),
        labels=np.array(labels, dtype=np.int64),
        space=imagenet(),
        source=EncodedSource(ImageFiles.below(address, files)),
        rows=np.arange(len(files)),
    )


def _expected(numbers: bool) -> str:
    by_number = ", or by number from 0 to 999" if numbers else ""
    return f"class folders named by the WordNet ids of ImageNet (n01440764){by_number}"
