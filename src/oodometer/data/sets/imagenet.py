"""The validation set of ImageNet (ILSVRC 2012)."""

from __future__ import annotations

from oodometer.core.dataset import Dataset
from oodometer.data.folder import open_folder
from oodometer.data.imagenet import imagenet
from oodometer.data.sets.known_set import KnownSet


def open_imagenet(address: str, *, name: str) -> Dataset:
    """The validation images in class folders."""
    return open_folder(address, name=name)


IMAGENET = KnownSet(
    name="imagenet",
    title="ImageNet validation set (ILSVRC 2012)",
    page="https://image-net.org",
    layout="class folders named by WordNet id or by number, or flat with a ground-truth file",
    places=("imagenet/val", "imagenet", "ILSVRC2012/val", "val"),
    open=open_imagenet,
    n_images=50_000,
    n_classes=1000,
    classes=lambda: frozenset(imagenet().classes),
)
