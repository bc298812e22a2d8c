"""The classes of published sets by name: the same number that their layouts are checked against."""

from __future__ import annotations

import pytest

from oodometer.data.layouts.known_set import known_sets
from oodometer.engine.known_classes import CLASSES, known_classes

AMBIGUOUS = {"cifar-100", "imagenet-a", "imagenet-o", "imagenet-r"}


@pytest.mark.parametrize("name", [name for name in known_sets.names() if known_classes(name, "clean") is not None])
def test_the_number_is_that_of_the_layout(name: str) -> None:
    assert known_classes(name, "clean") == known_classes("imported", name)
    assert known_sets.get(name).n_classes in (None, known_classes(name, "clean"))


def test_sets_that_may_be_numbered_in_two_ways_are_asked_about() -> None:
    assert not AMBIGUOUS & set(CLASSES)
    assert known_classes("imagenet-a", "clean") is None
    assert known_classes("mine", "clean") is None


def test_variants_have_the_classes_of_their_set() -> None:
    names = ("imagenet-c/fog/3", "imagenet-c:disk/fog/3", "imagenetv2-topimages", "imagenet[100, seed 0]", "ImageNet")
    assert {known_classes("imported", name) for name in names} == {1000}
