"""What sort of shift a name stands for, and what it is compared with, where nobody says: the catalogue does."""

from __future__ import annotations

from oodometer.catalogue.names import find_shift
from oodometer.catalogue.shifts import CLEAN, NATURAL_KINDS, best_known, clean_names

CLEAN_NAMES = clean_names()
"""What a clean set is called, here and in the testbed's table."""

NATURAL = NATURAL_KINDS
KINDS = (*NATURAL, "corruption", "adversarial", "other")
"""Natural ones first."""

KNOWN_BEST = best_known()
"""Of the testbed's shifts those that stand for the others, where there is no room for all."""


def kind_of(name: str) -> str:
    """What sort of shift a name means.

    >>> kind_of("imagenet-c_on-disk"), kind_of("objectnet-1.0-beta"), kind_of("mine")
    ('corruption', 'dataset', 'other')
    """
    entry = find_shift(name)
    return "other" if entry is None or entry.kind == "clean" else entry.kind


def clean_of(name: str) -> str | None:
    """The clean set over the same classes, by its name; None where it is that of all classes, or nobody knows.

    A table that calls a shift otherwise than the testbed does is not the testbed's, and has no clean sets of its names.

    >>> clean_of("imagenet-a"), clean_of("imagenet-sketch"), clean_of("mine")
    ('val-on-imagenet-a-classes', None, None)
    """
    entry = find_shift(name)
    known = entry is not None and entry.name == name and entry.clean not in (CLEAN, name)
    return entry.clean if entry is not None and known else None


def is_clean(name: str) -> bool:
    """Whether a name is that of a clean set, and of no shift, as anchor frames are.

    >>> is_clean("val"), is_clean("val-on-imagenet-a-classes"), is_clean("imagenet-vid-robust_pm0")
    (True, True, False)
    """
    entry = find_shift(name)
    return entry is not None and entry.kind == "clean"


def is_by_top1(name: str) -> bool:
    """Whether images of that name are judged by top-1, as all are of which nobody says otherwise.

    >>> is_by_top1("imagenet-a"), is_by_top1("mine")
    (True, True)
    """
    entry = find_shift(name)
    return entry is None or entry.measure == "top-1"


def is_natural(name: str, kind: str, *, same_images: bool) -> bool:
    """Whether the shifted images are photographs of their own; a style painted over the clean ones is not.

    >>> is_natural("imagenet-r", "dataset", same_images=False), is_natural("adain/3", "style", same_images=True)
    (True, False)
    """
    entry = find_shift(name)
    painted = kind == "style" and (same_images or (entry is not None and not entry.natural))
    return kind in NATURAL and not painted
