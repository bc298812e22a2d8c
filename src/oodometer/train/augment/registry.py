"""Augmentations by name, and how a batch goes through several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from oodometer.core.errors import UsageError, did_you_mean
from oodometer.core.random import rng_for
from oodometer.core.registry import Registry
from oodometer.train.augment.copying import CopyMethod


class Augmentation(Protocol):
    """Changes a batch of training images; it may keep what it is given only if it leaves that as it was."""

    def __call__(self, images: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """The changed images, (N, H, W, 3) uint8 -> (N, H, W, 3) uint8."""
        ...


augmentations: Registry[Augmentation] = Registry(
    "augmentation",
    {
        "augmix": "oodometer.train.augment.augmix:augmix",
        "augmix-10": "oodometer.train.augment.augmix:augmix_10",
        "crop": "oodometer.train.augment.crop:crop",
        "crop-black": "oodometer.train.augment.crop:crop_black",
        "erase": "oodometer.train.augment.erase:erase",
        "gaussian-blur": "oodometer.train.augment.gaussian_blur:gaussian_blur",
        "gaussian-noise": "oodometer.train.augment.gaussian_noise:gaussian_noise",
        "mirror": "oodometer.train.augment.mirror:mirror",
        "saturate": "oodometer.train.augment.saturate:saturate",
        "spatter": "oodometer.train.augment.spatter:spatter",
        "speckle-noise": "oodometer.train.augment.speckle_noise:speckle_noise",
        "uniform-noise": "oodometer.train.augment.uniform_noise:uniform_noise",
    },
    group="oodometer.augmentations",
)

copy_methods: Registry[CopyMethod] = Registry(
    "augmentation",
    {
        "deepaugment": "oodometer.train.augment.deepaugment.copies:deepaugment",
        "style": "oodometer.train.augment.style.copies:style",
    },
    group="oodometer.copies",
)
"""Those that make further training images ahead of time, rather than change a batch."""

PLAIN_AUGMENTATIONS = frozenset({"mirror", "crop", "crop-black"})
"""What every network for small images is trained with, and what no one calls an intervention."""


@dataclass(frozen=True)
class Moment:
    """The place of a batch in a training: every draw for it is keyed by that, none depends on an earlier one.

    Args:
        copy: Which of several copies of the batch it is.
    """

    epoch: int
    step: int
    seed: int
    copy: int = 0


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
        if name not in copy_methods.names():
            _check_known(name)
        if names.count(name) > 1:
            raise UsageError(f"the augmentation {name!r} is there twice; name it once")
    return names


def _check_known(name: str) -> None:
    """Refuse what is neither kind of augmentation, and one of an installed package that can't be loaded."""
    if name not in augmentations.names():
        known = did_you_mean(name, [*augmentations.names(), *copy_methods.names()])
        raise UsageError(f"no augmentation named {name!r}{known}")
    augmentations.get(name)


def parted(names: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The plain augmentations among the names, and the others: those that make a training an intervention.

    >>> parted(("mirror", "augmix", "crop"))
    (('mirror', 'crop'), ('augmix',))
    """
    plain = tuple(name for name in names if name in PLAIN_AUGMENTATIONS)
    return plain, tuple(name for name in names if name not in PLAIN_AUGMENTATIONS)


def of_batches(names: Sequence[str]) -> tuple[str, ...]:
    """The augmentations that change a batch, in their order."""
    return tuple(name for name in names if name not in copy_methods.names())


def of_copies(names: Sequence[str]) -> tuple[str, ...]:
    """The augmentations that make copies ahead of time, in their order; they come before all others."""
    return tuple(name for name in names if name in copy_methods.names())


def augmented(images: np.ndarray, names: Sequence[str], moment: Moment) -> np.ndarray:
    """The images after all augmentations, each with draws of its own."""
    of_copy = (moment.copy,) if moment.copy else ()
    for name in names:
        rng = rng_for("augment", name, moment.epoch, moment.step, *of_copy, seed=moment.seed)
        images = augmentations.get(name)(images, rng)
    return images
