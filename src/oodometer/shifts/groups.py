"""Names that stand for several: ``--on natural`` runs every natural shift whose data are there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from oodometer.core.registry import Registry
from oodometer.shifts.sources import Sources
from oodometer.shifts.testbed import NATURAL


class Group(Protocol):
    """What a name stands for."""

    def __call__(self, sources: Sources) -> Sequence[str]:
        """The names of its members, whether their data are there or not."""
        ...


groups: Registry[Group] = Registry(
    "group of shifts",
    {
        "natural": "oodometer.shifts.groups:natural",
        "many-faces": "oodometer.shifts.groups:many_faces",
        "cifar": "oodometer.shifts.groups:cifar",
        "icons": "oodometer.shifts.groups:icons",
        "testbed": "oodometer.shifts.testbed:testbed",
    },
    group="oodometer.shift_groups",
)


def natural(sources: Sources) -> list[str]:  # noqa: ARG001 - the same wherever the data are
    """The 14 natural shifts of the 204-model testbed, ImageNet-O, and the re-assessed labels of ImageNet."""
    return [*NATURAL, "imagenet-o", "imagenet-real"]


def many_faces(sources: Sources) -> list[str]:
    """What the many-faces paper measures: ImageNet-R, -C, real blurry images, DeepFashion Remixed, StreetView."""
    on_disk = sources.has("imagenet-c")
    return ["imagenet-r", "imagenet-a", "real-blurry", "dfr", "svsf", "imagenet-c:disk" if on_disk else "imagenet-c"]


def cifar(sources: Sources) -> list[str]:
    """CIFAR-10.1 in both versions, and CIFAR-10-C: from disk where it is there, otherwise made."""
    return ["cifar-10.1-v4", "cifar-10.1-v6", "cifar-10-c:disk" if sources.has("cifar-10-c") else "cifar-10-c"]


def icons(sources: Sources) -> list[str]:  # noqa: ARG001 - the same wherever the data are
    """Style and subtype robustness on icons, and the control."""
    return ["icons-style", "icons-subtypes", "icons-versions"]
