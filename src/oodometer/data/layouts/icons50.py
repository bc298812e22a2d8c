"""ICONS-50: emoji of many vendors, and which of their subtypes are held out from training."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np

from oodometer.core.dataset import Dataset
from oodometer.core.errors import DataError
from oodometer.core.labels import LabelSpace
from oodometer.data import addresses
from oodometer.data.addresses import FoundFile
from oodometer.data.kinds.folder import list_images
from oodometer.data.labels import ids_of_paths
from oodometer.data.layouts.class_lists import class_list
from oodometer.data.load import default_name, kind_of, load_data
from oodometer.data.source import EncodedSource, ImageFiles

_NAME = re.compile(r"(?P<style>[^_/]+)_(?P<version>[^_/]+)_(?P<subtype>[^/]+)\.[^./]+")

FOLDER = "Icons-50"
"""The folder in the released archive, which may lie in one of the same name."""

RELEASED = {"drinks": "drink", "marine_animals": "marine_animal"}
"""Folders of the released set that the paper spells otherwise."""


def icons_50() -> LabelSpace:
    """The 50 classes, named as their folders.

    >>> len(icons_50()), icons_50().classes[1]
    (50, 'arrow_directions')
    """
    return LabelSpace("icons-50", class_list("icons_50"))


def open_icons_50(address: str, *, name: str) -> Dataset:
    """All icons, transparent parts on white, with the columns style, version, subtype and held_out.

    ``held_out`` says which of the 50 published subtypes an icon is of; it is empty for the others.
    """
    files = list_images(address)
    if not files:
        raise DataError(f"{address}: no images in it; expected CLASS/STYLE_VERSION_SUBTYPE.png{_as_array(address)}")
    places = {one: index for index, one in enumerate(icons_50().classes)}
    classes = [_folder_of(file.path) for file in files]
    for file, folder in zip(files, classes, strict=True):
        if folder not in places:
            raise DataError(f"{address}: {file.path} is not in a folder of one of the 50 classes (airplane, ...)")
    parts = [_parts_of(file, address) for file in files]
    subtypes = [part["subtype"] for part in parts]
    return Dataset(
        name=name,
        ids=ids_of_paths([file.path for file in files]),
        labels=np.array([places[one] for one in classes], dtype=np.int64),
        space=icons_50(),
        source=EncodedSource(ImageFiles.below(address, files)),
        rows=np.arange(len(files)),
        columns={
            **{key: np.array([part[key] for part in parts]) for key in ("style", "version", "subtype")},
            "held_out": np.array(_held_out(classes, subtypes)),
        },
    )


def icons_or_any(address: str) -> Dataset:
    """ICONS-50 with its styles, versions and subtypes where a folder is that; else whatever data lie there."""
    for place in (address, addresses.join(address, FOLDER)):
        if is_icons_50(place):
            return open_icons_50(addresses.absolute(place), name=default_name(addresses.absolute(address)))
    return load_data(address)


def is_icons_50(address: str) -> bool:
    """Whether all images of a folder lie in folders of the 50 classes and are named as in ICONS-50."""
    if not addresses.is_folder(address) or kind_of(address) != "folder":
        return False
    files = list_images(address)
    known = set(icons_50().classes)
    return bool(files) and all(
        _folder_of(file.path) in known and _NAME.fullmatch(addresses.base_name(file.path)) for file in files
    )


def _held_out(classes: Sequence[str], subtypes: Sequence[str]) -> list[str]:
    """By which of the published names each icon is held out; empty where it is not."""
    below: dict[str, set[str]] = {}
    for one, subtype in zip(classes, subtypes, strict=True):
        below.setdefault(one, set()).add(subtype)
    names = {one: held_out_names(some) for one, some in below.items()}
    return [names[one].get(subtype, "") for one, subtype in zip(classes, subtypes, strict=True)]


def _folder_of(path: str) -> str:
    """The class of a file as its folder says it: small letters, ``_`` between words, in the paper's spelling."""
    folder = path.partition("/")[0].lower().replace(" ", "_") if path.count("/") == 1 else ""
    return RELEASED.get(folder, folder)


def _parts_of(file: FoundFile, address: str) -> dict[str, str]:
    match = _NAME.fullmatch(addresses.base_name(file.path))
    if match is None:
        raise DataError(f"{address}: {file.path} is not named STYLE_VERSION_SUBTYPE.png, as in ICONS-50")
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
