"""The perturbation sequences of ImageNet-P as shifts, one per frame."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from oodometer.catalogue.names import ShiftEntry
from oodometer.core.condition import Condition, Family, Shift, Transform
from oodometer.core.preprocessing import Geometry
from oodometer.corruptions.sequences import frame_of, n_frames
from oodometer.shifts.make import pair_of
from oodometer.shifts.sources import Sources

SOURCE = Geometry(256, 256, resize=256)
"""Frames of 224 px are cut from a larger picture, so that there is something to move into view."""


@dataclass(frozen=True)
class Frame:
    """One frame of a sequence, as a transform; a value, so that it can be sent to other processes."""

    name: str
    frame: int
    seed: int

    def __call__(self, image: np.ndarray, image_id: str) -> np.ndarray:
        """The frame, (224, 224, 3) uint8."""
        return frame_of(image, self.name, self.frame, key=image_id, seed=self.seed)


def imagenet_p(sources: Sources, entry: ShiftEntry) -> list[Shift]:
    """Every frame of the ten sequences, as ``imagenet-p/NAME/FRAME``; the flips between them are scored later."""
    return [
        _frame(sources, entry, Family(entry.of, name, frame))
        for name in entry.declared.corruptions
        for frame in range(n_frames(name))
    ]


def _frame(sources: Sources, entry: ShiftEntry, member: Family) -> Shift:
    standard = sources.clean()
    name = entry.declared.member.format(corruption=member.corruption, severity=member.severity)
    transform = frame_at(member.corruption, member.severity, seed=sources.seed)
    return pair_of(entry, standard, Condition(name, standard.dataset, transform=transform), member)


def frame_at(name: str, frame: int, *, seed: int) -> Transform:
    """One frame of a sequence, of whatever images."""
    return Transform(name, {"frame": frame, "seed": seed}, Frame(name, frame, seed), view=SOURCE)
