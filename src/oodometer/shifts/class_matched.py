"""A shifted set over the same classes as the clean images that it is compared with."""

from __future__ import annotations

from dataclasses import replace

from oodometer.core.dataset import Dataset
from oodometer.core.errors import UsageError
from oodometer.core.labels import NUMBERS
from oodometer.data.imagenet import imagenet


def in_classes_of(shifted: Dataset, clean: Dataset) -> Dataset:
    """A set labelled among the 1,000 classes of ImageNet, in the way that the clean images name these.

    Clean images of the user's own may lie in folders 0 to 999; then the classes have numbers only, the same ones.
    """
    if clean.space.classes == shifted.space.classes:
        return shifted
    if clean.space.name == NUMBERS and len(clean.space) == len(imagenet()):
        return replace(shifted, space=clean.space)
    raise UsageError(
        f"{clean.name}: its {len(clean.space):,} classes ({clean.space.name}) are not the 1,000 of ImageNet, which "
        f"{shifted.name} is about; name its class folders by WordNet id"
    )
