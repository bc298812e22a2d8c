"""How many classes a published set has, by its name."""

from __future__ import annotations

import re

IMAGENET = "imagenet", "imagenet-val", "imagenet-real", "imagenet-sketch", "stylized-imagenet"
CORRUPTED = "imagenet-c", "imagenet-c-bar", "imagenet-c-extra", "imagenet-p"
CIFAR = "cifar-10", "cifar-10-c", "cifar10-c", "cifar-10.1-v4", "cifar-10.1-v6"
TINY = "tiny-imagenet", "tiny-imagenet-c"
CLASSES = {
    **dict.fromkeys((*IMAGENET, *CORRUPTED, "imagenetv2"), 1000),
    **dict.fromkeys(CIFAR, 10),
    **dict.fromkeys(TINY, 200),
}
"""Not among these are sets whose files may number one of two things: the 200 classes of ImageNet-A, -O and -R or
ImageNet's 1,000, the 100 classes of CIFAR-100 or its 20 groups."""
VARIANT = re.compile(r"[/:\[].*|(?<=^imagenetv2)-.*")
"""What follows the name of a set: ``/fog/3``, ``:disk``, ``[100, seed 0]``, and which of the three ImageNetV2."""


def known_classes(data: str, condition: str) -> int | None:
    """The number of classes of the data of that name, or of the published set that the condition is named after.

    >>> known_classes("imagenet", "clean"), known_classes("imported", "imagenet-c:disk/fog/3")
    (1000, 1000)
    >>> known_classes("imported", "imagenetv2-matched-frequency"), known_classes("imported", "imagenet-a")
    (1000, None)
    """
    sets = (VARIANT.sub("", name.lower()) for name in (data, condition))
    return next((CLASSES[name] for name in sets if name in CLASSES), None)
