"""A folder of any images, of no class."""

from __future__ import annotations

import numpy as np

from oodometer.core.dataset import Dataset
from oodometer.core.errors import DataError
from oodometer.core.labels import numbered
from oodometer.data.kinds.folder import list_images
from oodometer.data.labels import ids_of_paths
from oodometer.data.source import EncodedSource, ImageFiles


def open_images(address: str, *, name: str) -> Dataset:
    """All images in a folder and below it, without labels: what its folders are called means nothing here."""
    files = sorted(list_images(address), key=lambda file: file.path)
    if not files:
        raise DataError(f"{address}: no images in it; expected .jpg, .png, .webp or other image files")
    return Dataset(
        name=name,
        ids=ids_of_paths([file.path for file in files]),
        labels=np.full(len(files), -1, dtype=np.int64),
        space=numbered(1),
        source=EncodedSource(ImageFiles.below(address, files)),
        rows=np.arange(len(files)),
    )
