"""The 213 settings of the 204-model testbed (Taori et al. 2020), under its names.

Made of what Oodometer has anyway: ``imagenet-c.fog.3_in-memory`` is ``imagenet-c:raw/fog/3``, and so on. So a column of
accuracies made here stands beside the column of the same name in the public table.
"""

from __future__ import annotations

from dataclasses import replace
from importlib.resources import files

import numpy as np

from oodometer.catalogue.marks import unmarked
from oodometer.catalogue.names import ShiftEntry
from oodometer.core.condition import Condition, Shift
from oodometer.core.labels import LabelMap, mask
from oodometer.data.imagenet import imagenet
from oodometer.data.kinds.imagenet_c import parts_below
from oodometer.shifts.adversarial import attack_shift
from oodometer.shifts.imagenet_c import family
from oodometer.shifts.imagenet_c_disk import corrupted_and_clean
from oodometer.shifts.make import pair_of
from oodometer.shifts.sources import Sources, UnmatchedError

ON_DISK = "imagenet-c_on-disk"


def val(sources: Sources, entry: ShiftEntry) -> list[Condition]:
    """The clean images, under their name there."""
    return [Condition(entry.name, sources.given())]


def attacked(sources: Sources, entry: ShiftEntry) -> list[Shift]:
    """The clean images under the attack that the setting is."""
    pair = attack_shift(entry.declared.attack, sources)
    return [pair_of(entry, pair.standard, replace(pair.shifted, name=entry.name))]


def corruptions_in_memory(sources: Sources, entry: ShiftEntry) -> list[Shift]:
    """The corruptions that are made while they are asked about, pixels straight to the model."""
    return family(sources.clean(), entry, entry.declared.corruptions, quality=None, seed=sources.seed)


def corruptions_on_disk(sources: Sources, entry: ShiftEntry) -> list[Shift]:
    """The files of ImageNet-C; those of its archives that are unpacked."""
    return [pair_of(entry, *sides) for sides in corrupted_and_clean(sources, entry)]


def is_left_packed(entry: ShiftEntry, sources: Sources) -> bool:
    """Whether ImageNet-C lies on disk without this part of it: it comes in several archives."""
    if unmarked(entry.of) != ON_DISK or entry.family is None or sources.root is None:
        return False
    place = sources.root.place_of("imagenet-c")
    if place is None:
        return False
    there = sources.once("parts of imagenet-c", lambda: parts_below(place))
    return (entry.family.corruption, str(entry.family.severity)) not in there


def eighth_of_val(sources: Sources, entry: ShiftEntry) -> list[Condition]:
    """The clean images of an eighth of the classes."""
    return [sources.clean_on(_classes_of_the_eighth(), name=entry.name)]


def eighth_of_imagenet_v2(sources: Sources, entry: ShiftEntry) -> list[Shift]:
    """ImageNetV2 over an eighth of the classes."""
    classes, v2 = _classes_of_the_eighth(), entry.sets[-1]
    # Of all images, not of the few that a run may look at: so many are wanted of these classes too.
    whole = sources.whole(v2)
    kept = np.flatnonzero(np.isin(whole.labels, [index for (index,) in classes.members]))
    if not len(kept):
        raise UnmatchedError(f"{v2}: no image of the classes of {classes.name}")
    clean = sources.clean_on(classes, name=entry.clean)
    shifted = Condition(entry.name, sources.fewer(whole.take(kept, name=entry.name)), clean.label_map)
    return [pair_of(entry, clean, shifted)]


def _classes_of_the_eighth() -> LabelMap:
    text = (files("oodometer.shifts") / "testbed_classes_1_8.txt").read_text(encoding="utf-8")
    return mask("testbed-1-8", imagenet(), [imagenet().classes[int(index)] for index in text.split()])
