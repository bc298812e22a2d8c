"""ImageNet-Vid-Robust and YTBB-Robust: the anchor frames against ImageNet, and their neighbours against the anchors."""

from __future__ import annotations

from functools import partial

import numpy as np

from oodometer.core.condition import Condition, Shift
from oodometer.core.labels import LabelMap
from oodometer.data.layouts.super_classes import super_class_map
from oodometer.shifts.known_shift import KnownShift
from oodometer.shifts.sources import IMAGENET, Sources

VID, YTBB = "imagenet-vid-robust", "ytbb-robust"
CLEAN = {VID: "val-on-vid-robust-classes", YTBB: "val-on-ytbb-robust-classes"}


def _classes(name: str) -> LabelMap:
    return super_class_map(name.replace("-", "_"))


def anchor_frames(name: str, sources: Sources) -> Condition:
    """The anchor frames of a video set alone: pm-0."""

    def make() -> Condition:
        frames = sources.open(name)
        anchors = frames.take(np.flatnonzero(frames.columns["offset"] == 0), name=f"{frames.name}:anchors")
        return Condition(f"{name}_pm0", anchors, _classes(name))

    return sources.once(f"{name}_pm0", make)


def _pm0(sources: Sources, *, name: str) -> list[Shift]:
    clean = sources.clean_on(_classes(name), name=CLEAN[name])
    return [Shift(f"{name}_pm0", "dataset", clean, anchor_frames(name, sources))]


def _pm10(sources: Sources, *, name: str) -> list[Shift]:
    shift = f"{name}_pm10"
    # Both sets hold frames up to ten away from their anchors, and no others.
    near = Condition(shift, sources.open(name), _classes(name), unit="anchor")
    return [Shift(shift, "consistency", anchor_frames(name, sources), near)]


IMAGENET_VID_ROBUST_PM0 = KnownShift(f"{VID}_pm0", "dataset", (IMAGENET, VID), partial(_pm0, name=VID))
IMAGENET_VID_ROBUST_PM10 = KnownShift(f"{VID}_pm10", "consistency", (VID,), partial(_pm10, name=VID))
YTBB_ROBUST_PM0 = KnownShift(f"{YTBB}_pm0", "dataset", (IMAGENET, YTBB), partial(_pm0, name=YTBB))
YTBB_ROBUST_PM10 = KnownShift(f"{YTBB}_pm10", "consistency", (YTBB,), partial(_pm10, name=YTBB))
