"""Any data by its address."""

from __future__ import annotations

import os
import re
from typing import Protocol

from oodometer.core.dataset import Dataset
from oodometer.core.errors import DataError
from oodometer.core.registry import Registry
from oodometer.data import addresses


class DataKind(Protocol):
    """Opens the data at an address, without reading an image."""

    def __call__(self, address: str, *, name: str) -> Dataset:
        """The data set."""
        ...


data_kinds: Registry[DataKind] = Registry(
    "kind of data",
    {
        "arrays": "oodometer.data.kinds.arrays:open_arrays",
        "cifar-10-batches": "oodometer.data.layouts.cifar:open_cifar_10",
        "folder": "oodometer.data.kinds.folder:open_folder",
        "images": "oodometer.data.kinds.images:open_images",
        "imagenet-c": "oodometer.data.kinds.imagenet_c:open_imagenet_c",
        "manifest": "oodometer.data.kinds.manifest:open_manifest",
        "parquet": "oodometer.data.kinds.parquet:open_parquet",
        "webdataset": "oodometer.data.kinds.webdataset:open_webdataset",
    },
    group="oodometer.data",
)

MANIFEST = "manifest.csv"
"""The manifest that a folder of images brings along."""

_CIFAR_10 = (
    "test_batch",
    "test_batch.bin",
    "cifar-10-batches-py/test_batch",
    "cifar-10-batches-bin/test_batch.bin",
)
"""Any of them tells that a folder is CIFAR-10 as it is published."""

_BY_ENDING = {
    ".npy": "arrays",
    ".npz": "arrays",
    ".csv": "manifest",
    ".parquet": "parquet",
    ".tar": "webdataset",
}


def load_data(address: str | os.PathLike[str], *, kind: str | None = None, name: str | None = None) -> Dataset:
    """The data at a path or fsspec address; no image is read yet.

    What it is shows in the address, unless ``kind`` says it:

    - a file, or a pattern such as ``val-{000..003}.tar`` or ``val-*.parquet``, by its ending: ``.npy`` and ``.npz``
      are arrays, ``.csv`` a manifest, ``.tar`` WebDataset shards; ``.parquet`` is a manifest if it has a column
      ``path`` and none with images, otherwise Parquet with images in it;
    - a folder with a ``manifest.csv`` that has a column ``path``: that manifest;
    - a folder with the batches of CIFAR-10, python or binary: its 10,000 test images;
    - a folder that holds no folders but ``.tar`` or ``.parquet`` files: those files;
    - any other folder: class folders.

    Args:
        address: Where the data are.
        kind: One of ``data_kinds.names()``.
        name: What to call the data; by default the last part of the address.
    """
    opener = data_kinds.get(kind) if kind else None
    address = os.fspath(address)
    if not addresses.is_pattern(address) and not addresses.exists(address):
        raise DataError(f"{address}: no such file or folder; check the path")
    place = addresses.absolute(address)
    found = kind or kind_of(place)
    called = name or default_name(place)
    return (opener or data_kinds.get(found))(manifest_at(place) if found == "manifest" else place, name=called)


def manifest_at(address: str) -> str:
    """The manifest of a folder that brings one along; the address of anything else as it is."""
    return addresses.join(address, MANIFEST) if addresses.is_folder(address) else address


def kind_of(address: str) -> str:
    """The kind of data that an address holds, by the rule of `load_data`."""
    ending = _ending(address)
    if ending == ".parquet" and not addresses.is_folder(address):
        from oodometer.data.kinds.parquet import has_images

        return "parquet" if has_images(address) else "manifest"
    if ending in _BY_ENDING and not addresses.is_folder(address):
        return _BY_ENDING[ending]
    if addresses.is_folder(address):
        return _kind_of_folder(address)
    raise DataError(
        f"{address}: can't tell what kind of data it is; expected a folder or one of {', '.join(_BY_ENDING)}, "
        f"or say kind= one of {', '.join(data_kinds.names())}"
    )


def default_name(address: str) -> str:
    """What the data are called when nobody says.

    >>> default_name("/data/val/"), default_name("/data/val.csv"), default_name("s3://data/val-{000..003}.tar")
    ('val', 'val', 'val')
    >>> default_name("/data/val/*.tar")
    'val'
    """
    last = addresses.base_name(address)
    ending = _ending(last)
    stem = last[: -len(ending)] if ending in _BY_ENDING else last
    cut = re.split(r"[{*?\[]", stem)[0].rstrip("-_. ")
    if cut:
        return cut
    above = addresses.parent(address)
    return default_name(above) if above != address and addresses.base_name(above) else "data"


def _kind_of_folder(address: str) -> str:
    if _has_manifest(address):
        return "manifest"
    if any(addresses.exists(addresses.join(address, file)) for file in _CIFAR_10):
        return "cifar-10-batches"
    if not addresses.list_folders(address):
        endings = {_ending(file.path) for file in addresses.list_files(address)}
        for ending in (".tar", ".parquet"):
            if ending in endings:
                return _BY_ENDING[ending]
    return "folder"


def _has_manifest(folder: str) -> bool:
    """Whether there is a manifest beside the images; a table of that name without paths is something else."""
    place = addresses.join(folder, MANIFEST)
    if not addresses.exists(place):
        return False
    header = addresses.read_bytes(place).partition(b"\n")[0].decode("utf-8-sig", errors="replace")
    return "path" in (one.strip(' "\r') for one in header.split(","))


def _ending(address: str) -> str:
    name = addresses.base_name(address)
    return name[name.rfind(".") :].lower() if "." in name else ""
