"""What ``--on NAME`` stands for: a function from a data set to the conditions to run."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from oodometer.core.condition import Condition, clean
from oodometer.core.dataset import Dataset
from oodometer.core.registry import Registry

Suite = Callable[[Dataset], Sequence[Condition]]

suites: Registry[Suite] = Registry(
    "condition", {"clean": "oodometer.shifts.suites:only_clean"}, group="oodometer.suites"
)


def only_clean(dataset: Dataset) -> list[Condition]:
    """The images as they are."""
    return [clean(dataset)]
