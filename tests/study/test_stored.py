"""A study of predictions: `score`, `robustness` and plain counts are the reference; a bad cell stops nothing."""

from __future__ import annotations

import json

import numpy as np
import pytest

from oodometer.analysis.line_rules import RobustnessOptions
from oodometer.analysis.metric_request import ScoreOptions
from oodometer.analysis.origins import Origin
from oodometer.analysis.robustness import robustness
from oodometer.analysis.score import score
from oodometer.core.condition import Condition, Shift
from oodometer.core.errors import StoreError
from oodometer.core.records import record_of_shift
from oodometer.stats.bootstrap import Resampling
from oodometer.store.checked import listed
from oodometer.store.folder import CELL, look_into
from oodometer.store.look_at_cell import look_at
from oodometer.store.tables import Accuracy, write_table
from oodometer.study import study_of

OPTIONS = RobustnessOptions(resampling=Resampling(draws=100))
MODELS = {"m0": 60, "m1": 70, "m2": 75, "m3": 85}
"""Right of 100 clean images."""
ORIGINS = {name: Origin("standard") for name in MODELS}


def pair(store, name, standard, shifted, kind="dataset"):
    """Remember that two conditions, given as (name, data), are a pair."""
    store.add_shift(record_of_shift(Shift(name, kind, *(Condition(*side) for side in (standard, shifted)))))


def shuffled(hits: int, n: int, seed: int = 0) -> np.ndarray:
    """Ranks of which so many are 0, others in other models."""
    return np.random.default_rng((seed, hits)).permutation((np.arange(n) >= hits).astype(np.int64))


def add_all(filled, data, condition="clean", less=0, models=MODELS, **about):
    """Every model right on as many as it is clean, less some."""
    return [
        filled.add(data, shuffled(hits - less, len(data)), model=model, condition=condition, **about)
        for model, hits in models.items()
    ]


def study(filled, **more):
    return study_of(filled.store, origins=ORIGINS, options=OPTIONS, **more)


@pytest.fixture
def clean(make_dataset):
    return make_dataset(100)


@pytest.fixture
def other(make_dataset):
    return make_dataset(100, name="v2", ids=[f"new{at}" for at in range(100)])


def test_a_pair_that_was_run_is_a_shift_of_its_kind(filled, clean, other):
    add_all(filled, clean, "iid")
    add_all(filled, other, "style", less=20)
    pair(filled.store, "style", ("iid", clean), ("style", other), kind="style")
    found = study(filled)
    (shift,) = found.shifts
    assert (shift.name, shift.kind, shift.standard, shift.shifted) == ("style", "style", "iid", ("style",))
    assert (shift.natural, shift.points.same_images) == (True, False)
    assert shift.robustness == robustness(filled.store, "style", origins=ORIGINS, options=OPTIONS)
    by_score = {(row.model, row.condition): row.estimate for row in score(filled.store, metrics=["top-1"]).rows}
    assert {(model, one.name): n for one in found.conditions for model, n in one.accuracies.items()} == by_score
    assert [one.name for one in found.models] == ["m3", "m2", "m1", "m0"]
    assert found.conditions[0].name == "iid"
    assert found.notes == ()


def test_a_family_is_one_shift_on_the_same_photographs(filled, clean):
    add_all(filled, clean)
    for less, (name, severity) in enumerate([("fog", 1), ("fog", 2), ("snow", 1)]):
        add_all(filled, clean, f"cifar10-c/{name}/{severity}", less=10 * less)
    (shift,) = study(filled).shifts
    assert (shift.name, shift.kind, shift.natural, shift.points.same_images) == ("cifar10-c", "corruption", False, True)
    assert shift.shifted == ("cifar10-c/fog/1", "cifar10-c/fog/2", "cifar10-c/snow/1")
    # the mean of 60, 50 and 40 right of 100
    assert shift.points.models[0].y.value == pytest.approx(0.5)
    assert shift.robustness == robustness(filled.store, "cifar10-c", origins=ORIGINS, options=OPTIONS)


def test_conditions_of_other_images_under_one_name_are_shifts_of_their_own(filled, make_dataset, clean):
    for vendor in ("apple", "google"):
        data = make_dataset(100, name=vendor, ids=[f"{vendor}{at}" for at in range(100)])
        add_all(filled, clean, f"icons-iid-without-{vendor}")
        add_all(filled, data, f"icons-styles/{vendor}", less=10)
        sides = (f"icons-iid-without-{vendor}", clean), (f"icons-styles/{vendor}", data)
        pair(filled.store, f"icons-styles/{vendor}", *sides, kind="style")
    found = study(filled)
    assert [(one.name, one.standard) for one in found.shifts] == [
        ("icons-styles/apple", "icons-iid-without-apple"),
        ("icons-styles/google", "icons-iid-without-google"),
    ]
    assert found.notes == ()


