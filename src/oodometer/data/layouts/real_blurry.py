"""Real blurry images: photographs of ImageNet classes that are blurred by nature (Hendrycks et al. 2021)."""

from __future__ import annotations

from oodometer.core.dataset import Dataset
from oodometer.data.imagenet import imagenet
from oodometer.data.layouts.class_folders import open_class_folders
from oodometer.data.layouts.known_set import KnownSet


def open_real_blurry(address: str, *, name: str) -> Dataset:
    """The images of class folders; not all of ImageNet's classes occur."""
    return open_class_folders(address, name=name)


REAL_BLURRY = KnownSet(
    name="real-blurry",
    title="Real Blurry Images",
    page="https://github.com/hendrycks/imagenet-r",
    layout="class folders named by WordNet id",
    places=("real-blurry", "real-blurry-images", "blurry"),
    open=open_real_blurry,
    n_images=1_000,
    classes=lambda: frozenset(imagenet().classes),
)
