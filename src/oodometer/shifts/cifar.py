"""The shifts of CIFAR: new test sets, corruptions, and subtypes that were held out from training."""

from __future__ import annotations

from collections.abc import Callable

from oodometer.core.condition import Condition, Shift
from oodometer.corruptions.registry import COMMON
from oodometer.data.layouts.cifar_100 import MOST_HELD_OUT, split_subtypes
from oodometer.shifts.corrupted_sets import corrupted_on_disk
from oodometer.shifts.imagenet_c import SMALL, family
from oodometer.shifts.known_shift import KnownShift
from oodometer.shifts.sources import Sources

CLEAN = "cifar-10"


def _new_test_set(name: str) -> Callable[[Sources], list[Shift]]:
    def make(sources: Sources) -> list[Shift]:
        return [Shift(name, "dataset", sources.clean_of(CLEAN), Condition(name, sources.open(name)))]

    return make


def cifar_10_c_on_disk(sources: Sources) -> list[Shift]:
    """Every corruption at every severity of the published arrays."""
    return corrupted_on_disk(sources, clean=CLEAN, corrupted="cifar-10-c", view=SMALL)


def cifar_10_c(sources: Sources) -> list[Shift]:
    """The 15 corruptions at five severities, made of the test set on the fly."""
    standard = sources.clean_of(CLEAN)
    made = family(standard.dataset, "cifar-10-c", COMMON, quality=None, view=SMALL, seed=sources.seed)
    return [Shift(one.name, "corruption", standard, one) for one in made[1:]]


def cifar_100_subtypes(sources: Sources) -> list[Shift]:
    """Test images of the subtypes that a model was trained on, against those of 1 to 4 held-out ones of each class.

    Each is about a model of its own, one that answers the 20 broad classes and was trained without the held-out ones
    (`oodometer.data.layouts.cifar_100.split_subtypes`).
    """
    whole = sources.whole("cifar-100")
    shifts = []
    for n in range(1, MOST_HELD_OUT + 1):
        kept, held_out = (sources.fewer(part) for part in split_subtypes(whole, n))
        name = f"cifar-100-subtypes/{n}"
        standard = Condition(f"cifar-100-kept-subtypes/{n}", kept)
        shifts.append(Shift(name, "attribute", standard, Condition(name, held_out)))
    return shifts


CIFAR_10_1_V4 = KnownShift("cifar-10.1-v4", "dataset", (CLEAN, "cifar-10.1-v4"), _new_test_set("cifar-10.1-v4"))
CIFAR_10_1_V6 = KnownShift("cifar-10.1-v6", "dataset", (CLEAN, "cifar-10.1-v6"), _new_test_set("cifar-10.1-v6"))
CIFAR_10_C = KnownShift("cifar-10-c", "corruption", (CLEAN,), cifar_10_c)
CIFAR_10_C_DISK = KnownShift("cifar-10-c:disk", "corruption", (CLEAN, "cifar-10-c"), cifar_10_c_on_disk)
CIFAR_100_SUBTYPES = KnownShift("cifar-100-subtypes", "attribute", ("cifar-100",), cifar_100_subtypes)
