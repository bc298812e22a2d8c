"""A folder of class folders."""

from __future__ import annotations

import posixpath

import numpy as np

from oodometer.core.dataset import Dataset
from oodometer.core.errors import DataError
from oodometer.core.labels import LabelSpace
from oodometer.data import addresses
from oodometer.data.addresses import FoundFile
from oodometer.data.imagenet import imagenet_index
from oodometer.data.labels import ids_of_paths, is_number, space_of
from oodometer.data.source import EncodedSource, ImageFiles

IMAGE_EXTENSIONS = frozenset(
    f".{one}"
    for group in ("jpg jpeg jpe jfif", "png webp gif bmp", "tif tiff", "ppm pgm pbm pnm", "jp2 avif tga qoi")
    for one in group.split()
)
"""The files that count as images, in lower or upper case; all others are left alone, as are hidden ones."""


def open_folder(address: str, *, name: str) -> Dataset:
    """The images of a folder whose folders are the classes: numbers, WordNet ids or names."""
    files = list_images(address)
    loose = [file.path for file in files if "/" not in file.path]
    if loose:
        raise DataError(
            f"{address}: {len(loose)} images, such as {loose[0]}, are in no class folder; "
            "put each into a folder named after its class, or list them in a manifest (path,label); images without "
            "labels are --data-kind images"
        )
    if not files:
        raise DataError(
            f"{address}: no images in it; expected class folders with .jpg, .png, .webp or other image files"
        )
    space, index = _classes(address, {_class_of(file.path) for file in files}, name)
    files.sort(key=lambda file: (index[_class_of(file.path)], file.path))
    paths = [file.path for file in files]
    return Dataset(
        name=name,
        ids=ids_of_paths(paths),
        labels=np.array([index[_class_of(path)] for path in paths], dtype=np.int64),
        space=space,
        source=EncodedSource(ImageFiles.below(address, files)),
        rows=np.arange(len(files)),
    )


def _classes(address: str, filled: set[str], name: str) -> tuple[LabelSpace, dict[str, int]]:
    """The classes of the folders that hold images; an empty one counts only where that can't turn numbers to names."""
    empty = set(addresses.list_folders(address)) - filled
    if all(is_number(one) for one in filled):
        empty = {one for one in empty if is_number(one)}
    elif all(one in imagenet_index() for one in filled):
        empty = set()
    return space_of(filled | empty, name=name)


def _class_of(path: str) -> str:
    return path.partition("/")[0]


def list_images(folder: str) -> list[FoundFile]:
    """All files in the folder and below it that count as images, as they are listed."""
    return [file for file in addresses.list_files(folder) if is_image(file.path)]


def is_image(path: str) -> bool:
    """Whether a file counts as an image, by its ending."""
    return posixpath.splitext(path)[1].lower() in IMAGE_EXTENSIONS
