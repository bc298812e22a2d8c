"""The shifts that have a name: what each needs on disk, and how the pair is made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from oodometer.core.condition import Shift, ShiftKind
from oodometer.core.registry import Registry
from oodometer.shifts.sources import Sources


@dataclass(frozen=True)
class KnownShift:
    """A shift by name.

    Args:
        name: By which it is asked for; where the 204-model testbed has it, its name there.
        needs: The published sets that it is made of.
        make: The pair of conditions, or several pairs, named ``NAME/...``.
    """

    name: str
    kind: ShiftKind
    needs: tuple[str, ...]
    make: Callable[[Sources], Sequence[Shift]]


known_shifts: Registry[KnownShift] = Registry(
    "shift",
    {
        "imagenet-a": "oodometer.shifts.natural:IMAGENET_A",
        "imagenet-o": "oodometer.shifts.natural:IMAGENET_O",
        "imagenet-r": "oodometer.shifts.natural:IMAGENET_R",
        "imagenet-sketch": "oodometer.shifts.natural:IMAGENET_SKETCH",
        "imagenet-real": "oodometer.shifts.natural:IMAGENET_REAL",
        "imagenetv2-matched-frequency": "oodometer.shifts.natural:MATCHED_FREQUENCY",
        "imagenetv2-matched-frequency-format-val": "oodometer.shifts.natural:MATCHED_FREQUENCY_FORMAT_VAL",
        "imagenetv2-threshold0.7": "oodometer.shifts.natural:THRESHOLD",
        "imagenetv2-threshold-0.7-format-val": "oodometer.shifts.natural:THRESHOLD_FORMAT_VAL",
        "imagenetv2-topimages": "oodometer.shifts.natural:TOP_IMAGES",
        "imagenetv2-top-images-format-val": "oodometer.shifts.natural:TOP_IMAGES_FORMAT_VAL",
        "objectnet-1.0-beta": "oodometer.shifts.natural:OBJECTNET_1_0_BETA",
        "real-blurry": "oodometer.shifts.natural:REAL_BLURRY",
        "imagenet-vid-robust_pm0": "oodometer.shifts.videos:IMAGENET_VID_ROBUST_PM0",
        "imagenet-vid-robust_pm10": "oodometer.shifts.videos:IMAGENET_VID_ROBUST_PM10",
        "ytbb-robust_pm0": "oodometer.shifts.videos:YTBB_ROBUST_PM0",
        "ytbb-robust_pm10": "oodometer.shifts.videos:YTBB_ROBUST_PM10",
        "imagenet-c:disk": "oodometer.shifts.imagenet_c_disk:IMAGENET_C_DISK",
        "stylized_imagenet": "oodometer.shifts.stylized:STYLIZED_IMAGENET",
        "adain": "oodometer.shifts.style_transfer:ADAIN",
        "cifar-10.1-v4": "oodometer.shifts.cifar:CIFAR_10_1_V4",
        "cifar-10.1-v6": "oodometer.shifts.cifar:CIFAR_10_1_V6",
        "cifar-10-c": "oodometer.shifts.cifar:CIFAR_10_C",
        "cifar-10-c:disk": "oodometer.shifts.cifar:CIFAR_10_C_DISK",
        "cifar-100-subtypes": "oodometer.shifts.cifar:CIFAR_100_SUBTYPES",
        "tiny-imagenet-c:disk": "oodometer.shifts.tiny_imagenet:TINY_IMAGENET_C_DISK",
        "icons-style": "oodometer.shifts.icons:ICONS_STYLE",
        "icons-styles": "oodometer.shifts.icons:ICONS_STYLES",
        "icons-subtypes": "oodometer.shifts.icons:ICONS_SUBTYPES",
        "icons-versions": "oodometer.shifts.icons:ICONS_VERSIONS",
        "imagenet-22k-subtypes": "oodometer.shifts.imagenet_22k:IMAGENET_22K_SUBTYPES",
        "dfr": "oodometer.shifts.attribute_presets:DFR",
        "svsf": "oodometer.shifts.attribute_presets:SVSF",
    },
    group="oodometer.shifts",
)
"""Every shift that is made of published sets, by name."""
