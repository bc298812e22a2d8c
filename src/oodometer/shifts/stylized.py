"""Stylized ImageNet, on disk: the 224 px centre crops of the validation images, painted over."""

from __future__ import annotations

from oodometer.catalogue.names import ShiftEntry
from oodometer.core.condition import Condition, Shift
from oodometer.shifts.class_matched import in_classes_of
from oodometer.shifts.imagenet_c import CROPPED, as_it_is
from oodometer.shifts.make import pair_of
from oodometer.shifts.sources import Sources


def stylized_imagenet(sources: Sources, entry: ShiftEntry) -> list[Shift]:
    """The painted images; they are canonical pixels and never resized-and-cropped again."""
    standard = sources.clean()
    shifted = in_classes_of(sources.open(entry.sets[-1]), standard.dataset)
    return [pair_of(entry, standard, Condition(entry.name, shifted, transform=as_it_is(CROPPED)))]
