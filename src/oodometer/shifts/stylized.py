"""Stylized ImageNet, on disk: the 224 px centre crops of the validation images, painted over."""

from __future__ import annotations

from oodometer.core.condition import Condition, Shift
from oodometer.shifts.class_matched import in_classes_of
from oodometer.shifts.imagenet_c import CROPPED, as_it_is
from oodometer.shifts.known_shift import KnownShift
from oodometer.shifts.sources import IMAGENET, Sources

NAME = "stylized_imagenet"


def stylized_imagenet(sources: Sources) -> list[Shift]:
    """The painted images; they are canonical pixels and never resized-and-cropped again."""
    standard = sources.clean()
    shifted = in_classes_of(sources.open("stylized-imagenet"), standard.dataset)
    return [Shift(NAME, "style", standard, Condition(NAME, shifted, transform=as_it_is(CROPPED)))]


STYLIZED_IMAGENET = KnownShift(NAME, "style", (IMAGENET, "stylized-imagenet"), stylized_imagenet)
