"""Accuracy where an image has several acceptable labels: any of them counts (the ReaL labels of ImageNet)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from oodometer.core.errors import DataError, OodometerError
from oodometer.core.reading import check_regular, why

LabelSet = tuple[int, ...]
"""The classes that are acceptable for one image; none where people found nothing that fits."""

IMAGE_SUFFIXES = (".jpg", ".jpeg", ".png", ".webp", ".bmp", ".gif", ".tif", ".tiff")


class AnyLabel(NamedTuple):
    """Whether each image was answered with any of its labels.

    Args:
        right: Of the images that have an acceptable label, in their order, bool.
        counted: Which images these are, (N,) bool. The others are left out, as Beyer et al. 2020 do.
    """

    right: np.ndarray
    counted: np.ndarray

    @property
    def accuracy(self) -> float:
        """The share of the counted images that are right."""
        return float(self.right.mean())

    @property
    def n_left_out(self) -> int:
        """Images without any acceptable label."""
        return int((~self.counted).sum())


def any_label_top_1(predictions: np.ndarray, label_sets: Sequence[Iterable[int]]) -> AnyLabel:
    """Whether each prediction, (N,), is one of the image's acceptable labels.

    >>> found = any_label_top_1(np.array([3, 3, 3]), [(1, 3), (2,), ()])
    >>> found.accuracy, found.n_left_out
    (0.5, 1)
    """
    if predictions.ndim != 1:
        raise OodometerError(f"predictions of shape {predictions.shape}: need one class per image, (N,)")
    return _any_of(predictions[:, None], label_sets)


def any_label_top_5(top5: np.ndarray, label_sets: Sequence[Iterable[int]]) -> AnyLabel:
    """Whether any of the five best classes, (N, 5), is one of the image's acceptable labels.

    >>> any_label_top_5(np.array([[5, 4, 3, 2, 1], [5, 4, 3, 2, 1]]), [(1, 9), (8, 9)]).right.tolist()
    [True, False]
    """
    if top5.ndim != 2 or top5.shape[1] != 5:
        raise OodometerError(f"the best classes have shape {top5.shape}: need five per image, (N, 5)")
    if (top5 < 0).any():
        raise OodometerError("fewer than five classes are known for some images; use top-1")
    return _any_of(top5, label_sets)


def _any_of(classes: np.ndarray, label_sets: Sequence[Iterable[int]]) -> AnyLabel:
    if len(classes) != len(label_sets):
        raise OodometerError(f"{len(classes)} predictions and {len(label_sets)} label sets: need one each per image")
    sets = [tuple(labels) for labels in label_sets]
    sizes = np.array([len(labels) for labels in sets], dtype=np.int64)
    counted = sizes > 0
    if not counted.any():
        raise OodometerError("no image has an acceptable label, so the accuracy is undefined")
    labels = np.array([label for labels in sets for label in labels], dtype=np.int64)
    if labels.min() < 0:
        raise OodometerError(f"label {int(labels.min())}: labels count from 0")
    # One number for each (image, class) pair, so that a single search answers all images at once.
    base = int(max(labels.max(), classes.max())) + 1
    acceptable = np.repeat(np.arange(len(sets)), sizes) * base + labels
    answered = np.arange(len(sets))[:, None] * base + classes
    hit = np.asarray(np.isin(answered, acceptable) & (classes >= 0)).any(axis=1)
    return AnyLabel(np.asarray(hit)[counted], counted)


def read_label_sets(path: str | PathLike[str], *, n_classes: int = 1000) -> dict[str, LabelSet]:
    """Image id to its acceptable labels, from a JSON file.

    Either ``{"an image id": [labels], ...}``, or the published list of lists, in the order of the numbers of the
    ILSVRC 2012 validation images: its i-th entry, from 0, gets the id ``ILSVRC2012_val_%08d`` of i + 1.

    Args:
        n_classes: Labels lie between 0 and this minus one.
    """
    content = _read_json(Path(path))
    if isinstance(content, list):
        content = {f"ILSVRC2012_val_{number:08d}": labels for number, labels in enumerate(content, start=1)}
    if not isinstance(content, dict) or not content:
        raise DataError(f"{path}: expected a list of label lists, or an object of image id to label list")
    return {image: _label_set(labels, n_classes, f"{path}: image {image}") for image, labels in content.items()}


def label_sets_for(ids: Sequence[str], label_sets: Mapping[str, LabelSet]) -> list[LabelSet]:
    """The label set of each image, in the order of the ids.

    An id that is not there as it is, is matched by the last part of its path without the suffix of an image file.

    >>> label_sets_for(["n01440764/ILSVRC2012_val_00000293.JPEG"], {"ILSVRC2012_val_00000293": (0,)})
    [(0,)]
    """
    by_stem: dict[str, list[str]] = {}
    for image in label_sets:
        by_stem.setdefault(_stem(image), []).append(image)
    found = [[one] if one in label_sets else by_stem.get(_stem(one), []) for one in ids]
    unknown = [one for one, matches in zip(ids, found, strict=True) if not matches]
    if unknown:
        raise DataError(
            f"{len(unknown)} of {len(ids)} images have no entry in the label sets; the first is {unknown[0]}"
        )
    for one, matches in zip(ids, found, strict=True):
        if len(matches) > 1:
            raise DataError(f"{one} may be {matches[0]} or {matches[1]} of the label sets; give the ids in full")
    return [label_sets[matches[0]] for matches in found]


def _stem(image: str) -> str:
    name = image.replace("\\", "/").rpartition("/")[2]
    stem, dot, suffix = name.rpartition(".")
    return stem if stem and dot + suffix.lower() in IMAGE_SUFFIXES else name


def _read_json(path: Path) -> Any:
    try:
        check_regular(path)
        return json.loads(path.read_bytes(), object_pairs_hook=_once_each)
    except OSError as error:
        raise DataError(f"{path}: can't be read ({error.strerror or error})") from error
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: not a JSON file of label sets ({why(error)})") from error


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries = dict(pairs)
    if len(entries) < len(pairs):
        twice, _ = Counter(name for name, _ in pairs).most_common(1)[0]
        raise ValueError(f"{twice} stands there twice")
    return entries


def _label_set(labels: Any, n_classes: int, where: str) -> LabelSet:
    if not isinstance(labels, list):
        raise DataError(f"{where}: expected a list of labels, found {str(labels)[:40]!r}")
    for label in labels:
        if type(label) is not int:  # True is an int, too
            raise DataError(f"{where}: {str(label)[:40]!r} is no label; labels are whole numbers from 0")
        if not 0 <= label < n_classes:
            raise DataError(f"{where}: label {label} is out of range (0 to {n_classes - 1})")
    return tuple(labels)
