"""A study of an imported table: numpy's means and the functions of `robustness` are the reference."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit, logit

from oodometer.analysis.line_rules import RobustnessOptions
from oodometer.analysis.origins import Origin
from oodometer.analysis.robustness import robustness
from oodometer.analysis.score import score
from oodometer.metrics.corruption_error import COMMON, alexnet
from oodometer.stats.bootstrap import Resampling
from oodometer.store.store import open_store
from oodometer.store.tables import Accuracy, write_table
from oodometer.study import study_of

OPTIONS = RobustnessOptions(resampling=Resampling(draws=100))
MODELS = [f"m{at}" for at in range(6)]
ORIGINS = {name: Origin("standard") for name in MODELS[:5]} | {"m5": Origin("more data", "m2")}
CLEAN = np.array([0.55, 0.6, 0.66, 0.7, 0.75, 0.72])
LOST = {("fog", 1): 0.1, ("fog", 2): 0.2, ("snow", 1): 0.15}


def lower(accuracy: float, by: float) -> float:
    return float(expit(logit(accuracy) - 4 * by))


def table_of(columns: dict, models=MODELS, n=5000) -> list[Accuracy]:
    return [
        Accuracy(model, condition, round(float(value), 4), n, "t.csv")
        for condition, values in columns.items()
        for model, value in zip(models, values, strict=True)
        if value is not None
    ]


def corruptions(how: str) -> dict:
    return {f"imagenet-c.{name}.{at}_{how}": [lower(one, by) for one in CLEAN] for (name, at), by in LOST.items()}


@pytest.fixture
def store(tmp_path):
    return open_store(str(tmp_path / "table"), create=True)


def test_the_families_of_the_testbed_are_means(store):
    on_disk = corruptions("on-disk")
    on_disk["imagenet-c.snow.1_on-disk"][0] = None
    write_table(store, table_of({"val": CLEAN, **on_disk, **corruptions("in-memory")}))
    study = study_of(store, origins=ORIGINS, options=OPTIONS)
    assert [(one.name, one.kind) for one in study.shifts] == [
        ("imagenet-c_on-disk", "corruption"),
        ("imagenet-c_in-memory", "corruption"),
    ]
    disk, memory = study.shifts
    assert memory.shifted == tuple(corruptions("in-memory"))
    # reference: numpy's mean of the rounded accuracies of each model
    means = np.mean([np.round(values, 4) for values in corruptions("in-memory").values()], axis=0)
    assert [one.y.value for one in memory.points.models] == pytest.approx(means)
    assert [one.model for one in disk.points.models] == MODELS[1:]
    assert any("m0" in note for note in disk.notes)
    assert [one.family for one in study.conditions if one.condition != "val"] == ["imagenet-c_on-disk"] * 3 + [
        "imagenet-c_in-memory"
    ] * 3
    # the same by name on the command line
    assert memory.robustness == robustness(store, "imagenet-c_in-memory", x=["val"], origins=ORIGINS, options=OPTIONS)


def test_each_setting_stays_a_condition_with_its_interval(store):
    write_table(store, table_of({"val": CLEAN, **corruptions("on-disk")}))
    study = study_of(store, origins=ORIGINS, options=OPTIONS)
    by_score = {(row.model, row.condition): row.estimate for row in score(store, metrics=["top-1"]).rows}
    found = {(model, one.name): value for one in study.conditions for model, value in one.accuracies.items()}
    assert found == by_score
    assert len(found) == 4 * 6


def test_sets_of_some_classes_are_compared_with_the_clean_set_of_these(store):
    shifted = [lower(one, 0.1) for one in CLEAN]
    columns = {"val": CLEAN, "val_subsampled_class_1_8": CLEAN + 0.1, "val-on-objectnet-classes": CLEAN + 0.05}
    columns["imagenetv2-matched-frequency-format-val_subsampled_class_1_8"] = shifted
    columns |= {"objectnet-1.0-beta": shifted, "imagenet-sketch": shifted, "greyscale": shifted}
    write_table(store, table_of(columns))
    study = study_of(store, origins=ORIGINS, options=OPTIONS)
    assert {one.name.partition("-format")[0]: one.standard for one in study.shifts} == {
        "imagenetv2-matched-frequency": "val_subsampled_class_1_8",
        "objectnet-1.0-beta": "val-on-objectnet-classes",
        "imagenet-sketch": "val",
        "greyscale": "val",
    }
    assert study.conditions[0].name == "val"
    assert [one.name for one in study.models] == ["m4", "m5", "m3", "m2", "m1", "m0"]
    assert study.condition("val-on-objectnet-classes").accuracies["m0"].value == pytest.approx(0.6)


def test_frames_around_an_anchor_are_compared_with_the_anchors(store):
    columns = {"val-on-vid-robust-classes": CLEAN, "imagenet-vid-robust_pm0": CLEAN - 0.05}
    columns["imagenet-vid-robust_pm10"] = CLEAN - 0.2
    write_table(store, table_of(columns))
    study = study_of(store, origins=ORIGINS, options=OPTIONS)
    assert [(one.name, one.kind, one.standard) for one in study.shifts] == [
        ("imagenet-vid-robust_pm0", "dataset", "val-on-vid-robust-classes"),
        ("imagenet-vid-robust_pm10", "consistency", "imagenet-vid-robust_pm0"),
    ]


@pytest.fixture
def filtered(store):
    """Models below and above the one whose mistakes chose the images."""
    models = ["a", "b", "c", "resnet50", "d", "e", "f"]
    clean = np.array([0.6, 0.65, 0.7, 0.76, 0.8, 0.83, 0.86])
    shifted = [0.01, 0.015, 0.02, 0.0, 0.1, 0.2, 0.3]
    columns = {"val-on-imagenet-a-classes": clean, "val": clean, "imagenet-a": shifted, "imagenet-sketch": clean / 2}
    write_table(store, table_of(columns, models))
    return store, {name: Origin("standard") for name in models}


def test_the_line_of_imagenet_a_has_its_published_knee(filtered):
    store, origins = filtered
    study = study_of(store, origins=origins, options=OPTIONS)
    line = study.shift("imagenet-a").robustness
    assert (line.fitted.kind, line.fitted.knee, line.fitted.left_out) == ("two lines", 0.76, 1)
    said = replace(OPTIONS, knee="resnet50")
    x = ["val-on-imagenet-a-classes"]
    assert line == robustness(store, "imagenet-a", x=x, origins=origins, options=said)
    assert study.shift("imagenet-sketch").robustness.fitted.kind == "line"


def test_a_knee_of_the_user_s_is_that_of_every_shift_as_in_robustness(filtered):
    store, origins = filtered
    options = replace(OPTIONS, knee=0.78)
    study = study_of(store, origins=origins, options=options)
    for name in ("imagenet-a", "imagenet-sketch"):
        assert study.shift(name).robustness == robustness(store, name, origins=origins, options=options)
        assert study.shift(name).robustness.fitted.knee == 0.78
    study = study_of(store, origins=origins, options=replace(OPTIONS, knee=0.81))
    assert study.shift("imagenet-a").robustness is None
    assert "above the knee at 0.81: 2 models: a line needs at least 3" in study.shift("imagenet-a").why


def test_without_enough_models_for_a_knee_the_line_is_straight(store):
    models = ["a", "b", "c", "resnet50"]
    clean = np.array([0.6, 0.65, 0.7, 0.76])
    write_table(store, table_of({"val-on-imagenet-a-classes": clean, "imagenet-a": clean / 9}, models))
    (shift,) = study_of(store, origins={one: Origin("standard") for one in models}, options=OPTIONS).shifts
    assert shift.robustness.fitted.kind == "line"
    assert any(note.startswith("one line, not two with a knee at 0.76: ") for note in shift.notes)


def test_without_categories_there_is_no_line_and_it_is_said(store):
    write_table(store, table_of({"val": CLEAN, "imagenet-sketch": CLEAN - 0.2}))
    (shift,) = study_of(store, options=OPTIONS).shifts
    assert shift.robustness is None
    assert "no model of category 'standard'" in shift.why
    assert len(shift.points.models) == 6


def test_a_table_without_a_clean_set_has_no_shift(store):
    write_table(store, table_of({"imagenet-sketch": CLEAN}))
    study = study_of(store, origins=ORIGINS)
    assert study.shifts == ()
    assert "no shift of imagenet-sketch" in study.notes[0]


def test_two_tables_that_differ_are_noted(store):
    write_table(store, table_of({"val": CLEAN, "imagenet-sketch": CLEAN - 0.2}))
    write_table(store, [Accuracy("m0", "val", 0.9, 5000, "u.csv")])
    study = study_of(store, origins=ORIGINS, options=OPTIONS)
    assert any("two tables differ about m0 on val" in note for note in study.notes)
    assert any("two accuracies of m0 on val" in note for note in study.notes)


def test_without_n_there_is_no_interval(store):
    write_table(store, table_of({"val": CLEAN}, n=None))
    (condition,) = study_of(store).conditions
    assert {one.low for one in condition.accuracies.values()} == {None}


def test_mce_of_a_table_is_that_of_score_and_lacks_what_is_lacking(store):
    columns = {
        f"imagenet-c.{name}.{at}_on-disk": [None if (name, at, model) == ("fog", 3, 0) else 0.5 for model in range(6)]
        for name in COMMON
        for at in range(1, 6)
    }
    write_table(store, table_of({"val": CLEAN, **columns}))
    study = study_of(store, origins=ORIGINS, options=OPTIONS)
    found = {one.model: one.estimate for one in study.scores if one.metric == "mce"}
    assert set(found) == set(MODELS[1:])
    assert found == {row.model: row.estimate for row in score(store, metrics=["mce"]).rows}
    # reference: 5 x 0.5 over the sum of AlexNet's published errors, each corruption
    by, clean = alexnet().errors.sum(axis=1), 1 - 0.6
    assert found["m1"].value == pytest.approx(np.mean(2.5 / by))
    relative = {one.model: one.estimate.value for one in study.scores if one.metric == "relative-mce"}
    assert relative["m1"] == pytest.approx(np.mean((2.5 - 5 * clean) / (by - 5 * alexnet().clean)))


def test_all_of_it_is_plain_values(store):
    write_table(store, table_of({"val": CLEAN, "imagenet-sketch": CLEAN - 0.2}))
    study = study_of(store, origins=ORIGINS, options=OPTIONS)
    plain = json.loads(json.dumps(study.as_json(), allow_nan=False))
    assert plain["models"][1] == {"name": "m5", "category": "more data", "parent": "m2", "digest": ""}
    assert plain["conditions"][0]["accuracies"]["m0"]["value"] == 0.55
    (shift,) = plain["shifts"]
    assert (shift["name"], shift["standard"], shift["natural"]) == ("imagenet-sketch", "val", True)
    by_model = {one["model"]: one for one in shift["robustness"]["models"]}
    own = study.shifts[0].of_model["m5"]
    assert by_model["m5"]["rho"]["value"] == own.rho.value
    assert by_model["m5"]["tau"]["value"] == pytest.approx(0.52 - 0.46)
    assert plain["sources"] == ["t.csv"]
