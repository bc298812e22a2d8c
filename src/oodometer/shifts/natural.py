"""The natural shifts around ImageNet: each set with the clean images of the same classes, answered over these alone."""

from __future__ import annotations

from functools import cache

from oodometer.catalogue.names import ShiftEntry
from oodometer.catalogue.sets import set_entries
from oodometer.core.condition import Condition, Shift
from oodometer.core.errors import DataError, UsageError
from oodometer.core.labels import LabelMap, mask
from oodometer.data.imagenet import imagenet
from oodometer.data.layouts.class_lists import class_list
from oodometer.data.layouts.imagenet_real import real_labels, relabelled
from oodometer.data.layouts.known_set import known_sets
from oodometer.data.layouts.objectnet import objectnet_classes
from oodometer.data.root import missing_line
from oodometer.shifts.class_matched import in_classes_of
from oodometer.shifts.make import pair_of
from oodometer.shifts.sources import Sources


@cache
def classes_of(name: str) -> LabelMap:
    """The 200 classes of ImageNet-A, -O or -R: the others' logits are left out before argmax and softmax.

    >>> len(classes_of("imagenet-a").members)
    200
    """
    return mask(f"{name}-classes", imagenet(), class_list(name.replace("-", "_")))


def over_all_classes(sources: Sources, entry: ShiftEntry) -> list[Shift]:
    """A set over the 1,000 classes, against the clean images."""
    standard = sources.clean()
    shifted = in_classes_of(sources.open(entry.sets[-1]), standard.dataset)
    return [pair_of(entry, standard, Condition(entry.name, shifted))]


def over_some_classes(sources: Sources, entry: ShiftEntry) -> list[Shift]:
    """A set over 200 of the classes, against the clean images of these."""
    shifted, label_map = sources.open(entry.name), classes_of(entry.name)
    standard = sources.clean_on(label_map, name=entry.clean)
    return [pair_of(entry, standard, Condition(entry.name, shifted, label_map))]


def objectnet(sources: Sources, entry: ShiftEntry) -> list[Shift]:
    """Objects in odd places, against the clean images of the classes that both have."""
    shifted = sources.open(entry.sets[-1])
    place = sources.root.place_of("objectnet") if sources.root else None
    assert place is not None  # or there would be no such set
    standard = sources.clean_on(objectnet_classes(place), name=entry.clean)
    # The map of the clean side is made once for all, and both sides must share it.
    return [pair_of(entry, standard, Condition(entry.name, shifted, standard.label_map))]


def re_assessed(sources: Sources, entry: ShiftEntry) -> list[Shift]:
    """The clean images with their re-assessed labels, against those with their own."""
    name, root = entry.name, sources.root
    if root is None:
        raise UsageError(f"{name}: say where your data sets are, with --data-root FOLDER or OODOMETER_DATA")
    place = root.place_of(name)
    if place is None:
        raise DataError(missing_line(known_sets.get(name), root.address))
    labels = real_labels(place)
    n_images = set_entries()["imagenet"].n_images
    if len(labels) != n_images and not root.partial:
        raise DataError(f"{place}: labels of {len(labels):,} images instead of {n_images:,}; is it whole?")
    # The labels have no images of their own: they are those of the clean side, the user's or the root's.
    standard = sources.clean()
    return [pair_of(entry, standard, Condition(name, relabelled(standard.dataset, labels, name=name)))]
