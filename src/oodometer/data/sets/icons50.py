"""ICONS-50: emoji of many vendors, and which of them are held out from training in its three experiments."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from oodometer.core.dataset import Dataset
from oodometer.core.errors import DataError
from oodometer.core.labels import LabelSpace
from oodometer.core.random import key_words
from oodometer.data import addresses
from oodometer.data.addresses import FoundFile
from oodometer.data.folder import is_image
from oodometer.data.ids import ids_of_paths
from oodometer.data.sets.class_lists import class_list
from oodometer.data.sets.known_set import KnownSet
from oodometer.data.source import EncodedSource, ImageFiles

HELD_OUT_STYLE = "microsoft"
HELD_OUT_RENDITION = "2"
EVERY_NTH = 10
"""Every so-manieth icon of those that are not held out is a test image of the standard side."""

Experiment = Literal["style", "subtypes", "renditions"]
_NAME = re.compile(r"(?P<style>[^_/]+)_(?P<rendition>[^_/]+)_(?P<subtype>[^/]+)\.[^./]+")


def icons_50() -> LabelSpace:
    """The 50 classes, named as their folders.

    >>> len(icons_50()), icons_50().classes[1]
    (50, 'arrow_directions')
    """
    return LabelSpace("icons-50", class_list("icons_50"))


def open_icons_50(address: str, *, name: str) -> Dataset:
    """All icons, transparent parts on white, with the columns style, rendition, subtype and held_out.

    ``held_out`` says which of the 50 published subtypes an icon is of; it is empty for the others.
    """
    files = [file for file in addresses.list_files(address) if is_image(file.path)]
    if not files:
        raise DataError(f"{address}: no images in it; expected CLASS/STYLE_RENDITION_SUBTYPE.png{_as_array(address)}")
    places = {one: index for index, one in enumerate(icons_50().classes)}
    classes = [_folder_of(file.path) for file in files]
    for file, folder in zip(files, classes, strict=True):
        if folder not in places:
            raise DataError(f"{address}: {file.path} is not in a folder of one of the 50 classes (airplane, ...)")
    parts = [_parts_of(file, address) for file in files]
    subtypes = [part["subtype"] for part in parts]
    images = ImageFiles(
        tuple(addresses.join(address, file.path) for file in files), tuple(file.version for file in files)
    )
    return Dataset(
        name=name,
        ids=ids_of_paths([file.path for file in files]),
        labels=np.array([places[one] for one in classes], dtype=np.int64),
        space=icons_50(),
        source=EncodedSource(images),
        rows=np.arange(len(files)),
        columns={
            **{key: np.array([part[key] for part in parts]) for key in ("style", "rendition", "subtype")},
            "held_out": np.array(_held_out(classes, subtypes)),
        },
    )


def _held_out(classes: Sequence[str], subtypes: Sequence[str]) -> list[str]:
    """By which of the published names each icon is held out; empty where it is not."""
    below: dict[str, set[str]] = {}
    for one, subtype in zip(classes, subtypes, strict=True):
        below.setdefault(one, set()).add(subtype)
    names = {one: held_out_names(some) for one, some in below.items()}
    return [names[one].get(subtype, "") for one, subtype in zip(classes, subtypes, strict=True)]


def _folder_of(path: str) -> str:
    """The class of a file as its folder says it: small letters, ``_`` between words."""
    return path.partition("/")[0].lower().replace(" ", "_") if path.count("/") == 1 else ""


def _parts_of(file: FoundFile, address: str) -> dict[str, str]:
    match = _NAME.fullmatch(addresses.base_name(file.path))
    if match is None:
        raise DataError(f"{address}: {file.path} is not named STYLE_RENDITION_SUBTYPE.png, as in ICONS-50")
    return match.groupdict()


def _as_array(address: str) -> str:
    array = addresses.join(address, "Icons-50.npy")
    return "; Icons-50.npy holds Python objects and is not read" if addresses.exists(array) else ""


def held_out_names(subtypes: Iterable[str]) -> dict[str, str]:
    """The subtypes of one class that are held out, and by which of the 50 published names.

    As in the published script those that contain a name, so that the five skin tones of ``victory_hand`` go with it.
    The script looks for the names in the whole path, though, which holds out the classes ``monkey`` and ``books``
    altogether, and the paper says that no whole class is: the folder does not count here, and where all subtypes of a
    class contain a name, only those that are exactly one are held out.

    >>> held_out_names(["duck", "owl"]), held_out_names(["victory_hand_type_6", "clapping_hands"])
    ({'duck': 'duck'}, {'victory_hand_type_6': 'victory_hand'})
    >>> held_out_names(["monkey", "monkey_face"])
    {'monkey': 'monkey'}
    """
    published = class_list("icons_50_held_out")
    distinct = sorted(set(subtypes))
    containing = {one: [name for name in published if name in one] for one in distinct}
    if all(containing.values()):
        return {one: one for one in distinct if one in published}
    return {one: max(names, key=len) for one, names in containing.items() if names}


@dataclass(frozen=True)
class Split:
    """The three parts of an experiment: what a model is trained on, and the two sides that it is tested on."""

    training: Dataset
    standard: Dataset
    shifted: Dataset


def split_icons(dataset: Dataset, experiment: Experiment) -> Split:
    """The parts of one experiment; a model that takes it must be trained on its ``training`` alone.

    ``style`` holds out the icons of one vendor (Microsoft), ``subtypes`` those of 50 subtypes, and ``renditions``, the
    control, one version (2) of the icons that a vendor has drawn several times. A tenth of the others, chosen by the
    key of their ids, is the standard side.
    """
    is_shifted = _shifted(dataset, experiment)
    is_tenth = np.array([int(key_words("icons-50 standard", one, seed=0)[0]) % EVERY_NTH == 0 for one in dataset.ids])
    parts = {
        "training": ~is_shifted & ~is_tenth,
        "standard": ~is_shifted & is_tenth,
        "shifted": is_shifted,
    }
    for what, rows in parts.items():
        if not rows.any():
            raise DataError(f"{dataset.name}: no icons for the {what} part of the experiment {experiment!r}")
    return Split(
        **{
            what: dataset.take(np.flatnonzero(rows), name=f"{dataset.name}-{experiment}-{what}")
            for what, rows in parts.items()
        }
    )


def _shifted(dataset: Dataset, experiment: Experiment) -> np.ndarray:
    columns = dataset.columns
    if experiment == "style":
        return np.asarray(columns["style"] == HELD_OUT_STYLE)
    if experiment == "subtypes":
        return np.asarray(columns["held_out"] != "")
    keys = list(zip(dataset.labels.tolist(), columns["style"].tolist(), columns["subtype"].tolist(), strict=True))
    is_version = columns["rendition"] == HELD_OUT_RENDITION
    drawn_otherwise = {key for key, is_it in zip(keys, is_version.tolist(), strict=True) if not is_it}
    return np.array([is_it and key in drawn_otherwise for key, is_it in zip(keys, is_version.tolist(), strict=True)])


ICONS_50 = KnownSet(
    name="icons-50",
    title="ICONS-50",
    page="https://github.com/hendrycks/robustness",
    layout="CLASS/STYLE_RENDITION_SUBTYPE.png",
    places=("Icons-50/Icons-50", "Icons-50"),
    open=open_icons_50,
    n_images=10_000,
    n_classes=50,
    classes=lambda: frozenset(icons_50().classes),
)
