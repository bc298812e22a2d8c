"""ImageNet-C on disk, below a root: one shift per corruption and severity."""

from __future__ import annotations

from dataclasses import replace

from oodometer.core.condition import Condition, Shift
from oodometer.core.errors import DataError, UsageError
from oodometer.shifts.class_matched import in_classes_of
from oodometer.shifts.imagenet_c import imagenet_c_on_disk
from oodometer.shifts.known_shift import KnownShift
from oodometer.shifts.sources import IMAGENET, Sources

SET = "imagenet-c"
N_EACH = 50_000


def from_disk(sources: Sources) -> list[Shift]:
    """Each corruption and severity against the clean images."""
    if sources.root is None:
        raise UsageError(
            "imagenet-c:disk: say where ImageNet-C is, with --data-root FOLDER, or --data FOLDER --data-kind imagenet-c"
        )
    standard = sources.clean()
    found = []
    for one in imagenet_c_on_disk(sources.root.open(SET)):
        _check_number(one, sources)
        shifted = replace(one, dataset=in_classes_of(sources.fewer(one.dataset), standard.dataset))
        found.append(Shift(one.name, "corruption", standard, shifted))
    return found


def _check_number(one: Condition, sources: Sources) -> None:
    if len(one.dataset) != N_EACH and sources.root is not None and not sources.root.partial:
        place = sources.root.place_of(SET)
        part = one.name.partition("/")[2]
        raise DataError(
            f"{place}: {part} has {len(one.dataset):,} images instead of {N_EACH:,}; is it unpacked whole? "
            "(--partial uses it as it is)"
        )


IMAGENET_C_DISK = KnownShift("imagenet-c:disk", "corruption", (IMAGENET, SET), from_disk)
