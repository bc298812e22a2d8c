"""The classes of published data by name: the same number that their layouts are checked against."""

from __future__ import annotations

import pytest

from oodometer.catalogue.classes import known_classes
from oodometer.catalogue.sets import set_entries

AMBIGUOUS = {"cifar-100", "imagenet-a", "imagenet-o", "imagenet-r", "imagenet-vid-robust", "ytbb-robust", "objectnet"}


@pytest.mark.parametrize("name", [name for name in set_entries() if known_classes(name, "clean") is not None])
def test_the_number_is_that_of_the_layout(name: str) -> None:
    assert set_entries()[name].n_classes in (None, known_classes(name, "clean"))
    assert known_classes("imported", name) in (None, known_classes(name, "clean"))


def test_sets_that_may_be_numbered_in_two_ways_are_asked_about() -> None:
    assert {known_classes(name, "clean") for name in AMBIGUOUS} == {None}
    assert known_classes("mine", "clean") is None


def test_shifts_have_the_classes_of_their_sets() -> None:
    names = ("imagenet-c/fog/3", "imagenet-c:disk/fog/3", "imagenetv2-topimages", "ImageNet", "imagenetv2", "val")
    assert {known_classes("imported", name) for name in names} == {1000}
    assert {known_classes("imported", name) for name in ("cifar10-c/fog/3", "cifar-10.1-v4")} == {10}
