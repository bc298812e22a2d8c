"""The number of images and classes, the class ids, and how many images each class has."""

from __future__ import annotations

from collections import Counter

import numpy as np

from oodometer.core.dataset import Dataset
from oodometer.core.labels import NUMBERS
from oodometer.data import addresses
from oodometer.data.check.rows import CheckRow, counted, none_expected
from oodometer.data.labels import is_number
from oodometer.data.layouts.known_set import KnownSet

SEVERITIES = (1, 2, 3, 4, 5)


def class_rows(dataset: Dataset, place: str, known: KnownSet | None) -> list[CheckRow]:
    """The rows about images and their classes."""
    numbers = Counter(_names_of_labels(dataset))
    rows = [_number_row(dataset, known)]
    if numbers:
        rows.append(counted("classes", known.n_classes if known else None, len(numbers)))
        if known is not None and known.classes is not None:
            expected = _spelled(known.classes(), dataset)
            whole = known.n_classes == len(expected)
            # What holds images of the set is a class of it, however its folder is spelled.
            others = _folders_like(expected, place) - {one.partition("/")[0] for one in dataset.ids}
            rows += _id_rows({*numbers, *others}, set(numbers), expected, whole=whole)
    rows += [*corruption_rows(dataset), *_empty_row(place, known)]
    if known is not None and known.per_class is not None and numbers:
        rows.append(_even_row(numbers, known.per_class))
    return rows


def corruption_rows(dataset: Dataset) -> list[CheckRow]:
    """Of a corrupted set: severities that a corruption lacks, and parts that have fewer images than others."""
    if not {"corruption", "severity"} <= set(dataset.columns):
        return []
    pairs = zip(dataset.columns["corruption"].tolist(), dataset.columns["severity"].tolist(), strict=True)
    parts = Counter((str(name), int(severity)) for name, severity in pairs)
    names = sorted({name for name, _ in parts})
    missing = [f"{name}/{severity}" for name in names for severity in SEVERITIES if (name, severity) not in parts]
    most = max(parts.values())
    fewer = [f"{name}/{severity}: {n:,} of {most:,}" for (name, severity), n in sorted(parts.items()) if n < most]
    return [none_expected("missing severities", missing), none_expected("corruptions not whole", fewer)]


def folder_rows(place: str, known: KnownSet, n_images: int) -> list[CheckRow]:
    """What can be said about a folder that can't be opened as the set: the images on disk and the folders' names."""
    # Where not images are counted, it can't be told how many files there should be.
    rows = [counted("image files", None if known.unit else known.n_images, n_images)]
    if known.classes is not None and addresses.is_folder(place):
        expected = set(known.classes())
        folders = set(addresses.list_folders(place))
        if folders & expected:
            rows += _id_rows(folders, folders, expected, whole=known.n_classes == len(expected))
    return rows + _empty_row(place, known)


def _number_row(dataset: Dataset, known: KnownSet | None) -> CheckRow:
    if known is not None and known.unit is not None:
        return counted(f"{known.unit}s", known.n_images, len(np.unique(dataset.columns[known.unit])))
    return counted("images", known.n_images if known else None, len(dataset))


def _names_of_labels(dataset: Dataset) -> list[str]:
    """The class of every image that has one; of images with several classes, all; otherwise its folder, if known."""
    if "folder" in dataset.columns and (dataset.labels < 0).all():  # images of no class, in folders of classes
        return [str(one) for one in dataset.columns["folder"]]
    classes = dataset.space.classes
    names = [classes[label] for label in dataset.labels.tolist() if label >= 0]
    return names + [classes[label] for more in dataset.other_labels or () for label in more]


def _spelled(expected: frozenset[str], dataset: Dataset) -> set[str]:
    """The published ids as the data write them: where folders are numbers, the numbers from 0 on."""
    if dataset.space.name == NUMBERS and not all(is_number(one) for one in expected):
        return {str(number) for number in range(len(expected))}
    return set(expected)


def _folders_like(expected: set[str], place: str) -> set[str]:
    """The folders that lie there, if they are named after classes at all."""
    folders = set(addresses.list_folders(place)) if addresses.is_folder(place) else set()
    return folders if folders & expected else set()


def _id_rows(seen: set[str], with_images: set[str], expected: set[str], *, whole: bool) -> list[CheckRow]:
    """Ids that are not published, and published ones that are not there (where the set has images of all)."""
    rows = [none_expected("unknown class ids", sorted(seen - expected))]
    if whole:
        rows.append(none_expected("missing classes", sorted(expected - with_images)))
    return rows


def _empty_row(place: str, known: KnownSet | None) -> list[CheckRow]:
    """Folders without any file below them."""
    if not addresses.is_folder(place):
        return []
    filled = {file.path.partition("/")[0] for file in addresses.list_files(place)}
    empty = [one for one in addresses.list_folders(place) if one not in filled]
    return [none_expected("empty folders", empty, otherwise="wrong" if known else "note")]


def _even_row(numbers: Counter[str], per_class: int) -> CheckRow:
    odd = [f"{name}: {number}" for name, number in sorted(numbers.items()) if number != per_class]
    low, high = min(numbers.values()), max(numbers.values())
    found = f"{low}" if low == high else f"{low} to {high}"
    return CheckRow("images per class", f"{per_class}", found, "note" if odd else "ok", tuple(odd))