def test_an_attack_is_compared_with_the_images_it_began_from(filled, clean, make_dataset):
    some = make_dataset(100, name="val[50]").take(np.arange(50), name="val[50]")
    add_all(filled, clean, "iid")
    add_all(filled, clean, "other")
    for model in MODELS:
        filled.add(some, shuffled(20, 50), model=model, condition="pgd-linf-4")
    other = make_dataset(100, name="v2", ids=[f"new{at}" for at in range(100)])
    add_all(filled, other, "style", less=20)
    pair(filled.store, "style", ("iid", clean), ("style", other), kind="style")
    found = study(filled)
    shift = found.shift("pgd-linf-4")
    assert (shift.kind, shift.standard, shift.points.same_images) == ("adversarial", "iid", True)
    assert {one.x[0].n for one in shift.points.models} == {50}


def test_each_data_set_of_one_name_has_its_own_shift(filled, make_dataset):
    sets = [make_dataset(100, name=name, ids=[f"{name}{at}" for at in range(100)]) for name in ("a", "b")]
    for less, data in enumerate(sets):
        add_all(filled, data, less=5 * less)
        for severity in (1, 2):
            add_all(filled, data, f"imagenet-c/fog/{severity}", less=5 * less + 10 * severity)
    found = study(filled)
    assert [one.name for one in found.conditions][:2] == ["clean@a", "clean@b"]
    assert [(one.name, one.standard, one.shifted) for one in found.shifts] == [
        (f"imagenet-c/fog@{name}", f"clean@{name}", (f"imagenet-c/fog/1@{name}", f"imagenet-c/fog/2@{name}"))
        for name in ("a", "b")
    ]
    # 60 - 10 and 60 - 20 of 100, and 5 less of each on the other data
    assert [one.points.models[0].y.value for one in found.shifts] == pytest.approx([0.45, 0.4])
    assert found.condition("clean@b").accuracies["m0"].value == 0.55


def test_data_that_share_a_name_are_told_by_their_digest(filled, make_dataset):
    sets = [make_dataset(100, ids=[f"{name}{at}" for at in range(100)]) for name in ("a", "b")]
    for data in sets:
        add_all(filled, data)
    assert {one.name for one in study(filled).conditions} == {f"clean@val@{data.digest[:8]}" for data in sets}


def test_families_on_data_that_share_a_name_are_told_by_their_digest(filled, make_dataset):
    sets = [make_dataset(100, ids=[f"{name}{at}" for at in range(100)]) for name in ("a", "b")]
    for data in sets:
        add_all(filled, data)
        add_all(filled, data, "imagenet-c/fog/1", less=10)
        add_all(filled, data, "imagenet-c/snow/1", less=10)
    assert {one.name for one in study(filled).shifts} == {f"imagenet-c@val@{data.digest[:8]}" for data in sets}


def test_a_family_with_two_seeds_is_no_mean(filled, clean):
    add_all(filled, clean)
    for seed in (0, 1):
        add_all(filled, clean, "imagenet-c/fog/1", less=10, transform={"name": "fog", "seed": seed})
    found = study(filled)
    assert (found.shifts, len(found.conditions)) == ((), 3)
    assert found.notes == (
        "no shift of imagenet-c/fog: imagenet-c/fog/1 was run with several seeds or strengths; keep each apart",
    )


def test_a_shift_that_was_run_against_two_clean_sets_is_two(filled, clean, other, make_dataset):
    easy = make_dataset(100, name="easy", ids=[f"easy{at}" for at in range(100)])
    add_all(filled, clean, "iid")
    add_all(filled, easy, "easy", less=-10)
    add_all(filled, other, "style", less=20)
    for name, data in (("iid", clean), ("easy", easy)):
        pair(filled.store, "style", (name, data), ("style", other), kind="style")
    found = study(filled)
    assert {one.name: one.standard for one in found.shifts} == {
        "style against easy": "easy",
        "style against iid": "iid",
    }
    assert {one.shifted for one in found.shifts} == {("style",)}


def test_the_same_condition_with_another_seed_is_another(filled, clean):
    for seed in (0, 1):
        add_all(filled, clean, "fog", less=seed, transform={"name": "fog", "seed": seed})
    found = study(filled)
    assert [one.name for one in found.conditions] == ["fog#1", "fog#2"]
    assert {one.accuracies["m0"].value for one in found.conditions} == {0.6, 0.59}
    add_all(filled, clean)
    assert {one.name: one.shifted for one in study(filled).shifts} == {"fog#1": ("fog#1",), "fog#2": ("fog#2",)}


