"""The natural shifts around ImageNet: each set with the clean images of the same classes, answered over these alone."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

import numpy as np

from oodometer.core.condition import Condition, Shift, ShiftKind
from oodometer.core.errors import DataError, UsageError
from oodometer.core.labels import LabelMap, mask
from oodometer.data.imagenet import imagenet
from oodometer.data.layouts.class_lists import class_list
from oodometer.data.layouts.imagenet_real import real_labels, relabelled
from oodometer.data.layouts.known_set import known_sets
from oodometer.data.layouts.objectnet import objectnet_classes
from oodometer.data.root import DataRoot, missing_line
from oodometer.shifts.class_matched import in_classes_of
from oodometer.shifts.known_shift import KnownShift
from oodometer.shifts.sources import IMAGENET, VAL, Sources

N_VALIDATION = 50_000


@cache
def classes_of(name: str) -> LabelMap:
    """The 200 classes of ImageNet-A, -O or -R: the others' logits are left out before argmax and softmax.

    >>> len(classes_of("imagenet-a").members)
    200
    """
    return mask(f"{name}-classes", imagenet(), class_list(name.replace("-", "_")))


def blurry_classes(root: DataRoot) -> LabelMap:
    """The classes that occur in the real blurry images, however few of these a run looks at."""
    whole = root.open("real-blurry")
    return mask("real-blurry-classes", imagenet(), [whole.space.classes[label] for label in np.unique(whole.labels)])


def _over_all_classes(name: str, sources: Sources) -> list[Shift]:
    standard = sources.clean()
    shifted = in_classes_of(sources.open(name), standard.dataset)
    return [Shift(name, "dataset", standard, Condition(name, shifted))]


def _over_some_classes(name: str, kind: ShiftKind, sources: Sources) -> list[Shift]:
    shifted, label_map = sources.open(name), classes_of(name)
    standard = sources.clean_on(label_map, name=f"{VAL}-on-{name}-classes")
    return [Shift(name, kind, standard, Condition(name, shifted, label_map))]


def _over_classes_on_disk(
    name: str, set_name: str, classes: Callable[[DataRoot], LabelMap], called: str, sources: Sources
) -> list[Shift]:
    shifted = sources.open(set_name)
    assert sources.root is not None  # or there would be no such set
    standard = sources.clean_on(classes(sources.root), name=f"{VAL}-on-{called}-classes")
    # The map of the clean side is made once for all, and both sides must share it.
    return [Shift(name, "dataset", standard, Condition(name, shifted, standard.label_map))]


def _objectnet_classes(root: DataRoot) -> LabelMap:
    place = root.place_of("objectnet")
    assert place is not None
    return objectnet_classes(place)


def _re_assessed(sources: Sources) -> list[Shift]:
    name, root = "imagenet-real", sources.root
    if root is None:
        raise UsageError(f"{name}: say where your data sets are, with --data-root FOLDER or OODOMETER_DATA")
    place = root.place_of(name)
    if place is None:
        raise DataError(missing_line(known_sets.get(name), root.address))
    labels = real_labels(place)
    if len(labels) != N_VALIDATION and not root.partial:
        raise DataError(f"{place}: labels of {len(labels):,} images instead of {N_VALIDATION:,}; is it whole?")
    # The labels have no images of their own: they are those of the clean side, the user's or the root's.
    standard = sources.clean()
    return [Shift(name, "dataset", standard, Condition(name, relabelled(standard.dataset, labels, name=name)))]


def _all(name: str) -> KnownShift:
    return KnownShift(name, "dataset", (IMAGENET, name), partial(_over_all_classes, name))


def _some(name: str, kind: ShiftKind) -> KnownShift:
    return KnownShift(name, kind, (IMAGENET, name), partial(_over_some_classes, name, kind))


MATCHED_FREQUENCY = _all("imagenetv2-matched-frequency")
MATCHED_FREQUENCY_FORMAT_VAL = _all("imagenetv2-matched-frequency-format-val")
THRESHOLD = _all("imagenetv2-threshold0.7")
THRESHOLD_FORMAT_VAL = _all("imagenetv2-threshold-0.7-format-val")
TOP_IMAGES = _all("imagenetv2-topimages")
TOP_IMAGES_FORMAT_VAL = _all("imagenetv2-top-images-format-val")
IMAGENET_SKETCH = _all("imagenet-sketch")
IMAGENET_A = _some("imagenet-a", "adversarially filtered")
IMAGENET_O = _some("imagenet-o", "adversarially filtered")
IMAGENET_R = _some("imagenet-r", "dataset")
IMAGENET_REAL = KnownShift("imagenet-real", "dataset", (IMAGENET, "imagenet-real"), _re_assessed)
REAL_BLURRY = KnownShift(
    "real-blurry",
    "dataset",
    (IMAGENET, "real-blurry"),
    partial(_over_classes_on_disk, "real-blurry", "real-blurry", blurry_classes, "real-blurry"),
)
OBJECTNET_1_0_BETA = KnownShift(
    "objectnet-1.0-beta",
    "dataset",
    (IMAGENET, "objectnet"),
    partial(_over_classes_on_disk, "objectnet-1.0-beta", "objectnet", _objectnet_classes, "objectnet"),
)
