"""ImageNet-Vid-Robust as it is distributed: ``val/VIDEO/FRAME.JPEG`` with its metadata beside it."""

from __future__ import annotations

import re
from typing import Any

from oodometer.core.dataset import Dataset
from oodometer.core.errors import DataError
from oodometer.data import addresses
from oodometer.data.layouts.frames import Frame, frames_dataset, read_json_object
from oodometer.data.layouts.super_classes import super_class_map

PMSETS, LABELS = "metadata/pmsets.json", "metadata/labels.json"
FRAME = re.compile(r"(?:.*/)?(?P<video>[^/]+)/(?P<number>\d+)\.[A-Za-z]+")


def open_vid_robust(address: str, *, name: str) -> Dataset:
    """Every frame of every anchor's set; a frame may have several of the 30 classes, of which any counts."""
    sets = read_json_object(addresses.join(address, PMSETS))
    labels = read_json_object(addresses.join(address, LABELS))
    frames = [one for anchor, near in sets.items() for one in _set_of(anchor, near, labels, address)]
    return frames_dataset(address, frames, super_class_map("imagenet_vid_robust").target, name=name)


def _set_of(anchor: str, near: Any, labels: dict[str, Any], address: str) -> list[Frame]:
    """The anchor and the frames near it."""
    if not isinstance(near, list):
        raise DataError(f"{address}: {PMSETS}: {anchor}: expected a list of frames, found {near!r}")
    video, first = _parsed(anchor, address)
    frames = []
    for path in dict.fromkeys([anchor, *near]):
        of_video, number = _parsed(path, address)
        if of_video != video:
            raise DataError(f"{address}: {PMSETS}: {path} is of another video than its anchor {anchor}")
        anchor_id = f"{video}/{anchor.rpartition('/')[2].partition('.')[0]}"
        frames.append(Frame(path, video, anchor_id, number - first, _labels_of(path, labels, address)))
    return frames


def _parsed(path: Any, address: str) -> tuple[str, int]:
    """The video and the number of a frame."""
    found = FRAME.fullmatch(path) if isinstance(path, str) else None
    if found is None:
        raise DataError(f"{address}: {PMSETS}: {path!r} is no frame; expected val/VIDEO/NUMBER.JPEG")
    return found["video"], int(found["number"])


def _labels_of(path: str, labels: dict[str, Any], address: str) -> tuple[int, ...]:
    found = labels.get(path)
    if not isinstance(found, list) or not found or not all(type(one) is int for one in found):
        raise DataError(f"{address}: {LABELS}: {path}: expected a list of classes 0 to 29, found {found!r}")
    return tuple(dict.fromkeys(found))
