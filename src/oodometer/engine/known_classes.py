"""How many classes a published set has, by its name."""

from __future__ import annotations

CLASSES = {
    "imagenet": 1000,
    "imagenet-val": 1000,
    "imagenet-real": 1000,
    "imagenet-sketch": 1000,
    "imagenet-c": 1000,
    "imagenet-c-bar": 1000,
    "imagenet-p": 1000,
    "imagenet-stylized": 1000,
    "imagenetv2": 1000,
    "cifar-10": 10,
    "cifar-10-c": 10,
    "cifar-10.1": 10,
    "cifar-100": 100,
    "cifar-100-c": 100,
    "tiny-imagenet": 200,
    "tiny-imagenet-c": 200,
}
"""Sets that are answered over some of ImageNet's classes (ImageNet-A, -O, -R) are not among these: files about them
number the 200 classes or the 1,000."""


def known_classes(data: str, condition: str) -> int | None:
    """The number of classes of the data of that name, or of the published set that the condition is named after.

    >>> known_classes("imagenet", "clean"), known_classes("imported", "imagenet-c/fog/3")
    (1000, 1000)
    >>> known_classes("imported", "imagenetv2-matched-frequency"), known_classes("imported", "imagenet-a")
    (1000, None)
    """
    for name in (data, condition):
        base = name.partition("/")[0].partition("[")[0].lower()
        for published in (base, base.partition("-")[0] if base.startswith("imagenetv2") else base):
            if published in CLASSES:
                return CLASSES[published]
    return None
