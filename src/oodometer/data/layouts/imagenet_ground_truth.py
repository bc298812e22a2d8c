"""The classes of the validation images of ImageNet, from the files that are handed around with a flat folder of them.

Which file says what:

- ``LOC_val_solution.csv`` (Kaggle): the WordNet id of each image, before its boxes.
- ``val.txt`` (Caffe): file and class index, in the order of the sorted WordNet ids, as models answer. Kaggle has a
  ``val.txt`` too, of names without ending and numbers of lines; it tells no class.
- ``imagenet_2012_validation_synset_labels.txt``: a WordNet id per line, in the order of the files.
- ``ILSVRC2012_validation_ground_truth.txt`` (development kit): a number from 1 to 1000 per line, in the order of the
  files. It is an ``ILSVRC2012_ID``, which is not the order that models answer; only ``meta.mat`` beside it says which
  WordNet id it is. Lists of WordNet ids (``synset_words.txt``, ``LOC_synset_mapping.txt``) are sorted and do not.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from oodometer.core.errors import DataError
from oodometer.data import addresses
from oodometer.data.imagenet import imagenet, imagenet_index

DEVKIT_TRUTH = "ILSVRC2012_validation_ground_truth.txt"
_NUMBER = re.compile(r"ILSVRC2012_val_(\d{8})(?!\d)")
_CAFFE = re.compile(r"(?:\S*/)?ILSVRC2012_val_(\d{8})\.(?:JPEG|jpeg|jpg|JPG|png)\s+(\d{1,3})")
_LEVELS = 4
"""How many folders up from the images the files are looked for: Kaggle's lie above ILSVRC/Data/CLS-LOC/val."""


@dataclass(frozen=True)
class GroundTruth:
    """Where the classes were read, and the class index of each validation image by its number (from 1 on)."""

    address: str
    classes: dict[int, int]


def number_of(name: str) -> int | None:
    """The number of a validation image in its name or id; None where there is none.

    >>> number_of("n01440764/ILSVRC2012_val_00000293"), number_of("n01440764/cat")
    (293, None)
    """
    found = _NUMBER.search(name)
    return int(found[1]) if found else None


def ground_truth_for(folder: str) -> GroundTruth | None:
    """What the nearest of these files says, in the folder or above it; None where there is none."""
    for place in _nearby(folder):
        for name, read in _READERS.items():
            address = addresses.join(place, name)
            found = read(address) if addresses.exists(address) else None
            if found:
                return GroundTruth(address, found)
    return None


def _nearby(folder: str) -> Iterator[str]:
    place = folder.rstrip("/") or folder
    for _ in range(_LEVELS + 1):
        for inside in ("", "data", "devkit/data", "ILSVRC2012_devkit_t12/data", "caffe_ilsvrc12"):
            yield addresses.join(place, inside) if inside else place
        above = addresses.parent(place)
        if above == place or (addresses.is_remote(place) and not addresses.is_remote(above)):
            return
        place = above


def _kaggle(address: str) -> dict[int, int] | None:
    found = {}
    for row in csv.reader(io.StringIO(_text(address))):
        number = number_of(row[0]) if row else None
        if number is not None:
            found[number] = _of_wnid(row[1].partition(" ")[0] if len(row) > 1 else "", address)
    return found


def _caffe(address: str) -> dict[int, int] | None:
    lines = [line.strip() for line in _text(address).splitlines() if line.strip()]
    matches = [_CAFFE.fullmatch(line) for line in lines]
    return {int(one[1]): int(one[2]) for one in matches if one} if all(matches) else None


def _synsets(address: str) -> dict[int, int]:
    return {number: _of_wnid(wnid, address) for number, wnid in enumerate(_text(address).split(), start=1)}


def _devkit(address: str) -> dict[int, int]:
    meta = addresses.join(addresses.parent(address), "meta.mat")
    if not addresses.exists(meta):
        raise DataError(
            f"{address}: its numbers are ids of the development kit, not the classes that models answer; "
            "put meta.mat of the same kit beside it"
        )
    wnids = _wnids_of_devkit(meta)
    found = {}
    for number, word in enumerate(_text(address).split(), start=1):
        if not word.isdigit() or int(word) not in wnids:
            raise DataError(f"{address}: line {number} says {word!r}, which is no class of {meta}")
        found[number] = _of_wnid(wnids[int(word)], meta)
    return found


def _wnids_of_devkit(address: str) -> dict[int, str]:
    """ILSVRC2012_ID to WordNet id; those above 1,000 are the inner nodes of the tree."""
    from scipy.io import loadmat

    content = addresses.read_bytes(address)
    try:
        table = loadmat(io.BytesIO(content), squeeze_me=True, variable_names=["synsets"])["synsets"]
        ids = {int(row["ILSVRC2012_ID"]): str(row["WNID"]) for row in table.ravel()}
    except Exception as error:  # the reader of damaged files raises almost anything
        raise DataError(
            f"{address}: not the meta.mat of the ILSVRC 2012 development kit ({type(error).__name__})"
        ) from error
    return {number: wnid for number, wnid in ids.items() if number <= len(imagenet())}


def _of_wnid(wnid: str, address: str) -> int:
    if wnid not in imagenet_index():
        raise DataError(f"{address}: {wnid!r} is not the WordNet id of a class of ImageNet")
    return imagenet_index()[wnid]


def _text(address: str) -> str:
    try:
        return addresses.read_bytes(address).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{address}: not a text") from error


_READERS: dict[str, Callable[[str], dict[int, int] | None]] = {
    "LOC_val_solution.csv": _kaggle,
    "val.txt": _caffe,
    "imagenet_2012_validation_synset_labels.txt": _synsets,
    DEVKIT_TRUTH: _devkit,
}
