"""Kinds and clean sets by name: the shifts that are made here are the reference."""

from __future__ import annotations

import pytest

from oodometer.catalogue.names import find_shift, testbed_settings
from oodometer.catalogue.shifts import declared_shifts
from oodometer.study.kinds import KINDS, KNOWN_BEST, NATURAL, clean_of, is_clean, is_natural, kind_of

testbed_settings.__test__ = False  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["real-blurry", "dfr", "svsf", "cifar-100-subtypes", "imagenet-22k-subtypes"])
def test_a_column_of_a_table_has_the_kind_of_the_shift_of_that_name(name):
    assert kind_of(name) == declared_shifts()[name].kind != "other"
    assert is_natural(name, kind_of(name), same_images=False)


def test_clean_columns_are_clean_and_no_others():
    clean = {name for name in testbed_settings() if is_clean(name)}
    assert len(clean) == 7  # the testbed has 7 in-distribution settings
    assert all(name.startswith("val") for name in clean)
    assert not is_clean("mine")


def test_the_clean_side_of_a_column_is_that_of_the_catalogue():
    for name in testbed_settings():
        entry = find_shift(name)
        assert entry is not None
        assert clean_of(name) == (entry.clean if entry.clean not in ("clean", name) else None)


def test_the_best_known_are_shifts_of_the_testbed():
    assert all(find_shift(name) is not None for name in KNOWN_BEST)


def test_natural_ones_come_first():
    assert KINDS[: len(NATURAL)] == NATURAL
    assert not is_natural("fog", "corruption", same_images=True)
    assert is_natural("icons-style", "style", same_images=False)
    assert not is_natural("stylized_imagenet", "style", same_images=False)
