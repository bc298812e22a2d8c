"""ImageNet-C on disk, below a root: one shift per corruption and severity."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from oodometer.catalogue.names import ShiftEntry
from oodometer.core.condition import Condition, Family, Shift
from oodometer.core.errors import DataError, UsageError
from oodometer.shifts.class_matched import in_classes_of
from oodometer.shifts.imagenet_c import imagenet_c_on_disk
from oodometer.shifts.make import pair_of
from oodometer.shifts.sources import Sources

SET = "imagenet-c"


def from_disk(sources: Sources, entry: ShiftEntry) -> Sequence[Condition | Shift]:
    """Each corruption and severity against the clean images.

    Where ``--data`` names ImageNet-C itself, there are no clean images to pair it with, whatever else lies below a
    root: then the conditions alone.
    """
    if sources.dataset is not None and (sources.root is None or "corruption" in sources.dataset.columns):
        return imagenet_c_on_disk(sources.given())
    return [pair_of(entry, *sides) for sides in corrupted_and_clean(sources, entry)]


def corrupted_and_clean(sources: Sources, entry: ShiftEntry) -> Iterator[tuple[Condition, Condition, Family]]:
    """The clean images, those of each corruption and severity on disk, and which member of the family these are."""
    if sources.root is None:
        raise UsageError(
            f"{entry.of}: say where ImageNet-C is, with --data-root FOLDER, or --data FOLDER --data-kind imagenet-c"
        )
    standard = sources.clean()
    for one in imagenet_c_on_disk(sources.root.open(SET)):
        _check_number(one, entry, sources)
        corruption, _, severity = one.dataset.part.partition("/")
        name = entry.declared.member.format(corruption=corruption, severity=severity)
        shifted = replace(one, name=name, dataset=in_classes_of(sources.fewer(one.dataset), standard.dataset))
        yield standard, shifted, Family(entry.of, corruption, int(severity))


def _check_number(one: Condition, entry: ShiftEntry, sources: Sources) -> None:
    if len(one.dataset) != entry.n and sources.root is not None and not sources.root.partial:
        place = sources.root.place_of(SET)
        raise DataError(
            f"{place}: {one.dataset.part} has {len(one.dataset):,} images instead of {entry.n:,}; is it unpacked "
            "whole? (--partial uses it as it is)"
        )
