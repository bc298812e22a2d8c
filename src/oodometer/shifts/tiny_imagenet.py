"""Tiny-ImageNet-C on disk."""

from __future__ import annotations

from oodometer.core.condition import Shift
from oodometer.core.preprocessing import Geometry
from oodometer.shifts.corrupted_sets import corrupted_on_disk
from oodometer.shifts.known_shift import KnownShift
from oodometer.shifts.sources import Sources

NEEDS = ("tiny-imagenet", "tiny-imagenet-c")


def tiny_imagenet_c_on_disk(sources: Sources) -> list[Shift]:
    """Every corruption at every severity of the published files of 64 px."""
    clean, corrupted = NEEDS
    return corrupted_on_disk(sources, clean=clean, corrupted=corrupted, view=Geometry(64, 64))


TINY_IMAGENET_C_DISK = KnownShift("tiny-imagenet-c:disk", "corruption", NEEDS, tiny_imagenet_c_on_disk)