def test_other_weights_are_another_model(filled, clean):
    add_all(filled, clean)
    add_all(filled, clean, "v2", less=10)
    filled.add(clean, shuffled(90, 100), model="m0", digest="b" * 32)
    filled.add(clean, shuffled(80, 100), model="m0", digest="b" * 32, condition="imagenet-c/fog/1")
    found = study(filled)
    assert {one.name: one.digest for one in found.models if one.name.startswith("m0")} == {
        "m0@aaaaaaaa": "a" * 32,
        "m0@bbbbbbbb": "b" * 32,
    }
    # The one that alone was run there keeps the name that it has everywhere.
    assert [one.model for one in found.shift("imagenet-c/fog/1").points.models] == ["m0@bbbbbbbb"]
    assert {one.model for one in found.scores} == {one.name for one in found.models}


def test_what_is_unfinished_is_measured_and_noted(filled, clean):
    add_all(filled, clean)
    add_all(filled, clean, "v2", less=10, models={"m0": 60, "m1": 70, "m2": 75})
    filled.add(clean, shuffled(30, 40), positions=range(40), model="m3", condition="v2", finished=False)
    found = study(filled)
    assert found.notes == ("unfinished: m3 on v2 (40 of 100)",)
    assert found.condition("v2").accuracies["m3"].n == 40
    # one that is still running takes no images away from the others, which the line compares
    assert {one.model: one.y.n for one in found.shifts[0].points.models} == {"m0": 100, "m1": 100, "m2": 100}
    assert "unfinished, left out: m3 on v2" in found.shifts[0].notes


def test_images_without_labels_have_no_accuracy_and_stop_nothing(filled, clean, make_dataset):
    add_all(filled, clean)
    add_all(filled, clean, "v2", less=10)
    nothing = make_dataset(30, name="o", labels=[-1] * 30, ids=[f"o{at}" for at in range(30)])
    add_all(filled, nothing, "imagenet-o")
    found = study(filled)
    assert [one.name for one in found.conditions] == ["clean", "v2"]
    assert [one.name for one in found.shifts] == ["v2"]
    assert found.notes == ("no accuracy on imagenet-o: its images have no labels",)
    # Their cells stay with the models, for what needs no label.
    assert "imagenet-o" in {cell.condition_name for cell in found.models[0].cells}


def test_a_damaged_cell_is_noted_and_left_out(filled, clean):
    cells = add_all(filled, clean)
    add_all(filled, clean, "v2", less=10)
    (rows,) = look_at(filled.store, cells[1].key).files
    filled.store.files.write(rows.path, b"not parquet")
    found = study(filled)
    assert found.notes[0] == "left out: m1 on clean: its rows are damaged; run again to replace them"
    assert set(found.condition("clean").accuracies) == {"m0", "m2", "m3"}
    assert [one.model for one in found.shifts[0].points.models] == ["m0", "m2", "m3"]
    assert len(found.models) == 4


def test_a_cell_without_a_description_is_noted_and_left_out(filled, clean):
    cells = add_all(filled, clean)
    (described,) = look_into(filled.store.files, cells[0].key).of(CELL)
    filled.store.files.write(described.path, b"{")
    found = study(filled)
    assert "missing or damaged, so nothing is known of its rows" in found.notes[0]
    assert [one.name for one in found.models] == ["m3", "m2", "m1"]


def test_pairs_that_cannot_be_read_are_noted(filled, clean, other):
    add_all(filled, clean, "iid")
    add_all(filled, other, "style", less=20)
    pair(filled.store, "style", ("iid", clean), ("style", other), kind="style")
    (name,) = listed(filled.store.files, "shifts")
    filled.store.files.write(name.path, b"{")
    found = study(filled)
    assert "missing or damaged; run again to replace it" in found.notes[0]
    # What was run as a pair, and what was not, can't be told any more.
    assert (len(found.conditions), found.shifts) == (2, ())
    assert [note.partition(":")[0] for note in found.notes[1:]] == ["no shift of iid", "no shift of style"]


def test_images_that_are_lost_stop_no_other_shift(filled, clean, other):
    add_all(filled, clean)
    add_all(filled, clean, "val")
    add_all(filled, other, "v2", less=10)
    add_all(filled, clean, "imagenet-c/fog/1", less=10)
    for name in listed(filled.store.files, "datasets"):
        if name.stem == other.digest:
            filled.store.files.write(name.path, b"")
    found = study(filled)
    assert [one.name for one in found.shifts] == ["imagenet-c/fog/1"]
    assert found.notes[0].startswith("no shift of v2: ")


