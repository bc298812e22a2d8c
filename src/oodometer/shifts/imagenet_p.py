"""The perturbation sequences of ImageNet-P as conditions, one per frame."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from oodometer.core.condition import Condition, Transform
from oodometer.core.dataset import Dataset
from oodometer.core.preprocessing import Geometry
from oodometer.corruptions.sequences import SEQUENCES, frame_of, n_frames

SOURCE = Geometry(256, 256, resize=256)
"""Frames of 224 px are cut from a larger picture, so that there is something to move into view."""

PUBLISHED = 10
"""The first ten sequences are the published ones; the others are its extra."""


@dataclass(frozen=True)
class Frame:
    """One frame of a sequence, as a transform; a value, so that it can be sent to other processes."""

    name: str
    frame: int
    seed: int

    def __call__(self, image: np.ndarray, image_id: str) -> np.ndarray:
        """The frame, (224, 224, 3) uint8."""
        return frame_of(image, self.name, self.frame, key=image_id, seed=self.seed)


def imagenet_p(dataset: Dataset, *, seed: int = 0) -> list[Condition]:
    """Every frame of the ten sequences, as ``imagenet-p/NAME/FRAME``; the flips between them are scored later."""
    return [
        Condition(
            f"imagenet-p/{name}/{frame:02d}",
            dataset,
            transform=frame_at(name, frame, seed=seed),
        )
        for name in list(SEQUENCES)[:PUBLISHED]
        for frame in range(n_frames(name))
    ]


def frame_at(name: str, frame: int, *, seed: int) -> Transform:
    """One frame of a sequence, of whatever images."""
    return Transform(name, {"frame": frame, "seed": seed}, Frame(name, frame, seed), view=SOURCE)
