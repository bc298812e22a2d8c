"""Augmentations by name, and how a batch goes through several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from oodometer.core.errors import UsageError
from oodometer.core.random import rng_for
from oodometer.core.registry import Registry


class Augmentation(Protocol):
    """Changes a batch of training images; it may keep what it is given only if it leaves that as it was."""

    def __call__(self, images: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """The changed images, (N, H, W, 3) uint8 -> (N, H, W, 3) uint8."""
        ...


augmentations: Registry[Augmentation] = Registry(
    "augmentation",
    {
        "crop": "oodometer.train.augment.crop:crop",
        "crop-black": "oodometer.train.augment.crop:crop_black",
        "erase": "oodometer.train.augment.erase:erase",
        "mirror": "oodometer.train.augment.mirror:mirror",
    },
    group="oodometer.augmentations",
)


@dataclass(frozen=True)
class Moment:
    """The place of a batch in a training: every draw for it is keyed by that, none depends on an earlier one."""

    epoch: int
    step: int
    seed: int


def parse_augmentations(text: str) -> tuple[str, ...]:
    """The names in ``mirror,crop``, in the order in which they are applied; ``none`` is none.

    >>> parse_augmentations("mirror,crop"), parse_augmentations("none")
    (('mirror', 'crop'), ())
    >>> parse_augmentations("mirorr")
    Traceback (most recent call last):
    oodometer.core.errors.UsageError: no augmentation named 'mirorr'; did you mean mirror?
    """
    names = tuple(one.strip() for one in text.split(",") if one.strip() not in ("", "none"))
    for name in names:
        augmentations.get(name)
        if names.count(name) > 1:
            raise UsageError(f"the augmentation {name!r} is there twice; name it once")
    return names


def augmented(images: np.ndarray, names: Sequence[str], moment: Moment) -> np.ndarray:
    """The images after all augmentations, each with draws of its own."""
    for name in names:
        rng = rng_for("augment", name, moment.epoch, moment.step, seed=moment.seed)
        images = augmentations.get(name)(images, rng)
    return images
