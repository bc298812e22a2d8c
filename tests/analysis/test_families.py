"""Families of corruptions by name: what is made here, and the testbed's settings, are the reference."""

from __future__ import annotations

import pytest

from oodometer.analysis.families import family_in
from oodometer.catalogue.names import family_of
from oodometer.catalogue.names import testbed_settings as settings
from oodometer.core.condition import Condition, Family, Shift
from oodometer.core.records import record_of_condition, record_of_shift
from oodometer.corruptions.registry import COMMON, EXTRA
from oodometer.store.index import Index


def test_every_corruption_of_the_testbed_is_of_one_of_two_families():
    found = [family_of(name) for name in settings()]
    kept = [one for one in found if one is not None]
    # 19 corruptions on disk, 18 in memory, at 5 severities
    assert len(kept) == 95 + 90
    assert {one.name for one in kept} == {"imagenet-c_on-disk", "imagenet-c_in-memory"}
    assert {one.corruption for one in kept} == {*COMMON, *EXTRA}
    assert {one.severity for one in kept} == {1, 2, 3, 4, 5}


@pytest.mark.parametrize(
    "name", ["clean", "adain/6", "icons-styles/apple", "cifar-100-subtypes/2", "dfr/size", "a/b/c"]
)
def test_other_names_are_of_no_family(name):
    assert family_of(name) is None


def test_frames_of_perturbations_are_a_family():
    assert family_of("imagenet-p/brightness/07") == Family("imagenet-p", "brightness", 7)


def test_what_was_run_as_a_member_is_one_whatever_it_is_called(filled, make_dataset):
    data = make_dataset(4)
    sides = [Condition(name, data) for name in ("clean", "my own fog", "imagenet-c/fog/2")]
    run_as = Family("mine", "fog", 1)
    index = Index(filled.store, (), shifts=(record_of_shift(Shift("fog", "corruption", *sides[:2], family=run_as)),))
    assert [family_in(index, record_of_condition(side)) for side in sides] == [
        None,
        run_as,
        Family("imagenet-c", "fog", 2),
    ]
