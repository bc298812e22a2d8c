"""What a shift does to each class: paired and not, corrected for their number, over the shift's classes alone."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.proportion import confint_proportions_2indep

import oodometer as odo
from oodometer.analysis.score import score
from oodometer.core.condition import Condition, Shift
from oodometer.core.labels import LabelSpace
from oodometer.core.records import record_of_shift
from oodometer.stats.intervals import share_of
from oodometer.stats.paired import PairedCounts, paired_difference

PETS = LabelSpace("pets", ("cat", "dog", "eel", "ant"))
EXACT_95_OF_TWO = 1 - 0.05 / 2


@pytest.fixture
def paired(filled, make_dataset):
    data = make_dataset(12, labels=[0] * 8 + [1] * 4, space=PETS)
    filled.add(data, [0] * 7 + [1] + [0, 0, 1, 1])
    filled.add(data, [0, 0, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1], condition="fog/3", transform={"name": "fog"})
    return filled.store


def test_the_same_photographs_are_paired_and_corrected(paired):
    found = odo.class_changes(paired, "mine", "fog/3")
    assert found.paired
    cat, dog = found.rows  # the greatest loss first
    assert (cat.name, dog.name) == ("cat", "dog")
    # Of eight cats: two right twice, five clean alone, one shifted alone.
    assert cat.change == paired_difference(PairedCounts(2, 5, 1, 0), level=EXACT_95_OF_TWO)
    assert cat.change.value == pytest.approx(-0.5)
    assert cat.change.interval == "tango score 97.5%"
    assert dog.change.value == pytest.approx(0.25)
    assert "corrected for 2 classes" in found.convention
    per_class = {
        row.metric: row.estimate for row in score(paired, metrics=["per-class"]).rows if row.condition == "clean"
    }
    assert cat.standard == per_class["per-class[cat]"] == share_of(7, 8)


def test_photographs_are_the_same_by_id_and_class_whatever_their_files_are(paired, filled, make_dataset):
    labels = [0] * 8 + [1] * 4
    on_disk = make_dataset(12, labels=labels, space=PETS, name="disk", contents=[bytes([at] * 16) for at in range(12)])
    filled.add(on_disk, [0, 0, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1], condition="imagenet-c:disk/fog/3")
    found = odo.class_changes(paired, "mine", "imagenet-c:disk/fog/3")
    assert found.paired
    assert found.rows == odo.class_changes(paired, "mine", "fog/3").rows


def test_other_photographs_are_not_and_only_classes_of_both_count(filled, make_dataset):
    clean = make_dataset(10, labels=[0] * 6 + [2] * 4, space=PETS, name="iid")
    new = make_dataset(9, labels=[0] * 5 + [3] * 4, ids=[f"n{at}" for at in range(9)], space=PETS, name="sketch")
    shift = Shift("sketch", "style", Condition("iid", clean), Condition("sketch", new))
    filled.store.add_shift(record_of_shift(shift))
    filled.add(clean, [0] * 5 + [1] * 5, condition="iid")
    filled.add(new, [0, 0, 1, 1, 1, 0, 0, 0, 0], condition="sketch")
    found = odo.class_changes(filled.store, "mine", "sketch")
    assert not found.paired
    (cat,) = found.rows
    assert found.left_out == ("eel", "ant")
    assert cat.change.value == pytest.approx(2 / 5 - 5 / 6)
    low, high = confint_proportions_2indep(2, 5, 5, 6, method="newcomb", compare="diff")
    assert (cat.change.low, cat.change.high) == pytest.approx((low, high), abs=1e-6)
    assert (cat.standard.n, cat.shifted.n, cat.change.n) == (6, 5, 5)


def test_a_family_by_the_mean_of_each_image(filled, make_dataset):
    data = make_dataset(5, labels=[0] * 5, space=PETS)
    filled.add(data, [0, 0, 0, 1, 0])
    for severity, ranks in ((1, [0, 1, 0, 1, 0]), (2, [1, 1, 0, 0, 0])):
        name = f"imagenet-c/fog/{severity}"
        filled.add(data, ranks, condition=name, transform={"name": name})
    (cat,) = odo.class_changes(filled.store, "mine", "imagenet-c/fog").rows
    difference = np.array([0.5, 0, 1, 0.5, 1]) - [1, 1, 1, 0, 1]
    low, high = stats.t.interval(0.95, 4, difference.mean(), difference.std(ddof=1) / np.sqrt(5))
    assert (cat.change.value, cat.change.low, cat.change.high) == pytest.approx((difference.mean(), low, high))


def test_as_text_and_for_programs(paired):
    found = odo.class_changes(paired, "mine", "fog/3")
    lines = found.table(1).splitlines()
    assert lines[0] == "mine from clean to fog/3: 2 classes"
    assert lines[2].startswith("cat    0.8750")
    assert lines[-1] == "1 more"
    plain = json.loads(json.dumps(found.as_json()))
    assert [row["name"] for row in plain["rows"]] == ["cat", "dog"]
    assert plain["n_tests"] == 2
