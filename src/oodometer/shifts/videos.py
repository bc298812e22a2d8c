"""ImageNet-Vid-Robust and YTBB-Robust: the anchor frames against ImageNet, and their neighbours against the anchors."""

from __future__ import annotations

import numpy as np

from oodometer.catalogue.names import ShiftEntry
from oodometer.core.condition import Condition, Shift
from oodometer.core.labels import LabelMap
from oodometer.data.layouts.super_classes import super_class_map
from oodometer.shifts.make import pair_of
from oodometer.shifts.sources import Sources


def anchors_against_imagenet(sources: Sources, entry: ShiftEntry) -> list[Shift]:
    """pm-0: the anchor frames, against the clean images of their classes."""
    videos = entry.sets[-1]
    clean = sources.clean_on(_classes(videos), name=entry.clean)
    return [pair_of(entry, clean, _anchors(videos, sources, name=entry.name))]


def neighbours_against_anchors(sources: Sources, entry: ShiftEntry) -> list[Shift]:
    """pm-10: right only if every frame near the anchor is, against the anchors alone."""
    videos = entry.sets[-1]
    # Both sets hold frames up to ten away from their anchors, and no others.
    near = Condition(entry.name, sources.open(videos), _classes(videos), unit="anchor")
    return [pair_of(entry, _anchors(videos, sources, name=entry.clean), near)]


def _anchors(videos: str, sources: Sources, *, name: str) -> Condition:
    """The anchor frames of a video set alone."""

    def make() -> Condition:
        frames = sources.open(videos)
        anchors = frames.take(np.flatnonzero(frames.columns["offset"] == 0), part="anchors")
        return Condition(name, anchors, _classes(videos))

    return sources.once(name, make)


def _classes(videos: str) -> LabelMap:
    return super_class_map(videos.replace("-", "_"))
