"""Every augmentation of the registry, in one form: copies of images of any size."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from oodometer.core.errors import UsageError, did_you_mean
from oodometer.core.random import rng_for
from oodometer.train.augment.copying import CopyMethod, CopyRequest, Unit
from oodometer.train.augment.registry import augmentations, copy_methods

PER_UNIT = 32


class BatchCopying:
    """An augmentation that changes batches, applied to one image at a time."""

    def __init__(self, name: str, request: CopyRequest) -> None:
        self.name, self.request = name, request
        starts = range(0, len(request.images), PER_UNIT)
        self.units: Sequence[Unit] = tuple(
            Unit(name, number, tuple(range(start, min(start + PER_UNIT, len(request.images)))))
            for number, start in enumerate(starts)
        )

    def make(self, unit: Unit) -> list[np.ndarray]:
        """The changed images."""
        request = self.request
        return [self.draw(request.images[row], request.keys[row], request.seed)[self.name] for row in unit.rows]

    def draw(self, image: np.ndarray, key: str, seed: int) -> dict[str, np.ndarray]:
        """One changed image."""
        rng = rng_for("augment", self.name, key, seed=seed)
        return {self.name: augmentations.get(self.name)(image[None], rng)[0]}


def method_named(name: str) -> CopyMethod:
    """The method of that name, of either kind."""
    if name in copy_methods.names():
        return copy_methods.get(name)
    if name in augmentations.names():
        return CopyMethod((name,), 1, lambda request: BatchCopying(name, request))
    known = did_you_mean(name, [*augmentations.names(), *copy_methods.names()])
    raise UsageError(f"--method {name}: no augmentation of that name{known}")
