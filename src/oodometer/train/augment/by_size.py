"""Constants that depend on the size of an image, and which of five severities each image of a batch gets."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TypeVar

import numpy as np

T = TypeVar("T")
CHANCE = 0.5


def constants_for(table: Mapping[int, Sequence[T]], image: np.ndarray) -> Sequence[T]:
    """The constants whose side is nearest to the image's shorter side, as a ratio.

    >>> constants_for({32: "small", 224: "large"}, np.zeros((40, 64, 3)))
    'small'
    """
    side = min(image.shape[:2])
    return table[min(table, key=lambda known: abs(math.log(known / side)))]


def drawn_severities(n_images: int, rng: np.random.Generator) -> list[int | None]:
    """For each image one of five severities from 0 on, or None with a chance of one half."""
    changed = rng.random(n_images) < CHANCE
    severities = rng.integers(5, size=n_images)
    return [int(severity) if is_changed else None for severity, is_changed in zip(severities, changed, strict=True)]
