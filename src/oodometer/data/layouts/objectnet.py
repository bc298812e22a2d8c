"""ObjectNet: objects in odd places and poses, of which 113 classes overlap with ImageNet's (Barbu et al. 2019)."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from oodometer.core.dataset import Dataset
from oodometer.core.errors import DataError
from oodometer.core.labels import LabelMap, super_classes
from oodometer.data import addresses
from oodometer.data.imagenet import imagenet
from oodometer.data.kinds.folder import list_images
from oodometer.data.labels import ids_of_paths
from oodometer.data.layouts.cropped_sources import WithoutBorder
from oodometer.data.source import EncodedSource, ImageFiles

BORDER = 2
"""Every image has a red frame of so many pixels, as a mark that it must not be trained on."""
FOLDERS = "folder_to_objectnet_label.json"
OVERLAP = "objectnet_to_imagenet_1k.json"


def open_objectnet(address: str, *, name: str) -> Dataset:
    """The images of the classes that overlap with ImageNet's, labelled among these, without their border."""
    label_map = objectnet_classes(address)
    index = {label: place for place, label in enumerate(label_map.target.classes)}
    labels = _texts(address, FOLDERS)
    place = addresses.join(address, "images")
    if not addresses.is_folder(place):
        raise DataError(f"{address}: no folder images in it; expected images/FOLDER/FILE.png and mappings/")
    files = [file for file in list_images(place) if "/" in file.path]
    for folder in sorted({file.path.partition("/")[0] for file in files} - set(labels)):
        raise DataError(f"{place}: a folder {folder!r} is not in {FOLDERS}; is it ObjectNet?")
    kept = [file for file in files if labels[file.path.partition("/")[0]] in index]
    if not kept:
        raise DataError(f"{place}: no images of the {len(index)} classes that overlap with ImageNet's")
    paths = [file.path for file in kept]
    return Dataset(
        name=name,
        ids=ids_of_paths(paths),
        labels=np.array([index[labels[path.partition("/")[0]]] for path in paths], dtype=np.int64),
        space=label_map.target,
        source=WithoutBorder(EncodedSource(ImageFiles.below(place, kept)), BORDER),
        rows=np.arange(len(kept)),
    )


def objectnet_classes(address: str) -> LabelMap:
    """From the classes of ImageNet to those of ObjectNet, by the mapping files of a release."""
    indices = _imagenet_labels(address)
    wnids = imagenet().classes
    groups: dict[str, list[str]] = {}
    for label, texts in sorted(_texts(address, OVERLAP).items()):
        members = []
        for text in texts.split("; "):
            found = indices.get(text.strip(), [])
            if len(found) != 1:
                problem = "two classes" if found else "no class"
                raise DataError(
                    f"{_mapping(address, OVERLAP)}: {text!r}, of {label}, is the label of {problem} of ImageNet"
                )
            members.append(wnids[found[0]])
        groups[label] = members
    return super_classes("objectnet-classes", imagenet(), groups)


def _imagenet_labels(address: str) -> dict[str, list[int]]:
    """The class indices of each text that the mapping files call a class of ImageNet by."""
    found: dict[str, list[int]] = {}
    for index, text in _numbered_labels(address).items():
        if not 0 <= index < len(imagenet()):
            raise DataError(f"{address}: its mapping files have a class {index} of ImageNet; expected 0 to 999")
        found.setdefault(text, []).append(index)
    return found


def _numbered_labels(address: str) -> dict[int, str]:
    """Class index to text: in one file in the beta, in two since release 1.0."""
    beta = "imagenet_to_labels.json"
    if addresses.exists(_mapping(address, beta)):
        return _keyed_by_number(address, beta)
    lines = _read(address, "imagenet_to_label_2012_v2").splitlines()
    # A line's number, from 0 on, is its id of 2012, which is not the order that models answer.
    found = {}
    for index, line in _keyed_by_number(address, "pytorch_to_imagenet_2012_id.json").items():
        if not line.isdigit() or int(line) >= len(lines):
            raise DataError(f"{address}: mappings/imagenet_to_label_2012_v2 has no line {line}; is it whole?")
        found[index] = lines[int(line)].strip()
    return found


def _keyed_by_number(address: str, name: str) -> dict[int, str]:
    texts = _texts(address, name)
    for key in texts:
        if not key.isdigit():
            raise DataError(f"{_mapping(address, name)}: {key!r} is not the number of a class")
    return {int(key): text for key, text in texts.items()}


def _texts(address: str, name: str) -> dict[str, str]:
    """A mapping file: an object whose values are texts or numbers."""
    where = _mapping(address, name)
    try:
        found: Any = json.loads(_read(address, name))
    except (ValueError, RecursionError) as error:
        raise DataError(f"{where}: not JSON") from error
    if not isinstance(found, dict) or not all(isinstance(one, (str, int)) for one in found.values()):
        raise DataError(f"{where}: expected an object that maps names to names")
    return {str(key): str(one) for key, one in found.items()}


def _read(address: str, name: str) -> str:
    where = _mapping(address, name)
    if not addresses.exists(where):
        raise DataError(f"{address}: no mappings/{name} in it; expected images/FOLDER/FILE.png and the mapping files")
    return addresses.read_bytes(where).decode("utf-8-sig", errors="replace")


def _mapping(address: str, name: str) -> str:
    return addresses.join(address, f"mappings/{name}")
