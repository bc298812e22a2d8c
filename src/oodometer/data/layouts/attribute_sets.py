"""The sets of which shifts change one attribute: DeepFashion Remixed and StreetView StoreFronts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from oodometer.core.dataset import Dataset
from oodometer.core.errors import DataError, did_you_mean
from oodometer.core.labels import NUMBERS, LabelSpace
from oodometer.data import addresses
from oodometer.data.kinds.manifest import open_manifest
from oodometer.data.layouts.deepfashion2 import ATTRIBUTES, BASE, CLASSES, TESTED, TRAINED, has_half, open_deepfashion2
from oodometer.data.layouts.training_part import NoTrainingPartError

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
    """The items of DeepFashion2 that are tested on, with their attributes: from its annotations, or a manifest."""
    manifest = _manifest(address)
    if manifest is not None:
        return _listed_clothes(manifest, name)
    if has_half(address, TESTED):
        return open_deepfashion2(address, name=name)
    raise DataError(f"{address}: neither {MANIFESTS[0]} nor {TESTED}/image and {TESTED}/annos of DeepFashion2 in it")


def open_deepfashion_halves(address: str, *, name: str) -> Dataset:
    """The items of both halves of DeepFashion2, or of the one that is there, in the column ``split``."""
    halves = [half for half in (TRAINED, TESTED) if has_half(address, half)]
    if _manifest(address) is not None or not halves:
        return open_deepfashion_remixed(address, name=name)
    return open_deepfashion2(address, name=name, halves=halves)


def open_deepfashion_training(address: str, *, name: str) -> Dataset:
    """The training images of DeepFashion Remixed: those of the half ``train`` that have the attributes of the base."""
    manifest = _manifest(address)
    if manifest is not None:
        clothes = _listed_clothes(manifest, name)
    elif has_half(address, TRAINED):
        clothes = open_deepfashion2(address, name=name, halves=(TRAINED,))
    else:
        raise NoTrainingPartError(f"{address}: no {TRAINED}/image and {TRAINED}/annos of DeepFashion2 in it")
    halves = clothes.columns.get("split", np.full(len(clothes), ""))
    is_base = [clothes.columns[attribute].astype(str) == str(value) for attribute, value in BASE.items()]
    rows = np.flatnonzero(np.logical_and.reduce([halves == TRAINED, *is_base]))
    if not len(rows):
        raise NoTrainingPartError(f"{address}: no training image with {_said(BASE)} (split {TRAINED})")
    return clothes.take(rows)


def _said(attributes: Mapping[str, int]) -> str:
    return ", ".join(f"{attribute} {value}" for attribute, value in attributes.items())


def _listed_clothes(manifest: str, name: str) -> Dataset:
    clothes = _in_order(_with_columns(manifest, ATTRIBUTES, name), CLASSES)
    alone: tuple[tuple[int, ...], ...] = ((),) * len(clothes)
    return replace(clothes, other_labels=alone) if clothes.other_labels is None else clothes


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
