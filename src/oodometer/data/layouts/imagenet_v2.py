"""ImageNetV2: three new test sets for ImageNet, each in two encodings (Recht et al. 2019)."""

from __future__ import annotations

from oodometer.core.dataset import Dataset
from oodometer.data.layouts.class_folders import open_class_folders
from oodometer.data.layouts.known_set import KnownSet


def open_imagenet_v2(address: str, *, name: str) -> Dataset:
    """The images of folders 0 to 999; the folder's number is the class, whatever order the folders are listed in."""
    return open_class_folders(address, name=name, numbers=True)


def _version(title: str, *places: str) -> KnownSet:
    return KnownSet(
        name=places[0],
        title=f"ImageNetV2 {title}",
        page="https://github.com/modestyachts/ImageNetV2",
        layout="folders 0 to 999",
        places=places,
        open=open_imagenet_v2,
        n_images=10_000,
        n_classes=1000,
        per_class=10,
    )


MATCHED_FREQUENCY = _version("MatchedFrequency", "imagenetv2-matched-frequency")
MATCHED_FREQUENCY_FORMAT_VAL = _version(
    "MatchedFrequency, encoded as the validation set", "imagenetv2-matched-frequency-format-val"
)
THRESHOLD = _version("Threshold0.7", "imagenetv2-threshold0.7", "imagenetv2-threshold-0.7")
# The archive unpacks to threshold0.7, the 204-model testbed writes threshold-0.7.
THRESHOLD_FORMAT_VAL = _version(
    "Threshold0.7, encoded as the validation set",
    "imagenetv2-threshold-0.7-format-val",
    "imagenetv2-threshold0.7-format-val",
)
TOP_IMAGES = _version("TopImages", "imagenetv2-topimages", "imagenetv2-top-images")
TOP_IMAGES_FORMAT_VAL = _version(
    "TopImages, encoded as the validation set", "imagenetv2-top-images-format-val", "imagenetv2-topimages-format-val"
)
