"""A published data set: where it lies below a root, how it is read, and what it should hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from oodometer.core.dataset import Dataset
from oodometer.core.registry import Registry


class OpenSet(Protocol):
    """Opens a data set at an address, without reading an image."""

    def __call__(self, address: str, *, name: str) -> Dataset:
        """The data set; a `DataError` says in one line what was expected and what was found."""
        ...


@dataclass(frozen=True)
class KnownSet:
    """A published data set.

    Args:
        name: What it is called here.
        title: What people call it.
        page: The project's page, where to get it.
        layout: What is expected on disk, in a few words.
        places: Paths below a root where it is looked for, the first that exists counts.
        open: Reads the layout.
        n_images, n_classes: As published (classes that have images); None where releases differ.
        per_class: Images of each class, where the published set has equally many of all.
        unit: A column of whose values ``n_images`` is the number, where not images are counted (``anchor``).
        size: (width, height) that every image has; None where they differ.
        classes: The class names that folders may have; None where any may occur.
    """

    name: str
    title: str
    page: str
    layout: str
    places: tuple[str, ...]
    open: OpenSet
    n_images: int | None = None
    n_classes: int | None = None
    per_class: int | None = None
    unit: str | None = None
    size: tuple[int, int] | None = None
    classes: Callable[[], frozenset[str]] | None = None


known_sets: Registry[KnownSet] = Registry(
    "data set",
    {
        "imagenet": "oodometer.data.layouts.imagenet:IMAGENET",
        "imagenet-real": "oodometer.data.layouts.imagenet_real:IMAGENET_REAL",
        "imagenetv2-matched-frequency": "oodometer.data.layouts.imagenet_v2:MATCHED_FREQUENCY",
        "imagenetv2-matched-frequency-format-val": "oodometer.data.layouts.imagenet_v2:MATCHED_FREQUENCY_FORMAT_VAL",
        "imagenetv2-threshold0.7": "oodometer.data.layouts.imagenet_v2:THRESHOLD",
        "imagenetv2-threshold-0.7-format-val": "oodometer.data.layouts.imagenet_v2:THRESHOLD_FORMAT_VAL",
        "imagenetv2-topimages": "oodometer.data.layouts.imagenet_v2:TOP_IMAGES",
        "imagenetv2-top-images-format-val": "oodometer.data.layouts.imagenet_v2:TOP_IMAGES_FORMAT_VAL",
        "imagenet-a": "oodometer.data.layouts.imagenet_a_o:IMAGENET_A",
        "imagenet-o": "oodometer.data.layouts.imagenet_a_o:IMAGENET_O",
        "imagenet-r": "oodometer.data.layouts.imagenet_r:IMAGENET_R",
        "imagenet-sketch": "oodometer.data.layouts.imagenet_sketch:IMAGENET_SKETCH",
        "stylized-imagenet": "oodometer.data.layouts.stylized_imagenet:STYLIZED_IMAGENET",
        "real-blurry": "oodometer.data.layouts.real_blurry:REAL_BLURRY",
        "imagenet-c": "oodometer.data.layouts.imagenet_c:IMAGENET_C",
        "objectnet": "oodometer.data.layouts.objectnet:OBJECTNET",
        "imagenet-vid-robust": "oodometer.data.layouts.videos:IMAGENET_VID_ROBUST",
        "ytbb-robust": "oodometer.data.layouts.videos:YTBB_ROBUST",
        "cifar-10": "oodometer.data.layouts.cifar:CIFAR_10",
        "cifar-10.1-v4": "oodometer.data.layouts.cifar:CIFAR_10_1_V4",
        "cifar-10.1-v6": "oodometer.data.layouts.cifar:CIFAR_10_1_V6",
        "cifar-10-c": "oodometer.data.layouts.cifar:CIFAR_10_C",
        "cifar-100": "oodometer.data.layouts.cifar:CIFAR_100",
        "tiny-imagenet": "oodometer.data.layouts.tiny_imagenet:TINY_IMAGENET",
        "tiny-imagenet-c": "oodometer.data.layouts.tiny_imagenet:TINY_IMAGENET_C",
        "imagenet-22k": "oodometer.data.layouts.imagenet_22k:IMAGENET_22K",
        "icons-50": "oodometer.data.layouts.icons50:ICONS_50",
        "deepfashion-remixed": "oodometer.data.layouts.attribute_sets:DEEPFASHION_REMIXED",
        "streetview-storefronts": "oodometer.data.layouts.attribute_sets:STREETVIEW_STOREFRONTS",
    },
    group="oodometer.sets",
)
"""Every set that can be found below a root, by name."""
