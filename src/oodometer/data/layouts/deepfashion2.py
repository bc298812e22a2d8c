"""DeepFashion2: photographs of clothes, each item with its category, scale, occlusion, viewpoint and zoom."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from oodometer.core.dataset import Dataset
from oodometer.core.errors import DataError
from oodometer.core.labels import LabelSpace
from oodometer.data import addresses
from oodometer.data.addresses import FoundFile
from oodometer.data.source import EncodedSource, ImageFiles

CLASSES = LabelSpace(
    "deepfashion2",
    (
        "short sleeve top",
        "long sleeve top",
        "short sleeve outwear",
        "long sleeve outwear",
        "vest",
        "sling",
        "shorts",
        "trousers",
        "skirt",
        "short sleeve dress",
        "long sleeve dress",
        "vest dress",
        "sling dress",
    ),
)
"""In the order of ``category_id``, which counts from 1."""

ATTRIBUTES = ("scale", "occlusion", "viewpoint", "zoom_in")
"""Of each item, 1 to 3 each."""

TESTED, TRAINED = "validation", "train"
"""The halves; the test images of DeepFashion2 have no published annotations."""

BASE = {"scale": 2, "occlusion": 2, "viewpoint": 2, "zoom_in": 1}
"""What the training images of DeepFashion Remixed have: medium scale and occlusion, seen from the front, no zoom.

The paper's text says that the base is seen from the side or back, and its table of results that this is a shift. The
script that made the table trains on viewpoint 2, which is frontal in DeepFashion2.
"""


def has_half(address: str, half: str) -> bool:
    """Whether the annotations of a half are there."""
    return addresses.is_folder(addresses.join(address, f"{half}/annos"))


def open_deepfashion2(address: str, *, name: str, halves: Sequence[str] = (TESTED,)) -> Dataset:
    """The images of a half (``validation/image``), once for each combination of attributes that items in them have.

    As the script that made the published numbers does it: an image belongs to a set if an item in it has the set's
    attributes, and its labels there are the categories of such items alone. So one image may be in several sets, under
    ids such as ``000001-2221``: scale 2, occlusion 2, viewpoint 2, zoom 1. Both halves count from 000001: the ids of
    training images begin with ``train-``.
    """
    rows = [row for half in halves for row in _rows_of_half(address, half)]
    columns = ("split", "image", "source", "pair_id", *ATTRIBUTES)
    return Dataset(
        name=name,
        ids=tuple(_id_of(row) for row in rows),
        labels=np.array([row["labels"][0] for row in rows], dtype=np.int64),
        space=CLASSES,
        source=EncodedSource(ImageFiles.below(address, (row["file"] for row in rows))),
        rows=np.arange(len(rows)),
        columns={column: np.array([row[column] for row in rows]) for column in columns},
        other_labels=tuple(tuple(row["labels"][1:]) for row in rows),
    )


def _id_of(row: dict[str, Any]) -> str:
    before = "" if row["split"] == TESTED else f"{row['split']}-"
    return f"{before}{row['image']}-{''.join(str(row[attribute]) for attribute in ATTRIBUTES)}"


def _rows_of_half(address: str, half: str) -> Iterator[dict[str, Any]]:
    images, annotations = (addresses.join(address, f"{half}/{part}") for part in ("image", "annos"))
    files = {posixpath.splitext(file.path)[0]: file for file in addresses.list_files(images)}
    for annotation in addresses.list_files(annotations):
        stem, ending = posixpath.splitext(annotation.path)
        where = addresses.join(annotations, annotation.path)
        if ending != ".json":
            continue
        if stem not in files:
            raise DataError(f"{where}: no image of that number in {images}; is it unpacked whole?")
        file = FoundFile(f"{half}/image/{files[stem].path}", files[stem].version)
        yield from ({**row, "split": half, "file": file} for row in _rows(where, stem))


def _rows(where: str, stem: str) -> Iterator[dict[str, Any]]:
    """One row for each combination of attributes in an image, with the labels of the items that have it."""
    try:
        about = json.loads(addresses.read_bytes(where))
        items = [_item(value) for key, value in about.items() if key.startswith("item")]
        of_image = {"image": stem, "source": str(about["source"]), "pair_id": int(about["pair_id"])}
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError) as error:
        raise DataError(f"{where}: not an annotation of DeepFashion2 ({type(error).__name__}: {error})") from error
    for attributes in sorted({one for one, _ in items}):
        labels = sorted({label for one, label in items if one == attributes})
        yield {**of_image, **dict(zip(ATTRIBUTES, attributes, strict=True)), "labels": labels}


def _item(item: dict[str, Any]) -> tuple[tuple[int, ...], int]:
    attributes, category = tuple(int(item[one]) for one in ATTRIBUTES), int(item["category_id"])
    if not all(1 <= one <= 3 for one in attributes) or not 1 <= category <= len(CLASSES):
        raise ValueError(f"attributes {attributes}, category_id {category}")
    return attributes, category - 1