def test_other_classes_are_not_compared(filled, clean, make_dataset):
    add_all(filled, clean)
    some = make_dataset(100, name="a", ids=[f"a{at}" for at in range(100)])
    add_all(filled, some, "imagenet-a", less=30, label_map="f" * 32, n_classes=5)
    found = study(filled)
    assert found.shifts == ()
    assert found.notes == ("no shift of imagenet-a: no clean set over its classes was run, to compare it with",)
    add_all(filled, clean, "val-on-imagenet-a-classes", label_map="f" * 32, n_classes=5)
    (shift,) = study(filled).shifts
    assert (shift.name, shift.standard) == ("imagenet-a", "val-on-imagenet-a-classes")


def test_an_imported_table_stands_beside_predictions(filled, clean):
    add_all(filled, clean)
    add_all(filled, clean, "v2", less=10)
    rows = [("m0", "v2", 0.4), ("alexnet", "v2", 0.3), ("alexnet", "clean", 0.5), ("alexnet", "sketch", 0.2)]
    write_table(filled.store, [Accuracy(*row, 1000, "t.csv") for row in rows])
    found = study(filled)
    assert [one.name for one in found.models] == ["m3", "m2", "m1", "m0", "alexnet"]
    assert {one.name for one in found.conditions} == {"clean", "v2", "sketch"}
    # Of a model that was run, its answers count; beside them stand those that a table alone knows.
    assert {name: one.value for name, one in found.condition("v2").accuracies.items()} == {
        **{name: (hits - 10) / 100 for name, hits in MODELS.items()},
        "alexnet": 0.3,
    }
    assert {one.name: (one.standard, len(one.points.models)) for one in found.shifts} == {
        "v2": ("clean", 5),
        "sketch": ("clean", 1),
    }
    assert found.sources == ("t.csv",)


def test_two_models_have_points_and_no_line(filled, clean):
    two = {"m0": 60, "m1": 70}
    add_all(filled, clean, models=two)
    add_all(filled, clean, "v2", less=10, models=two)
    (shift,) = study(filled).shifts
    assert (len(shift.points.models), shift.robustness) == (2, None)
    assert "2 models" in shift.why


def test_one_model_on_one_condition_is_a_study(filled, clean):
    filled.add(clean, shuffled(60, 100))
    found = study(filled)
    assert (len(found.models), len(found.conditions), found.shifts, found.notes) == (1, 1, (), ())


def test_an_empty_store_is_an_error_in_a_line(filled):
    with pytest.raises(StoreError, match="nothing in it yet") as caught:
        study(filled)
    assert "\n" not in str(caught.value)


def test_scores_are_those_of_score_on_both_sides(filled, clean, other):
    add_all(filled, clean)
    add_all(filled, other, "v2", less=20)
    for severity in range(1, 6):
        add_all(filled, clean, f"imagenet-c/fog/{severity}", less=4 * severity, n_classes=1000)
    found = study(filled)
    places = {(one.metric, one.condition) for one in found.scores}
    assert places >= {("aurra", "clean"), ("aurra", "v2"), ("rms-calibration", "clean"), ("rms-calibration", "v2")}
    assert {condition for metric, condition in places if metric == "aurra"} == {"clean", "v2"}
    names = ["aurra", "ece", "rms-calibration", "mean-corruption-error", "ce", "relative-ce"]
    expected = score(filled.store, metrics=names, options=ScoreOptions(draws=100)).rows
    wanted = {(row.model, row.condition, row.metric): row.estimate for row in expected}
    mine = {(one.model, one.condition, one.metric): one.estimate for one in found.scores}
    assert mine == {key: value for key, value in wanted.items() if key in mine}
    assert {key[2] for key in mine} == set(names)
    # One corruption of fifteen is not the family: no mCE.
    assert "mce" not in {one.metric for one in found.scores}


def test_the_whole_is_plain_values(filled, clean, other):
    add_all(filled, clean)
    add_all(filled, other, "v2", less=20)
    found = study(filled)
    plain = json.loads(json.dumps(found.as_json(), allow_nan=False))
    assert plain["models"][0] == {"name": "m3", "category": "standard", "parent": None, "digest": "a" * 32}
    assert plain["conditions"][1]["record"]["name"] == "v2"
    assert len(plain["scores"]) == len(found.scores) > 0
    assert plain["options"]["resampling"]["draws"] == 100
