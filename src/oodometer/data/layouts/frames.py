"""Frames of videos, each near an anchor frame: what the two video sets have in common."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from oodometer.core.dataset import Dataset
from oodometer.core.errors import DataError
from oodometer.core.labels import LabelSpace
from oodometer.data import addresses
from oodometer.data.source import EncodedSource, ImageFiles


@dataclass(frozen=True)
class Frame:
    """One frame of the set of an anchor; a frame near two anchors is two of these.

    Args:
        path: Of the file, below the folder of the set.
        anchor: The id of the anchor frame.
        offset: Frames after the anchor; 0 is the anchor itself.
        labels: Classes of which any counts as right, the main one first.
    """

    path: str
    video: str
    anchor: str
    offset: int
    labels: tuple[int, ...]

    @property
    def id(self) -> str:
        """That of the anchor, and how far away from it the frame is."""
        return f"{self.anchor} {self.offset:+d}" if self.offset else self.anchor


def frames_dataset(address: str, frames: Sequence[Frame], space: LabelSpace, *, name: str) -> Dataset:
    """The frames with the columns ``anchor``, ``offset`` and ``video``, by anchor and in the order of time.

    Raises:
        DataError: Files of some frames are not there.
    """
    ordered = sorted(frames, key=lambda one: (one.anchor, one.offset))
    files = {file.path: file for file in addresses.list_files(address)}
    missing = sorted({one.path for one in ordered} - set(files))
    if missing:
        n = len({one.path for one in ordered})
        raise DataError(
            f"{address}: expected {n:,} frames, found {n - len(missing):,}; the first that is missing is {missing[0]}; "
            "is it unpacked whole?"
        )
    return Dataset(
        name=name,
        ids=tuple(one.id for one in ordered),
        labels=np.array([one.labels[0] for one in ordered], dtype=np.int64),
        space=space,
        source=EncodedSource(ImageFiles.below(address, (files[one.path] for one in ordered))),
        rows=np.arange(len(ordered)),
        columns={
            "anchor": np.array([one.anchor for one in ordered]),
            "offset": np.array([one.offset for one in ordered], dtype=np.int64),
            "video": np.array([one.video for one in ordered]),
        },
        other_labels=tuple(one.labels[1:] for one in ordered) if any(one.labels[1:] for one in ordered) else None,
    )


def read_json_object(address: str) -> dict[str, Any]:
    """The object in a JSON file."""
    try:
        found = json.loads(addresses.read_bytes(address))
    except (ValueError, RecursionError) as error:  # also what is no UTF-8
        raise DataError(f"{address}: not a readable JSON file ({error}); is it whole?") from error
    if not isinstance(found, dict):
        raise DataError(f"{address}: expected a JSON object, found a {type(found).__name__}")
    return found
