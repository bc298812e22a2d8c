"""Any images, of no class: those of a folder, or those that a table lists."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from oodometer.core.dataset import Dataset
from oodometer.core.errors import DataError
from oodometer.core.labels import numbered
from oodometer.data import addresses
from oodometer.data.kinds.folder import list_images
from oodometer.data.kinds.manifest import open_manifest
from oodometer.data.labels import ids_of_paths
from oodometer.data.source import EncodedSource, ImageFiles


def open_images(address: str, *, name: str) -> Dataset:
    """All images in a folder and below it, or in a manifest, without labels: no name of a class means anything here."""
    if not addresses.is_folder(address):
        return _listed(address, name)
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


def _listed(address: str, name: str) -> Dataset:
    data = open_manifest(address, name=name)
    return replace(data, labels=np.full(len(data), -1, dtype=np.int64), space=numbered(1), other_labels=None)
