"""The sets of which shifts change one attribute: DeepFashion Remixed and StreetView StoreFronts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from oodometer.core.dataset import Dataset
from oodometer.core.errors import DataError, did_you_mean
from oodometer.core.labels import NUMBERS, LabelSpace
from oodometer.data import addresses
from oodometer.data.kinds.manifest import open_manifest
from oodometer.data.layouts.deepfashion2 import ATTRIBUTES, CLASSES, PART, open_deepfashion2

MANIFESTS = ("manifest.csv", "manifest.parquet")

STOREFRONTS = LabelSpace(
    "storefronts",
    (
        "auto shop",
        "bakery",
        "bank",
        "beauty salon",
        "car dealer",
        "car wash",
        "cell phone store",
        "dentist",
        "discount store",
        "dry cleaner",
        "furniture store",
        "gas station",
        "gym",
        "hardware store",
        "hotel",
        "liquor store",
        "pharmacy",
        "religious institution",
        "storage facility",
        "veterinary care",
    ),
)
"""As the paper lists them (Hendrycks et al. 2021, appendix C)."""

SPELLED = {
    "short sleeve outerwear": "short sleeve outwear",
    "long sleeve outerwear": "long sleeve outwear",
    "long sleep dress": "long sleeve dress",
}
"""How the paper writes classes that DeepFashion2 writes otherwise."""


def open_deepfashion_remixed(address: str, *, name: str) -> Dataset:
    """The items of DeepFashion2 with their attributes: from its annotations, or from a manifest."""
    manifest = _manifest(address)
    if manifest is not None:
        found = _in_order(_with_columns(manifest, ATTRIBUTES, name), CLASSES)
        alone: tuple[tuple[int, ...], ...] = ((),) * len(found)
        return replace(found, other_labels=alone) if found.other_labels is None else found
    if addresses.is_folder(addresses.join(address, f"{PART}/annos")):
        return open_deepfashion2(address, name=name)
    raise DataError(f"{address}: neither {MANIFESTS[0]} nor {PART}/image and {PART}/annos of DeepFashion2 in it")


def open_storefronts(address: str, *, name: str) -> Dataset:
    """The shop fronts that a manifest lists, with country, year and camera."""
    manifest = _manifest(address)
    if manifest is None:
        raise DataError(f"{address}: no {MANIFESTS[0]} in it; it lists path, label, country, year and camera")
    return _in_order(_with_columns(manifest, ("country", "year", "camera"), name), STOREFRONTS)


def _manifest(address: str) -> str | None:
    """The manifest at an address: itself, or in that folder; None where there is none."""
    if not addresses.is_folder(address):
        return address
    inside = (addresses.join(address, one) for one in MANIFESTS)
    return next((one for one in inside if addresses.exists(one)), None)


def _with_columns(manifest: str, columns: tuple[str, ...], name: str) -> Dataset:
    found = open_manifest(manifest, name=name)
    missing = [one for one in columns if one not in found.columns]
    if missing:
        raise DataError(f"{manifest}: no column {missing[0]!r}; needed are {', '.join(columns)}")
    return found


def _in_order(dataset: Dataset, space: LabelSpace) -> Dataset:
    """The same images under the classes of the set, in its order: a table may name only some of them."""
    if dataset.space.name == NUMBERS:
        if len(dataset.space) > len(space):
            largest = len(dataset.space) - 1
            raise DataError(f"{dataset.name}: label {largest}; its classes are 0 to {len(space) - 1}, or names")
        return replace(dataset, space=space)
    places = []
    for one in dataset.space.classes:
        plain = SPELLED.get(one.lower(), one.lower())
        if plain not in space.classes:
            raise DataError(f"{dataset.name}: it has no class {one!r}{did_you_mean(plain, space.classes)}")
        places.append(space.classes.index(plain))
    others = dataset.other_labels
    return replace(
        dataset,
        space=space,
        labels=np.array(places)[dataset.labels],
        other_labels=None if others is None else tuple(tuple(places[one] for one in some) for some in others),
    )
