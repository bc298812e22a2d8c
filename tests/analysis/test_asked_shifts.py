"""The shift that a text means: names, aliases, parts, patterns, sides of the user's own, and what there is not."""

from __future__ import annotations

import numpy as np
import pytest

from oodometer.analysis.accuracy_pairs import pairs_of
from oodometer.analysis.asked_shifts import asked_shift
from oodometer.analysis.intervals import IntervalOptions
from oodometer.analysis.measured_shifts import measured_shifts
from oodometer.core.condition import Condition, Shift
from oodometer.core.errors import StoreError, UsageError
from oodometer.core.records import record_of_shift
from oodometer.store.index import Index, index_of_table, look
from oodometer.store.tables import parse_table, write_table

FAMILY = [f"imagenet-c/{name}" for name in ("fog/1", "fog/3", "snow/1")]


@pytest.fixture
def val(make_dataset):
    return make_dataset(40)


@pytest.fixture
def index(filled, val, make_dataset) -> Index:
    """Two models on clean images, a family, a published set and one of another kind."""
    other = make_dataset(20, name="v2", ids=[f"new{at}" for at in range(20)])
    for model, hits in {"a": 30, "b": 24}.items():
        for less, condition in enumerate(["clean", *FAMILY, "val-on-imagenet-a-classes"]):
            filled.add(val, (np.arange(40) >= hits - less).astype(int), model=model, condition=condition)
        for condition in ("imagenetv2-matched-frequency", "imagenet-a"):
            filled.add(other, (np.arange(20) >= hits - 20).astype(int), model=model, condition=condition)
    return look(filled.store)


