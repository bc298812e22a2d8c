"""ImageNet-Sketch (Wang et al. 2019)."""

from __future__ import annotations

from oodometer.core.dataset import Dataset
from oodometer.data.imagenet import imagenet
from oodometer.data.layouts.class_folders import open_class_folders
from oodometer.data.layouts.known_set import KnownSet


def open_imagenet_sketch(address: str, *, name: str) -> Dataset:
    """The sketches of 1,000 class folders."""
    return open_class_folders(address, name=name)


IMAGENET_SKETCH = KnownSet(
    name="imagenet-sketch",
    title="ImageNet-Sketch",
    page="https://github.com/HaohanWang/ImageNet-Sketch",
    layout="1,000 class folders named by WordNet id",
    places=("imagenet-sketch", "sketch"),
    open=open_imagenet_sketch,
    n_images=50_889,  # its page says 50,000, 50 of each class; the archive has more of some
    n_classes=1000,
    classes=lambda: frozenset(imagenet().classes),
)
