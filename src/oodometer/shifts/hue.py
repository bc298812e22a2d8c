"""The clean images in other colours: does a model know a thing by its shape?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from oodometer.catalogue.names import ShiftEntry
from oodometer.core.condition import Condition, Shift, Transform
from oodometer.corruptions.hue import DEGREES, turn_hue
from oodometer.shifts.imagenet_c import CANONICAL
from oodometer.shifts.make import pair_of
from oodometer.shifts.sources import Sources


@dataclass(frozen=True)
class Turning:
    """A turn of all hues as a transform; a value, so that it can be sent to other processes."""

    degrees: int

    def __call__(self, image: np.ndarray, image_id: str) -> np.ndarray:  # noqa: ARG002 - nothing is drawn
        """The image in other colours."""
        return turn_hue(image, self.degrees)


def turned(sources: Sources, entry: ShiftEntry) -> list[Shift]:
    """The clean images against themselves with their hues turned, ``hue/30`` to ``hue/330``.

    They are no family: a turn by 180 degrees is not twice as severe as one by 90, so nothing is averaged.
    """
    standard = sources.clean()
    return [
        pair_of(entry, standard, Condition(f"{entry.of}/{degrees}", standard.dataset, transform=turning(degrees)))
        for degrees in DEGREES
    ]


def turning(degrees: int) -> Transform:
    """The turn by so many degrees, of whatever images."""
    return Transform("hue", {"degrees": degrees}, Turning(degrees), view=CANONICAL)
