"""The shifts of CIFAR: new test sets, corruptions, and subtypes that were held out from training."""

from __future__ import annotations

from oodometer.catalogue.names import ShiftEntry
from oodometer.core.condition import Condition, Shift
from oodometer.data.imagenet import imagenet
from oodometer.data.layouts.cifar_100 import MOST_HELD_OUT, split_subtypes
from oodometer.shifts.imagenet_c import SMALL, family
from oodometer.shifts.make import pair_of
from oodometer.shifts.sources import Sources

CLEAN = "cifar-10"


def new_test_set(sources: Sources, entry: ShiftEntry) -> list[Shift]:
    """A new test set, against the old one."""
    return [pair_of(entry, sources.clean_of(CLEAN), Condition(entry.name, sources.open(entry.sets[-1])))]


def cifar_10_c(sources: Sources, entry: ShiftEntry) -> list[Shift]:
    """The 15 corruptions at five severities, made at 32 px on the fly, never through JPEG."""
    standard = _clean_images(sources)
    return family(standard, entry, entry.declared.corruptions, quality=None, view=SMALL, seed=sources.seed)


def _clean_images(sources: Sources) -> Condition:
    """What ``--data`` names; the root's CIFAR-10 where nothing is named, or where that is the ImageNet of the run."""
    given = sources.dataset
    in_root = sources.root is not None and sources.root.has(CLEAN)
    if given is not None and not (in_root and len(given.space) == len(imagenet())):
        return sources.clean()
    return sources.clean_of(CLEAN)


SUBTYPES = "cifar-100-subtypes"


def subtypes_of(name: str) -> str | None:
    """What ``oodometer train`` must hold out for the shift of this name; None where it is not about subtypes.

    >>> subtypes_of("cifar-100-subtypes/2"), subtypes_of("cifar-10.1-v4")
    ('subtypes/2', None)
    """
    family, _, n = name.partition("/")
    return f"subtypes/{n}" if family == SUBTYPES and n else None


def cifar_100_subtypes(sources: Sources, entry: ShiftEntry) -> list[Shift]:
    """Test images of the subtypes that a model was trained on, against those of 1 to 4 held-out ones of each class.

    Each is about a model of its own, one that answers the 20 broad classes and was trained without the held-out ones
    (``oodometer train --hold-out subtypes/2``, `oodometer.data.layouts.cifar_100.split_subtypes`).
    """
    whole = sources.whole("cifar-100")
    shifts = []
    for n in range(1, MOST_HELD_OUT + 1):
        kept, held_out = (sources.fewer(part) for part in split_subtypes(whole, n))
        standard = Condition(entry.declared.clean.format(part=n), kept)
        shifts.append(pair_of(entry, standard, Condition(entry.declared.member.format(part=n), held_out)))
    return shifts
