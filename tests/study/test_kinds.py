"""Kinds and clean sets by name: the shifts that are made here are the reference."""

from __future__ import annotations

import pytest

from oodometer.analysis.families import family_of
from oodometer.shifts.known_shift import known_shifts
from oodometer.shifts.testbed import ATTACKS, CLASS_MATCHED, EIGHTH, V2_EIGHTH, settings
from oodometer.shifts.testbed import NATURAL as NATURAL_SETTINGS
from oodometer.study.kinds import CLEAN_OF_TABLE, KINDS, KNOWN_BEST, NATURAL, is_natural, kind_of

CLEAN = {"val", EIGHTH, *CLASS_MATCHED}


@pytest.mark.parametrize("name", [*NATURAL_SETTINGS, "imagenet-o", "cifar-10.1-v6", "icons-style", "icons-subtypes"])
def test_the_kind_of_a_name_is_that_of_the_shift_of_that_name(name):
    assert kind_of(name) == known_shifts.get(name).kind


def test_every_setting_of_the_testbed_has_its_kind():
    kinds = {name: kind_of(family_of(name) or name) for name in settings() if name not in CLEAN}
    assert len(kinds) == 213 - 7  # the testbed has 7 in-distribution settings
    assert {name for name, kind in kinds.items() if kind == "adversarial"} == set(ATTACKS)
    corrupted = {name for name, kind in kinds.items() if kind == "corruption"}
    # 19 corruptions on disk and 18 in memory at 5 severities, and greyscale
    assert len(corrupted) == 95 + 90 + 1
    assert {name for name in kinds if family_of(name)} == corrupted - {"greyscale"}
    natural = {name for name, kind in kinds.items() if is_natural(name, kind, same_images=False)}
    assert natural == {*NATURAL_SETTINGS, V2_EIGHTH}
    assert kinds["stylized_imagenet"] == "style"


def test_the_clean_sets_are_those_of_the_testbed():
    of_shift = {shift: clean for clean, shift in CLASS_MATCHED.items()}
    pm = {"imagenet-vid-robust_pm10": "imagenet-vid-robust_pm0", "ytbb-robust_pm10": "ytbb-robust_pm0"}
    assert {**of_shift, **pm, V2_EIGHTH: EIGHTH} == CLEAN_OF_TABLE


def test_the_best_known_are_shifts_of_the_testbed():
    assert set(KNOWN_BEST) <= {family_of(name) or name for name in settings()}


def test_natural_ones_come_first():
    assert KINDS[: len(NATURAL)] == NATURAL
    assert not is_natural("fog", "corruption", same_images=True)
    assert is_natural("icons-style", "style", same_images=False)
    assert not is_natural("stylized_imagenet", "style", same_images=False)
