"""What ``--on NAME`` stands for: a function from a data set to the conditions to run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from oodometer.core.condition import Condition, clean
from oodometer.core.dataset import Dataset
from oodometer.core.errors import UsageError, did_you_mean
from oodometer.core.registry import Registry


class Suite(Protocol):
    """What a name stands for."""

    def __call__(self, dataset: Dataset, *, seed: int) -> Sequence[Condition]:
        """The conditions over a data set; every random draw depends on the seed."""
        ...


suites: Registry[Suite] = Registry(
    "condition",
    {
        "clean": "oodometer.shifts.suites:only_clean",
        "cifar10-c": "oodometer.shifts.imagenet_c:cifar10_c",
        "greyscale": "oodometer.shifts.imagenet_c:grey",
        "imagenet-c": "oodometer.shifts.imagenet_c:imagenet_c",
        "imagenet-c:raw": "oodometer.shifts.imagenet_c:imagenet_c_raw",
        "imagenet-c:disk": "oodometer.shifts.imagenet_c:imagenet_c_on_disk",
        "imagenet-c-bar": "oodometer.shifts.imagenet_c:imagenet_c_bar",
        "imagenet-c-extra": "oodometer.shifts.imagenet_c:imagenet_c_extra",
        "imagenet-p": "oodometer.shifts.imagenet_p:imagenet_p",
        "own": "oodometer.shifts.imagenet_c:own_corruptions",
        "imagenet-c-extra:raw": "oodometer.shifts.imagenet_c:imagenet_c_extra_raw",
    },
    group="oodometer.suites",
)


def only_clean(dataset: Dataset, *, seed: int) -> list[Condition]:  # noqa: ARG001 - nothing is drawn
    """The images as they are."""
    return [clean(dataset)]


def conditions_for(spec: str, dataset: Dataset, *, seed: int = 0) -> list[Condition]:
    """The conditions that a name stands for: a suite, or a part of one (``imagenet-c/fog``, ``imagenet-c/fog/3``)."""
    name, _, part = spec.partition("/")
    found = list(suites.get(name)(dataset, seed=seed))
    if not part:
        return found
    wanted = [one for one in found if one.name == spec or one.name.startswith(f"{spec}/")]
    if not wanted:
        parts = {prefix for one in found if "/" in one.name for prefix in (one.name, one.name.rpartition("/")[0])}
        raise UsageError(f"no condition named {spec!r}{did_you_mean(spec, parts)}")
    return [*(one for one in found if one.name == "clean"), *wanted]