def asked(index: Index, text: str, *x: str) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Its name, and the names of both sides."""
    found = asked_shift(index, text, x)
    return found.name, tuple(one.name for one in found.standards), tuple(one.name for one in found.members)


def message_of(kind: type[Exception], index: Index, text: str, *x: str) -> str:
    with pytest.raises(kind) as caught:
        asked_shift(index, text, x)
    assert "\n" not in str(caught.value)
    return str(caught.value).removeprefix(f"{index}: ")


# Names


def test_every_shift_of_the_store_is_found_by_its_name(index):
    every = measured_shifts(index).shifts
    assert [one.name for one in every] == ["imagenet-a", "imagenet-c", "imagenetv2-matched-frequency"]
    assert [asked_shift(index, one.name) for one in every] == list(every)


@pytest.mark.parametrize("alias", ["imagenetv2", "ImageNetV2", "imagenet-v2", "imagenetv2-matched-frequency"])
def test_a_published_set_has_several_names(index, alias):
    # As the catalogue's doctest of `find_shift` has it: the alias is that of the matched frequencies.
    assert asked(index, alias)[2] == ("imagenetv2-matched-frequency",)


@pytest.mark.parametrize(
    ("text", "members"),
    [
        ("imagenet-c", FAMILY),
        ("imagenet-c/fog", FAMILY[:2]),
        ("imagenet-c/fog/3", FAMILY[1:2]),
        ("imagenet-c/*/1", [FAMILY[0], FAMILY[2]]),
        ("*/fog/*", FAMILY[:2]),
    ],
)
def test_a_part_of_a_family_keeps_its_clean_side(index, text, members):
    assert asked(index, text) == (text, ("clean",), tuple(members))
    whole = asked_shift(index, "imagenet-c")
    part = asked_shift(index, text)
    assert (part.kind, part.entry, part.of_other_images) == (whole.kind, whole.entry, whole.of_other_images)


def test_the_name_without_its_data_is_enough_where_it_means_one(filled, make_dataset):
    for name in ("a", "b"):
        data = make_dataset(20, name=name, ids=[f"{name}{at}" for at in range(20)])
        for condition in ("clean", *FAMILY[:2], *(["greyscale"] if name == "a" else [])):
            filled.add(data, [0] * 20, condition=condition)
    index = look(filled.store)
    assert asked(index, "greyscale")[1] == ("clean@a",)
    assert asked(index, "imagenet-c/fog@b")[1] == ("clean@b",)
    assert message_of(UsageError, index, "imagenet-c/fog") == (
        "imagenet-c/fog stands for several shifts; say which: imagenet-c/fog@a, imagenet-c/fog@b"
    )


def test_a_pattern_over_two_families_of_a_table_is_the_mean_of_all():
    # The testbed has ImageNet-C from disk and made in memory, both against val.
    columns = [f"imagenet-c.{name}.1_{where}" for name in ("fog", "snow") for where in ("on-disk", "in-memory")]
    rows = ["a," + ",".join(["70", "60", "50", "40", "30"]), "b," + ",".join(["60", "50", "40", "30", "20"])]
    text = "\n".join([",".join(["model", "val", *columns]), *rows]) + "\n"
    index = index_of_table(parse_table(text, source="t.csv"))
    assert [one.name for one in measured_shifts(index).shifts] == ["imagenet-c_on-disk", "imagenet-c_in-memory"]
    name, x, y = asked(index, "imagenet-c.*")
    assert (name, x, set(y)) == ("imagenet-c.*", ("val",), set(columns))
    assert set(asked(index, "imagenet-c.fog.*")[2]) == set(columns[:2])


def test_a_pattern_over_families_of_several_data_names_them(filled, make_dataset):
    for name in ("a", "b"):
        data = make_dataset(20, name=name, ids=[f"{name}{at}" for at in range(20)])
        for condition in ("clean", *FAMILY):
            filled.add(data, [0] * 20, condition=condition)
    assert message_of(UsageError, look(filled.store), "imagenet-c/fog/*") == (
        "imagenet-c/fog/* stands for several shifts; say which: imagenet-c@a, imagenet-c@b"
    )


# Sides that the user names


@pytest.mark.parametrize("ask", [("imagenet-a~clean",), ("imagenet-a", "clean")])
def test_a_clean_side_of_the_users_own(index, ask):
    name, x, y = asked(index, *ask)
    assert (name, x, y) == (ask[0], ("clean",), ("imagenet-a",))
    assert asked(index, "imagenet-a")[1] == ("val-on-imagenet-a-classes",)


def test_several_clean_sides(index):
    name, x, y = asked(index, "imagenet-a", "clean", "val-on-imagenet-a-classes")
    assert (name, x, y) == ("imagenet-a", ("clean", "val-on-imagenet-a-classes"), ("imagenet-a",))
    points = pairs_of(index, asked_shift(index, name, x), origins={}, how=IntervalOptions())
    # 30 of 40 clean; four fewer on the images of the classes of ImageNet-A
    assert [one.value for one in points.models[0].x] == [30 / 40, 26 / 40]


def test_a_data_set_by_its_name(filled, make_dataset, val):
    other = make_dataset(20, name="my photographs", ids=[f"p{at}" for at in range(20)])
    for data in (val, other):
        filled.add(data, [0] * len(data))
    index = look(filled.store)
    for x in ((), ("clean",), ("val",)):
        found = asked_shift(index, "my photographs", x)
        assert found.standard.condition.data.name == "val"
        assert found.members[0].condition.data.name == "my photographs"


def test_what_was_paired_keeps_that_its_images_are_others(filled, make_dataset, val):
    other = make_dataset(40, name="day", ids=val.ids)  # the same ids, by position, of other photographs
    for data, condition in ((val, "iid"), (other, "day")):
        filled.add(data, [0] * 40, condition=condition)
    pair = Shift("day", "attribute", Condition("iid", val), Condition("day", other))
    filled.store.add_shift(record_of_shift(pair))
    index = look(filled.store)
    assert asked_shift(index, "day").of_other_images
    assert asked_shift(index, "day", ("iid",)).of_other_images


# Tables


@pytest.fixture
def imported() -> Index:
    header = "model,val,other,imagenetv2-matched-frequency,imagenet-c.fog.1_on-disk,imagenet-c.fog.2_on-disk,x.1,x.2"
    return index_of_table(parse_table(f"{header}\nnet,70,71,60,50,40,30,20\n", source="t.csv"))


@pytest.mark.parametrize(
    ("ask", "x", "members"),
    [
        (("imagenetv2",), "val", ("imagenetv2-matched-frequency",)),
        (("imagenetv2~other",), "other", ("imagenetv2-matched-frequency",)),
        (("imagenet-c_on-disk",), "val", ("imagenet-c.fog.1_on-disk", "imagenet-c.fog.2_on-disk")),
        (("imagenet-c.*.2_on-disk",), "val", ("imagenet-c.fog.2_on-disk",)),
        (("x.*",), "val", ("x.1", "x.2")),
        (("x.1", "other"), "other", ("x.1",)),
        (("other",), "val", ("other",)),
    ],
)
def test_columns_of_a_table(imported, ask, x, members):
    assert asked(imported, *ask)[1:] == ((x,), members)


def test_a_side_of_each_sort_can_not_be_compared(filled, index):
    write_table(filled.store, parse_table("model,val,imagenet-sketch\nnet,76,24\n", source="t.csv"))
    both = look(filled.store)
    assert asked(both, "imagenet-sketch")[1] == ("val",)
    assert message_of(StoreError, both, "imagenet-sketch", "imagenet-c/fog/1") == (
        "no model was measured on imagenet-c/fog/1 and imagenet-sketch both by predictions or by a table"
    )


# What there is not


@pytest.mark.parametrize("text", ["", "~clean", "imagenet-a~"])
def test_half_a_shift(index, text):
    assert message_of(UsageError, index, text) == (
        f"{text!r}: expected SHIFT or SHIFT~CLEAN, for example objectnet~val-on-objectnet-classes"
    )


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (("imagenet-d",), "nothing was measured on 'imagenet-d'; did you mean imagenet-c?"),
        (("imagenet-c/fgo",), "nothing was measured on 'imagenet-c/fgo'; did you mean imagenet-c/fog/"),
        (("imagenet-a~claen",), "nothing was measured on 'claen'; did you mean clean?"),
        (("imagenet-a", "claen"), "nothing was measured on 'claen'; did you mean clean?"),
        (("imagenet-c", "imagenet-c/fog/1"), "imagenet-c/fog/1 is given twice: the clean sets and the shift must be"),
        (("imagenet-a", "clean", "clean"), "clean is given twice: the clean sets and the shift must be"),
        (("clean",), "clean is given twice: the clean sets and the shift must be"),
    ],
)
def test_what_was_not_measured(index, ask, message):
    assert message_of(UsageError, index, *ask).startswith(message)


def test_images_without_labels_are_told(filled, index, make_dataset):
    nothing = make_dataset(5, name="o", labels=[-1] * 5, ids=[f"o{at}" for at in range(5)])
    filled.add(nothing, [0] * 5, condition="imagenet-o")
    assert message_of(StoreError, look(filled.store), "imagenet-o") == (
        "the images of imagenet-o have no labels, so there is no accuracy on them; 'score --ood imagenet-o' tells how "
        "well they are told apart"
    )
    street = make_dataset(5, name="street", labels=[-1] * 5, ids=[f"s{at}" for at in range(5)])
    filled.add(street, [0] * 5)
    assert message_of(StoreError, look(filled.store), "street") == (
        "the images of street have no labels; 'estimate --shifted street' estimates the accuracy on them"
    )


def test_an_empty_store(filled):
    assert message_of(StoreError, look(filled.store), "imagenet-a").startswith("nothing in it yet; 'oodometer run'")


def test_no_clean_side_at_all(filled, val):
    filled.add(val, [0] * 40, condition="imagenet-a")
    assert message_of(StoreError, look(filled.store), "imagenet-a") == (
        "no model was run on clean and imagenet-a over the same classes; run both with the same label map"
    )
