"""Families of corruptions by name: what is made here, and the testbed's settings, are the reference."""

from __future__ import annotations

import pytest

from oodometer.analysis.accuracy_pairs import conditions_named
from oodometer.analysis.families import Corrupted, corrupted, family_of
from oodometer.catalogue.names import testbed_settings as settings
from oodometer.corruptions.registry import COMMON, EXTRA


def test_every_corruption_of_the_testbed_is_of_one_of_two_families():
    found = [corrupted(name) for name in settings()]
    kept = [one for one in found if one is not None]
    # 19 corruptions on disk, 18 in memory, at 5 severities
    assert len(kept) == 95 + 90
    assert {one.family for one in kept} == {"imagenet-c_on-disk", "imagenet-c_in-memory"}
    assert {one.name for one in kept} == {*COMMON, *EXTRA}
    assert {one.severity for one in kept} == {1, 2, 3, 4, 5}


@pytest.mark.parametrize(
    "name", ["clean", "adain/3", "icons-styles/apple", "cifar-100-subtypes/2", "dfr/size", "a/b/c"]
)
def test_other_names_are_of_no_family(name):
    assert family_of(name) is None


def test_frames_of_perturbations_are_a_family():
    assert corrupted("imagenet-p/brightness/07") == Corrupted("imagenet-p", "brightness", 7)


def test_a_family_of_the_testbed_can_be_asked_for_by_name():
    found = conditions_named("imagenet-c_in-memory", settings(), "here")
    assert found == [name for name in settings() if name.endswith("_in-memory")]
