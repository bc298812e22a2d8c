"""YTBB-Robust: frames in ``VIDEO_MILLISECONDS/frame-NUMBER.jpg``, and what its reviewers said of them.

Which anchors and neighbours count, and with which labels, is decided from the reviews as in the 204-model testbed. Of
the 24 classes five (cow, giraffe, skateboard, toilet, none) are no class of ImageNet: anchors that have no other label
count there too, and every answer to them is wrong.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from oodometer.core.dataset import Dataset
from oodometer.core.errors import DataError
from oodometer.data import addresses
from oodometer.data.layouts.frames import Frame, frames_dataset, read_json_object
from oodometer.data.layouts.super_classes import super_class_map

METADATA = ("metadata", "ytbb-robust_metadata")
ANCHORS, NEIGHBOURS, FIRST_LABELS = "anchor_labels.json", "pmk_labels.json", "ytbb_robustness_test_anchors_full.csv"
VIDEOS = "ytbb_videos"
K = 10
"""How far from its anchor a frame may be."""
PROBLEMS = frozenset(
    (
        "dissimilar",
        "problematic",
        "incorrect",
        "dont know",
        "deformation",
        "background-change",
        "occlusion-increased",
        "blur-increase",
        "bad-anchor",
    )
)
"""What a reviewer may say of a neighbour that then does not count."""
FRAME = re.compile(r"(?P<video>.+)_(?P<milliseconds>\d+)/frame-(?P<number>\d+)\.jpg")
SWAPPED = {22: 23, 23: 22}
"""In the table of first labels, 22 is the car and 23 is none; everywhere else it is the other way round."""


def open_ytbb_robust(address: str, *, name: str) -> Dataset:
    """Every frame that counts for an anchor; the labels of an anchor, of which any counts, are those of its frames."""
    metadata = _metadata(address)
    anchors, neighbours = (_reviews(addresses.join(metadata, one)) for one in (ANCHORS, NEIGHBOURS))
    first = _first_labels(addresses.join(metadata, FIRST_LABELS))
    bad = {_short(review.key.partition(",")[0]) for review in neighbours if "bad-anchor" in review.words}
    similar = {review.key for review in neighbours if "similar" in review.words and not review.words & PROBLEMS}
    inside = VIDEOS if addresses.exists(addresses.join(address, VIDEOS)) else ""
    frames: list[Frame] = []
    # Where an anchor was reviewed twice, the later review that found it good counts.
    good = {_short(one.key): one for one in anchors if "good" in one.words and not one.words & {"bad", "unsure"}}
    for key, review in good.items():
        if key not in bad:
            frames += _set_of(key, _labels_of(key, review, first, metadata), similar, inside)
    if not frames:
        raise DataError(f"{metadata}: no good anchor in {ANCHORS}")
    return frames_dataset(address, frames, super_class_map("ytbb_robust").target, name=name)


def _metadata(address: str) -> str:
    for one in METADATA:
        found = addresses.join(address, one)
        if addresses.exists(found):
            return found
    raise DataError(
        f"{address}: no folder {METADATA[0]} in it; expected {ANCHORS}, {NEIGHBOURS} and {FIRST_LABELS} there, "
        "as the 204-model testbed has them in ytbb-robust_metadata"
    )


@dataclass(frozen=True)
class _Review:
    """What was said of an anchor, or of the pair ``ANCHOR,NEIGHBOUR``."""

    key: str
    words: frozenset[str]


def _reviews(address: str) -> list[_Review]:
    """The last review of each key, in the order in which the keys first appear."""
    content = read_json_object(address)
    names, rows = content.get("labels"), content.get("annotations")
    if not isinstance(names, list) or not isinstance(rows, list):
        there = ", ".join(content) or "nothing"
        raise DataError(f"{address}: expected the lists 'labels' and 'annotations', found {there}")
    found = [_review(row, names, address) for row in rows]
    return list({one.key: one for one in found}.values())


def _review(row: Any, names: list[Any], address: str) -> _Review:
    try:
        if min(row["labels"], default=0) >= 0:
            return _Review(str(row["key"]), frozenset(str(names[one]) for one in row["labels"]))
    except (TypeError, KeyError, IndexError):
        pass
    raise DataError(f"{address}: {row!r} is no review; expected a key and a list of labels")


def _first_labels(address: str) -> dict[str, int]:
    """The class that each anchor was chosen for, by ``VIDEO_MILLISECONDS``."""
    try:
        text = addresses.read_bytes(address).decode("utf-8-sig")
        rows = csv.DictReader(io.StringIO(text, newline=""), strict=True)
        labels = {f"{row['ytid']}_{row['time_ms']}": int(row["label"]) for row in rows}
    except (ValueError, KeyError, TypeError, csv.Error) as error:
        raise DataError(f"{address}: expected a CSV file with the columns ytid, time_ms and label ({error})") from error
    return {key: SWAPPED.get(label, label) for key, label in labels.items()}


def _labels_of(key: str, review: _Review, first: dict[str, int], metadata: str) -> tuple[int, ...]:
    """The class that the anchor was chosen for, and those that the reviewer added."""
    folder = key.partition("/")[0]
    if folder not in first:
        raise DataError(f"{metadata}: {FIRST_LABELS} has no row for {folder}, which {ANCHORS} says is good")
    classes = super_class_map("ytbb_robust").target.classes
    added = [place for place, name in enumerate(classes) if name in review.words]
    return tuple(dict.fromkeys([first[folder], *added]))


def _set_of(key: str, labels: tuple[int, ...], similar: Collection[str], inside: str) -> list[Frame]:
    """The anchor, and the neighbours that were found similar to it."""
    found = FRAME.fullmatch(key)
    if found is None:
        raise DataError(f"{ANCHORS}: {key!r} is no anchor; expected VIDEO_MILLISECONDS/frame-NUMBER.jpg")
    folder, number = key.partition("/")[0], int(found["number"])
    frames = []
    for offset in range(-K, K + 1):
        path = f"{folder}/frame-{number + offset}.jpg"
        # By the whole text, as the testbed looks it up: a pair written with longer paths does not count there.
        if offset == 0 or f"{key},{path}" in similar:
            place = f"{inside}/{path}" if inside else path
            frames.append(Frame(place, found["video"], key.removesuffix(".jpg"), offset, labels))
    return frames


def _short(key: str) -> str:
    """The last two parts of a path, which name the frame.

    >>> _short("/data/frames/KxDh7a8_AmU_44666/frame-1117.jpg")
    'KxDh7a8_AmU_44666/frame-1117.jpg'
    """
    return "/".join(key.split("/")[-2:])
