"""The 213 settings of the 204-model testbed (Taori et al. 2020), under its names.

Made of what Oodometer has anyway: ``imagenet-c.fog.3_in-memory`` is ``imagenet-c:raw/fog/3``, and so on. So a column of
accuracies made here stands beside the column of the same name in the public table.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files

import numpy as np

from oodometer.core.condition import Condition, Shift
from oodometer.core.errors import DataError
from oodometer.core.labels import LabelMap, mask
from oodometer.corruptions.registry import COMMON, EXTRA
from oodometer.data.imagenet import imagenet
from oodometer.data.kinds.imagenet_c import parts_below
from oodometer.shifts.adversarial import attack_shift
from oodometer.shifts.imagenet_c import CANONICAL, SEVERITIES, corrupted, grey
from oodometer.shifts.imagenet_c_disk import from_disk
from oodometer.shifts.known_shift import known_shifts
from oodometer.shifts.sources import VAL, Sources, UnmatchedError

ATTACKS = {
    "pgd.l2.eps0.1": "pgd-l2-0.1",
    "pgd.l2.eps0.5": "pgd-l2-0.5",
    "pgd.linf.eps0.5": "pgd-linf-0.5",
    "pgd.linf.eps2": "pgd-linf-2",
}
CLASS_MATCHED = {
    "val-on-imagenet-a-classes": "imagenet-a",
    "val-on-imagenet-r-classes": "imagenet-r",
    "val-on-objectnet-classes": "objectnet-1.0-beta",
    "val-on-vid-robust-classes": "imagenet-vid-robust_pm0",
    "val-on-ytbb-robust-classes": "ytbb-robust_pm0",
}
"""Clean sets over the classes of a shift, which is where their label maps come from."""
NATURAL = (
    "imagenet-a",
    "imagenet-r",
    "imagenet-sketch",
    "imagenet-vid-robust_pm0",
    "imagenet-vid-robust_pm10",
    "imagenetv2-matched-frequency",
    "imagenetv2-matched-frequency-format-val",
    "imagenetv2-threshold-0.7-format-val",
    "imagenetv2-threshold0.7",
    "imagenetv2-top-images-format-val",
    "imagenetv2-topimages",
    "objectnet-1.0-beta",
    "ytbb-robust_pm0",
    "ytbb-robust_pm10",
)
EIGHTH = "val_subsampled_class_1_8"
V2 = "imagenetv2-matched-frequency-format-val"
V2_EIGHTH = f"{V2}_subsampled_class_1_8"
ON_DISK = re.compile(r"imagenet-c\.(\w+)\.([1-5])_on-disk")
IN_MEMORY = re.compile(r"imagenet-c\.(\w+)\.([1-5])_in-memory")


def settings() -> tuple[str, ...]:
    """The names of all 213.

    >>> len(settings()), settings()[:2]
    (213, ('greyscale', 'imagenet-a'))
    """
    every = [*COMMON, *EXTRA]
    on_disk = [f"imagenet-c.{name}.{severity}_on-disk" for name in every for severity in SEVERITIES]
    # The testbed has no glass blur in memory: its own was too slow.
    quick = [name for name in every if name != "glass_blur"]
    in_memory = [f"imagenet-c.{name}.{severity}_in-memory" for name in quick for severity in SEVERITIES]
    others = ["greyscale", "stylized_imagenet", *ATTACKS, *NATURAL, V2_EIGHTH, VAL, EIGHTH, *CLASS_MATCHED]
    return tuple(sorted([*on_disk, *in_memory, *others]))


def testbed(sources: Sources) -> Sequence[str]:  # noqa: ARG001 - the same wherever the data are
    """All settings, as a group."""
    return settings()


def is_setting(name: str) -> bool:
    """Whether only the testbed has this name; a shift that has it too is asked for as that."""
    return name in settings() and name not in known_shifts.names()


def needs_of(name: str) -> tuple[str, ...]:
    """The published sets that a setting is made of."""
    if ON_DISK.fullmatch(name):
        return ("imagenet", "imagenet-c")
    if name == V2_EIGHTH:
        return ("imagenet", V2)
    return known_shifts.get(CLASS_MATCHED[name]).needs if name in CLASS_MATCHED else ("imagenet",)


def is_left_packed(name: str, sources: Sources) -> bool:
    """Whether ImageNet-C lies on disk without this part of it: it comes in several archives."""
    match = ON_DISK.fullmatch(name)
    place = sources.root.place_of("imagenet-c") if match and sources.root else None
    if match is None or place is None:
        return False
    return match.groups() not in sources.once("parts of imagenet-c", lambda: parts_below(place))


def setting(name: str, sources: Sources) -> Condition | Shift:
    """What a name of the testbed stands for."""
    if name == VAL:
        return Condition(VAL, sources.given())
    if name in CLASS_MATCHED:
        return known_shifts.get(CLASS_MATCHED[name]).make(sources)[0].standard
    if name in ATTACKS:
        pair = attack_shift(ATTACKS[name], sources)
        return replace(pair, name=name, shifted=replace(pair.shifted, name=name))
    if name == "greyscale":
        return Shift(name, "corruption", sources.clean(), grey(sources.given())[1])
    if name in (EIGHTH, V2_EIGHTH):
        return _eighth(name, sources)
    return Shift(name, "corruption", sources.clean(), _corrupted(name, sources))


def _corrupted(name: str, sources: Sources) -> Condition:
    match = IN_MEMORY.fullmatch(name)
    if match:
        family, one, severity = "imagenet-c:raw", match[1], int(match[2])
        made = corrupted(sources.given(), family, one, severity, quality=None, view=CANONICAL, seed=sources.seed)
        return replace(made, name=name)
    match = ON_DISK.fullmatch(name)
    assert match is not None
    there = sources.once("all of imagenet-c:disk", lambda: {one.name: one.shifted for one in from_disk(sources)})
    part = f"{match[1]}/{match[2]}"
    if f"imagenet-c:disk/{part}" not in there:
        raise DataError(f"{name}: ImageNet-C on disk has no {part}; it comes in several archives, side by side")
    return replace(there[f"imagenet-c:disk/{part}"], name=name)


def _eighth(name: str, sources: Sources) -> Condition | Shift:
    """An eighth of the classes, on the clean images or on ImageNetV2."""
    classes = _classes_of_the_eighth()
    clean = sources.clean_on(classes, name=EIGHTH)
    if name == EIGHTH:
        return clean
    # Of all images, not of the few that a run may look at: so many are wanted of these classes too.
    whole = sources.whole(V2)
    kept = np.flatnonzero(np.isin(whole.labels, [index for (index,) in classes.members]))
    if not len(kept):
        raise UnmatchedError(f"{V2}: no image of the classes of {classes.name}")
    return Shift(name, "dataset", clean, Condition(name, sources.fewer(whole.take(kept, name=name)), classes))


def _classes_of_the_eighth() -> LabelMap:
    text = (files("oodometer.shifts") / "testbed_classes_1_8.txt").read_text(encoding="utf-8")
    return mask("testbed-1-8", imagenet(), [imagenet().classes[int(index)] for index in text.split()])
