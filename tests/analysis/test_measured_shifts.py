"""What is compared with what: pairs that were run, what the catalogue says of names, tables, and both together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from oodometer.analysis.accuracy_pairs import pairs_of
from oodometer.analysis.intervals import IntervalOptions
from oodometer.analysis.measured_shifts import (
    base_name,
    clean_column,
    is_clean,
    measured_shifts,
    members_apart,
    same_clean,
    same_photographs,
)
from oodometer.catalogue.names import find_shift
from oodometer.core.condition import Condition, Family, Shift
from oodometer.core.records import record_of_shift
from oodometer.store.images import Images
from oodometer.store.index import Index, index_of_table, look
from oodometer.store.tables import parse_table, write_table

MODELS = {"a": 30, "b": 24}
"""Right of 40 clean images."""


def add(filled, data, condition="clean", less=0, models=MODELS, **about):
    """Every model right on as many as it is clean, less some."""
    for model, hits in models.items():
        ranks = (np.arange(len(data)) >= hits - less).astype(int)
        filled.add(data, ranks, model=model, condition=condition, **about)


def pair(filled, name, standard, shifted, kind="dataset", family=None):
    """Remember that two conditions, given as (name, data), are a pair."""
    sides = (Condition(*side) for side in (standard, shifted))
    filled.store.add_shift(record_of_shift(Shift(name, kind, *sides, family=family)))


def shifts(filled):
    return {shift.name: shift for shift in measured_shifts(look(filled.store)).shifts}


def notes(filled):
    return measured_shifts(look(filled.store)).notes


def sides(shift):
    """The names of the clean sides, and of the members."""
    return tuple(side.name for side in shift.standards), tuple(side.name for side in shift.members)


def table(filled, text):
    write_table(filled.store, parse_table(text, source="t.csv", n=1000))


@pytest.fixture
def val(make_dataset):
    return make_dataset(40)


@pytest.fixture
def other(make_dataset):
    return make_dataset(40, name="v2", ids=[f"new{at}" for at in range(40)])


# Pairs that were run


def test_a_pair_is_the_one_that_was_run_whatever_the_names_say(filled, val, other):
    add(filled, val)
    add(filled, val, "iid")
    add(filled, other, "imagenet-sketch", less=5)
    pair(filled, "imagenet-sketch", ("iid", val), ("imagenet-sketch", other), kind="style")
    (shift,) = shifts(filled).values()
    assert (shift.name, shift.kind, sides(shift)) == ("imagenet-sketch", "style", (("iid",), ("imagenet-sketch",)))
    assert (shift.natural, shift.has_predictions, shift.has_tables, shift.family) == (True, True, False, None)
    assert notes(filled) == ()


def test_a_pair_without_answers_on_one_side_is_none(filled, val, other):
    add(filled, val, "iid")
    pair(filled, "style", ("iid", val), ("style", other), kind="style")
    assert (shifts(filled), notes(filled)) == ({}, ())


def test_the_pairs_of_a_family_are_one_shift_named_by_what_they_share(filled, val):
    add(filled, val)
    members = [("fog", 1), ("fog", 3), ("snow", 2)]
    names = {1: "imagenet-c/fog/1", 2: "imagenet-c/fog", 3: "imagenet-c"}
    for n, (corruption, severity) in enumerate(members, start=1):
        name = f"imagenet-c/{corruption}/{severity}"
        add(filled, val, name, less=5 * n)
        family = Family("imagenet-c", corruption, severity)
        pair(filled, name, ("clean", val), (name, val), kind="corruption", family=family)
        (shift,) = shifts(filled).values()
        assert (shift.name, shift.family, len(shift.members)) == (names[n], names[n] if n > 1 else None, n)
    assert sides(shift)[1] == ("imagenet-c/fog/1", "imagenet-c/fog/3", "imagenet-c/snow/2")
    points = pairs_of(look(filled.store), shift, origins={}, how=IntervalOptions())
    # 30 of 40 clean; 25, 20 and 15 under the three
    assert (points.models[0].model, points.models[0].y.value) == ("a", pytest.approx(0.5))
    assert points.same_images


def test_members_apart_are_shifts_of_their_own(filled, val):
    add(filled, val)
    for severity in (1, 2):
        add(filled, val, f"imagenet-c/fog/{severity}", less=5 * severity)
    (shift,) = shifts(filled).values()
    apart = members_apart(shift)
    assert [(one.name, len(one.members), one.family) for one in apart] == [
        ("imagenet-c/fog/1", 1, None),
        ("imagenet-c/fog/2", 1, None),
    ]
    assert {one.standard for one in apart} == {shift.standard}


def test_a_family_of_several_data_sets_is_one_shift_for_each(filled, make_dataset):
    for name in ("a", "b"):
        data = make_dataset(40, name=name, ids=[f"{name}{at}" for at in range(40)])
        add(filled, data)
        for severity in (1, 2):
            add(filled, data, f"imagenet-c/fog/{severity}", less=5)
    found = shifts(filled)
    assert set(found) == {"imagenet-c/fog@a", "imagenet-c/fog@b"}
    assert sides(found["imagenet-c/fog@b"]) == (("clean@b",), ("imagenet-c/fog/1@b", "imagenet-c/fog/2@b"))


def test_parts_of_files_on_disk_are_one_family(filled, make_dataset, val):
    add(filled, val)
    for severity in (1, 2):
        data = make_dataset(40, contents=[bytes([severity]) * 16] * 40, name="disk")
        add(filled, replace(data, part=f"fog/{severity}"), f"imagenet-c:disk/fog/{severity}", less=5)
    (shift,) = shifts(filled).values()
    assert (shift.name, len(shift.members)) == ("imagenet-c:disk/fog", 2)


def test_a_shift_against_two_clean_sets_is_two(filled, make_dataset, val, other):
    easy = make_dataset(40, name="easy", ids=[f"easy{at}" for at in range(40)])
    add(filled, val, "iid")
    add(filled, easy, "easy")
    add(filled, other, "style", less=5)
    for name, data in (("iid", val), ("easy", easy)):
        pair(filled, "style", (name, data), ("style", other), kind="style")
    assert {name: sides(one)[0] for name, one in shifts(filled).items()} == {
        "style against iid": ("iid",),
        "style against easy": ("easy",),
    }


def test_other_seeds_of_one_shift_are_told_apart_and_of_a_family_refused(filled, val):
    add(filled, val)
    for seed in (0, 1):
        add(filled, val, "fog", less=5 + seed, transform={"name": "fog", "seed": seed})
    assert set(shifts(filled)) == {"fog#1", "fog#2"}
    for seed in (0, 1):
        add(filled, val, "imagenet-c/fog/1", less=5, transform={"name": "fog", "seed": seed})
    assert set(shifts(filled)) == {"fog#1", "fog#2"}
    assert notes(filled) == (
        "no shift of imagenet-c/fog: imagenet-c/fog/1 was run with several seeds or strengths; keep each apart",
    )


# What the catalogue says of names


def test_a_condition_without_a_pair_is_compared_with_what_the_catalogue_says(filled, val, other):
    add(filled, val)
    add(filled, val, "val-on-imagenet-a-classes")
    add(filled, other, "imagenet-a", less=20)
    add(filled, other, "imagenet-sketch", less=5)
    found = shifts(filled)
    assert {name: (one.kind, sides(one)[0]) for name, one in found.items()} == {
        "imagenet-a": ("adversarially filtered", ("val-on-imagenet-a-classes",)),
        "imagenet-sketch": ("dataset", ("clean",)),
    }
    assert all(one.natural and one.of_other_images for one in found.values())


def test_what_the_catalogue_does_not_know_is_compared_with_all_clean_images(filled, val, other):
    add(filled, val)
    add(filled, val, "val-on-imagenet-a-classes")
    add(filled, other, "of-my-own", less=5)
    (shift,) = (one for one in shifts(filled).values())
    assert (shift.name, shift.kind, shift.natural, sides(shift)[0]) == ("of-my-own", "other", False, ("clean",))


def test_an_attack_is_one_by_what_was_done(filled, val):
    add(filled, val)
    add(filled, val, "mine", less=10, attack={"name": "mine", "epsilon": 4})
    (shift,) = shifts(filled).values()
    assert (shift.kind, shift.natural) == ("adversarial", False)


def test_other_classes_are_not_compared(filled, val, other):
    add(filled, val)
    add(filled, other, "imagenet-a", less=20, label_map="f" * 32)
    assert shifts(filled) == {}
    assert notes(filled) == ("no shift of imagenet-a: no clean set over its classes was run, to compare it with",)
    add(filled, val, "val-on-imagenet-a-classes", label_map="f" * 32)
    assert set(shifts(filled)) == {"imagenet-a"}


def test_of_several_clean_sets_none_is_guessed(filled, make_dataset, val, other):
    add(filled, val)
    add(filled, make_dataset(40, name="train", ids=[f"train{at}" for at in range(40)]))
    add(filled, other, "imagenet-sketch", less=5)
    assert shifts(filled) == {}
    assert notes(filled) == (
        "no shift of imagenet-sketch: it can be compared with clean@train or clean@val; say which with "
        "imagenet-sketch~CLEAN",
    )
    # That of the same photographs needs no word.
    add(filled, val, "greyscale", less=5)
    assert {name: sides(one)[0] for name, one in shifts(filled).items()} == {"greyscale": ("clean@val",)}


def test_a_corruption_on_disk_finds_the_clean_set_of_its_photographs(filled, make_dataset, val):
    add(filled, val)
    add(filled, make_dataset(40, name="train", ids=[f"train{at}" for at in range(40)]))
    disk = make_dataset(20, ids=val.ids[:20], labels=val.labels[:20], contents=[b"c" * 16] * 20, name="disk")
    add(filled, disk, "imagenet-c:disk/fog/1", less=20)
    (shift,) = shifts(filled).values()
    assert sides(shift) == (("clean@val",), ("imagenet-c:disk/fog/1",))


def test_images_without_labels_are_no_shift(filled, val, make_dataset):
    add(filled, val)
    nothing = make_dataset(20, name="o", labels=[-1] * 20, ids=[f"o{at}" for at in range(20)])
    add(filled, nothing, "imagenet-o")
    assert (shifts(filled), notes(filled)) == ({}, ())


# Tables

HEADER = (
    "model,val,val-on-imagenet-a-classes,imagenet-a,imagenet-sketch,imagenet-c.fog.1_on-disk,imagenet-c.snow.2_on-disk"
)


def test_each_column_is_compared_with_its_clean_column():
    index = index_of_table(parse_table(f"{HEADER}\nnet,70,90,1,30,60,50\n", source="t.csv"))
    found = {one.name: one for one in measured_shifts(index).shifts}
    assert {name: sides(one)[0] for name, one in found.items()} == {
        "imagenet-a": ("val-on-imagenet-a-classes",),
        "imagenet-sketch": ("val",),
        "imagenet-c_on-disk": ("val",),
    }
    assert found["imagenet-c_on-disk"].family == "imagenet-c_on-disk"
    assert all(one.has_tables and not one.has_predictions for one in found.values())


def test_a_table_without_its_clean_column_falls_back_to_all_clean_images_or_has_no_shift():
    def of(text: str) -> Index:
        return index_of_table(parse_table(text, source="t.csv"))

    (shift,) = measured_shifts(of("model,val,imagenet-a\nnet,70,1\n")).shifts
    assert sides(shift)[0] == ("val",)
    without = measured_shifts(of("model,imagenet-a\nnet,0.01\n"))
    assert (without.shifts, without.notes) == ((), ("no shift of imagenet-a: the table has no column of clean images",))


@pytest.mark.parametrize(
    ("name", "columns", "clean"),
    [
        ("imagenet-a", ["val", "val-on-imagenet-a-classes"], "val-on-imagenet-a-classes"),
        ("imagenet-a", ["clean", "val"], "clean"),
        ("imagenet-sketch", ["val", "val-on-imagenet-a-classes"], "val"),
        ("mine", ["val-on-imagenet-a-classes", "val"], "val"),
        ("mine", ["imagenet-a"], None),
    ],
)
def test_the_clean_column(name, columns, clean):
    assert clean_column(find_shift(name), columns) == clean


# Both


def test_predictions_and_a_table_of_one_shift_meet(filled, val, other):
    add(filled, val)
    add(filled, other, "imagenet-sketch", less=5)
    table(filled, "model,val,imagenet-sketch\nnet,76,24\na,50,40\n")
    index = look(filled.store)
    (shift,) = measured_shifts(index).shifts
    assert (shift.standard.name, shift.standard.column) == ("clean", "val")
    assert (shift.has_predictions, shift.has_tables) == (True, True)
    points = pairs_of(index, shift, origins={}, how=IntervalOptions())
    assert {one.model: one.y.value for one in points.models} == {"a": 25 / 40, "b": 19 / 40, "net": 0.24}
    assert points.notes == (
        "of a the predictions count, not the table's accuracies",
        "beside 2 with predictions stand models of t.csv: net",
    )


def test_a_family_meets_only_with_the_same_members(filled, val):
    add(filled, val)
    for severity in (1, 2):
        add(filled, val, f"imagenet-c/fog/{severity}", less=5)
    table(filled, "model,val,imagenet-c/fog/1,imagenet-c/fog/2\nnet,76,60,50\n")
    (shift,) = shifts(filled).values()
    assert [side.column for side in shift.members] == ["imagenet-c/fog/1", "imagenet-c/fog/2"]


def test_what_does_not_meet_has_a_name_of_its_own(filled, val):
    add(filled, val)
    for severity in (1, 2):
        add(filled, val, f"imagenet-c/fog/{severity}", less=5)
    table(filled, "model,val,imagenet-c/fog/1,imagenet-c/fog/2,imagenet-c/fog/3\nnet,76,60,50,40\n")
    found = shifts(filled)
    assert {name: len(one.members) for name, one in found.items()} == {
        "imagenet-c/fog": 2,
        "imagenet-c/fog@imported": 3,
    }
    assert not found["imagenet-c/fog"].has_tables


# Names and photographs


def test_clean_sides_by_name():
    assert same_clean("clean", "val")
    assert not same_clean("val", "val-on-imagenet-r-classes")
    assert [is_clean(name) for name in ("clean", "val", "val-on-imagenet-r-classes", "imagenet-r", "mine")] == [
        True,
        True,
        True,
        False,
        False,
    ]


def test_one_member_keeps_its_name():
    assert base_name("mine", [None]) == "mine"
    assert base_name("imagenet-c/fog/3", [Family("imagenet-c", "fog", 3)]) == "imagenet-c/fog/3"


def test_the_same_photographs_have_the_same_ids_and_labels(make_dataset):
    def images(ids, labels):
        return Images(np.array(ids), np.array(labels), make_dataset(4).space, {})

    large = images(["a", "b", "c"], [0, 1, 2])
    assert same_photographs(large, images(["c", "a"], [2, 0]))
    assert not same_photographs(large, images(["c", "a"], [2, 1]))
    assert not same_photographs(images(["d"], [0]), large)
