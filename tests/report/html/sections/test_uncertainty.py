"""The section about uncertainty: its numbers are those of ``score``; scikit-learn and numpy are the reference."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

from oodometer.analysis.score import score
from oodometer.core.predictions import from_logits, from_top_classes, with_logits
from oodometer.document.numbers import in_words
from oodometer.document.section import Plot, Words
from oodometer.document.table import Table
from oodometer.metrics.ood_detection import SCORES
from oodometer.report.html.sections.uncertainty import WORDS, section
from oodometer.store.index import look
from oodometer.store.tables import parse_table, write_table
from oodometer.study import confidences, study_of
from oodometer.study import scores as numbers


def rows_for(data, seed: int, scale: float = 2.0, gain: float = 2.0):
    """As sure as random logits are, which lean to the true class where there is one."""
    logits = np.random.default_rng(seed).normal(0, scale, (len(data), 10))
    logits += gain * np.eye(11)[data.labels, :10]
    return from_logits(logits, data.labels, np.arange(len(data)))


def put_all(filled, data, models=("one", "two"), condition="clean", gain=2.0) -> None:
    for seed, model in enumerate(models):
        filled.put(data, rows_for(data, seed + 10 * len(condition), gain=gain), model=model, condition=condition)


@pytest.fixture
def shifted(filled, make_dataset):
    """Two models on 300 clean images, and on 250 others."""
    put_all(filled, make_dataset(300))
    put_all(filled, make_dataset(250, name="other", ids=[f"o{at}" for at in range(250)]), condition="v2", gain=1.0)
    return filled.store


def part(found, name: str):
    return next(one for one in found.parts if getattr(one, "id", "") == name)


def notes(found) -> str:
    return " ".join(line for one in found.parts if isinstance(one, Words) for line in one.lines)


def by_place(store, metric: str) -> dict:
    return {(row.model, row.condition): row.estimate for row in score(store, metrics=[metric]).rows}


@pytest.mark.parametrize(
    ("metric", "column"),
    [("top-1", 3), ("ece", 5), ("rms-calibration", 6), ("aurra", 7), ("smooth-ece", 8), ("augrc", 9), ("risk@80%", 10)],
)
def test_the_table_has_the_numbers_of_score(shifted, metric, column):
    table = part(section(study_of(shifted)), "calibration")
    assert table.columns[column].title in {"ECE", "RMS", "AURRA", "smooth ECE", "AUGRC", "risk at 80 %", "accuracy"}
    found = {(row[0], row[1].partition(" (")[0]): row[column] for row in table.rows}
    assert found == by_place(shifted, metric)
    assert len(found) == 4


def test_the_mean_confidence_is_that_of_the_rows(shifted):
    table = part(section(study_of(shifted)), "calibration")
    (cell,) = [one for one in look(shifted).cells if (one.model_name, one.condition_name) == ("two", "v2")]
    (value,) = [row[4].value for row in table.rows if row[:2] == ("two", "v2 (other)")]
    assert value == pytest.approx(float(np.mean(shifted.read(cell).confidence.astype(np.float64))))  # numpy


@pytest.mark.parametrize(
    ("name", "metric", "kept"), [("reliability", "reliability", "bins"), ("response", "response-curve", "curve")]
)
def test_both_sides_of_each_model_are_drawn_with_the_numbers_of_score(shifted, name, metric, kept):
    study = study_of(shifted)
    data = part(section(study), name).data
    assert [one["name"] for one in data["models"]] == [one.name for one in study.models]
    assert data["shifts"] == [{"name": "v2", "clean": "clean", "shifted": "v2"}]
    said = score(shifted, metrics=[metric]).rows
    for at, model in enumerate(data["models"]):
        for side, condition in enumerate(("clean", "v2")):
            drawn = data["answers"][data["pairs"][0][at][side]]
            expected = [
                (float(row.metric.partition("[")[2].rstrip("]")), row.estimate)
                for row in said
                if (row.model, row.condition) == (model["name"], condition)
            ]
            assert drawn["n"] == {"clean": 300, "v2": 250}[condition]
            assert [one[0] for one in drawn[kept]] == pytest.approx([place for place, _ in expected], abs=1e-4)
            assert [one[1:4] for one in drawn[kept]] == [[one.value, one.low, one.high] for _, one in expected]
            if kept == "bins":
                assert [one[4] for one in drawn[kept]] == [one.n for _, one in expected]


def test_the_numbers_of_the_response_curve_are_also_a_table(shifted):
    plot = part(section(study_of(shifted)), "response")
    assert isinstance(plot, Plot)
    assert isinstance(plot.table, Table)
    assert len(plot.table.rows) == 4 * 20
    (all_of_it,) = [row[3] for row in plot.table.rows if row[:3] == ("one", "v2 (other)", 1.0)]
    assert all_of_it == by_place(shifted, "top-1")["one", "v2"]


def test_the_lead_tells_the_range_and_the_best_model(shifted):
    study = study_of(shifted)
    lead = " ".join(section(study).lead)
    errors = [one.value for (_, condition), one in by_place(shifted, "ece").items() if condition == "v2"]
    assert f"On v2 the expected calibration error is {100 * min(errors):.1f} % to {100 * max(errors):.1f} %." in lead
    accuracy = by_place(shifted, "top-1")[study.models[0].name, "v2"]
    assert f"and right on {in_words(accuracy, 'percent')} of 250 images." in lead
    sure = 0
    for cell in look(shifted).cells:
        rows = shifted.read(cell)
        sure += cell.condition_name == "v2" and rows.confidence.mean() > (rows.rank == 0).mean()
    assert f"{sure} of 2 models are surer than they are right there." in lead


def test_conventions_are_told(shifted):
    found = section(study_of(shifted))
    assert "15 bins of equal width" in part(found, "reliability").caption
    assert "clopper-pearson 95 %" in part(found, "reliability").caption
    said = part(found, "calibration").caption
    assert "15 bins of equal width, L1. RMS: bins of equal mass, 100 images each" in said
    assert "of ECE and RMS inverted test 95%, of AURRA bootstrap 95% over images (1000 draws, seed 0)" in said


@pytest.mark.parametrize("keep", [True, False])
def test_what_was_promised_and_what_is_held(filled, make_dataset, keep):
    data = make_dataset(300)
    other = make_dataset(250, name="other", ids=[f"o{at}" for at in range(250)])
    for dataset, condition, gain in ((data, "clean", 4.0), (other, "v2", 1.0)):
        logits = np.random.default_rng(len(condition)).normal(0, 2, (len(dataset), 10))
        logits += gain * np.eye(10)[dataset.labels]
        rows = from_logits(logits, dataset.labels, np.arange(len(dataset)))
        filled.put(dataset, with_logits(rows, logits) if keep else rows, model="one", condition=condition)
    found = section(study_of(filled.store))
    classwise = by_place(filled.store, "classwise-ece") if keep else {}
    for row in part(found, "calibration").rows:
        assert row[11] == (classwise["one", row[1].partition(" (")[0]] if keep else None)
    table = part(found, "prediction-sets")
    assert [column.title for column in table.columns][3:] == ["n", "coverage", "short by", "set size"]
    rows = {row[1].partition(" (")[0]: row for row in table.rows}
    assert [(name, row[2], row[3]) for name, row in rows.items()] == [("clean", 150, 150), ("v2", 150, 250)]
    coverage = by_place(filled.store, "conformal-coverage")
    sizes = by_place(filled.store, "conformal-set-size") if keep else {}
    for condition, row in rows.items():
        assert row[4] == coverage["one", condition]
        assert row[5].value == pytest.approx(0.9 - row[4].value)
        assert (row[5].low, row[5].high) == pytest.approx((0.9 - row[4].high, 0.9 - row[4].low))
        assert row[6] == (sizes["one", condition] if keep else None)
    short = rows["v2"][4]
    assert short.high < 0.9  # the promise is broken
    assert f"on v2 (other) it is {in_words(short, 'percent')}" in table.caption


def test_sets_that_nothing_is_promised_for(filled, make_dataset):
    put_all(filled, make_dataset(14))
    found = section(study_of(filled.store))
    assert not [one for one in found.parts if getattr(one, "id", "") == "prediction-sets"]
    assert "Sets of classes: 7 calibration images: to promise 90 % takes 9 or more, or a larger alpha (" in notes(found)


def test_one_condition_stands_for_a_family(filled, make_dataset):
    data = make_dataset(60)
    put_all(filled, data)
    for severity, gain in ((1, 4.0), (2, 2.0), (3, 0.0)):
        put_all(filled, data, condition=f"mine-c/fog/{severity}", gain=gain)
    found = section(study_of(filled.store))
    # severity 2 lies between the two others
    assert part(found, "reliability").data["shifts"] == [
        {"name": "mine-c/fog", "clean": "clean", "shifted": "mine-c/fog/2"}
    ]
    assert "mine-c/fog is 3 conditions; mine-c/fog/2 stands for them" in notes(found)


def test_without_a_shift_the_clean_side_is_shown(filled, make_dataset):
    put_all(filled, make_dataset(60))
    data = part(section(study_of(filled.store)), "reliability").data
    assert data["shifts"] == [{"name": "clean", "clean": "clean", "shifted": None}]
    assert [data["answers"][pair[0]]["n"] for pair in data["pairs"][0]] == [60, 60]
    assert [pair[1] for pair in data["pairs"][0]] == [None, None]


def test_of_many_models_some_are_shown_and_the_others_named(filled, make_dataset, monkeypatch):
    monkeypatch.setattr(confidences, "MOST_MODELS", 3)
    data = make_dataset(60)
    for at in range(5):
        filled.put(data, rows_for(data, at, gain=6.0 - at), model=f"m{at}")
    study = study_of(filled.store)
    order = [model.name for model in study.models]
    found = section(study)
    assert [one["name"] for one in part(found, "response").data["models"]] == [order[0], order[2], order[4]]
    assert (
        f"3 of 5 models are shown, evenly from the best to the worst on clean; not shown: {order[1]} and {order[3]}."
        in notes(found)
    )


def test_of_very_many_images_fewer_draws_are_made_and_told(shifted, monkeypatch):
    monkeypatch.setattr(numbers, "MOST_DRAWN", 1100 * 200)
    table = part(section(study_of(shifted)), "calibration")
    assert "200 draws" in table.caption


def test_answers_without_confidences_are_told(filled, make_dataset):
    data = make_dataset(30)
    rows = from_top_classes(np.zeros((30, 1), dtype=int), data.labels, np.arange(30))
    filled.put(data, rows, model="classes", known_classes=1)
    found = section(study_of(filled.store))
    assert found.lead[0] == (
        "Nothing is known of the models' confidences: only their accuracies or best classes are known."
    )
    assert found.parts == ()
    filled.put(data, rows_for(data, 0), model="sure")
    found = section(study_of(filled.store))
    assert [one["name"] for one in part(found, "reliability").data["models"]] == ["sure"]
    assert "Only classes or accuracies are known of classes, no confidences." in notes(found)


def test_a_table_alone_has_no_confidences(filled):
    write_table(filled.store, parse_table("model,val,v2\na,76,60\nb,70,50\n", source="t.csv", n=1000))
    assert section(study_of(filled.store)).parts == ()


@pytest.fixture
def with_outside(filled, make_dataset):
    """A model on 40 clean images, and on 15 of no class."""
    clean, outside = make_dataset(40), make_dataset(15, labels=[-1] * 15, name="o", ids=[f"o{at}" for at in range(15)])
    rows = rows_for(clean, 0), rows_for(outside, 1)
    filled.put(clean, rows[0])
    filled.put(outside, rows[1], condition="imagenet-o")
    return filled.store, *rows


def test_images_of_no_class_are_told_apart_as_scikit_learn_does(with_outside):
    store, clean, outside = with_outside
    found = section(study_of(store))
    is_ood = np.repeat([False, True], [40, 15])
    rows = {row[3]: row for row in part(found, "ood").rows}
    (drawn,) = part(found, "ood-histograms").data["found"]
    for name, (column, sign) in SCORES.items():
        values = sign * np.concatenate([getattr(clean, column), getattr(outside, column)])
        assert rows[name][:3] == ("mine", "imagenet-o", "clean")
        assert rows[name][4].value == pytest.approx(roc_auc_score(is_ood, values))
        assert rows[name][5].value == pytest.approx(average_precision_score(is_ood, values))
        assert drawn["measures"][f"auroc[{name}]"][0] == rows[name][4].value
    assert "15 OOD images are positive, 40 of clean negative; chance is 0.2727" in part(found, "ood").caption


def test_histograms_count_every_image_where_it_lies(with_outside):
    store, clean, outside = with_outside
    (drawn,) = part(section(study_of(store)), "ood-histograms").data["found"]
    for name, (column, _) in SCORES.items():
        histogram = drawn["histograms"][name]
        edges = histogram["edges"]
        for kind, rows in (("inside", clean), ("outside", outside)):
            expected = [0] * 40
            for value in getattr(rows, column).astype(float):
                expected[min(sum(value >= edge for edge in edges[1:]), 39)] += 1
            assert histogram[kind] == expected


def test_the_end_that_means_outside_is_that_of_the_sign():
    assert {name: WORDS[name][1] for name in SCORES} == {
        name: "high" if sign > 0 else "low" for name, (_, sign) in SCORES.items()
    }


def test_images_without_labels_seen_as_they_are_may_be_of_the_classes(filled, make_dataset):
    clean, outside = make_dataset(40), make_dataset(15, labels=[-1] * 15, name="o", ids=[f"o{at}" for at in range(15)])
    filled.put(clean, rows_for(clean, 0))
    filled.put(outside, rows_for(outside, 1))
    assert "ood" not in [getattr(one, "id", "") for one in section(study_of(filled.store)).parts]
    filled.put(outside, rows_for(outside, 1), condition="textures")  # as --ood does
    assert {row[1] for row in part(section(study_of(filled.store)), "ood").rows} == {"textures"}


def test_every_set_of_no_class_is_told_with_its_size(with_outside, filled, make_dataset):
    store, *_ = with_outside
    more = make_dataset(25, labels=[-1] * 25, name="p", ids=[f"p{at}" for at in range(25)])
    filled.put(more, rows_for(more, 2), condition="textures")
    for model in ("two", "three"):
        clean = make_dataset(40)
        filled.put(clean, rows_for(clean, 3), model=model)
        outside = make_dataset(15, labels=[-1] * 15, name="o", ids=[f"o{at}" for at in range(15)])
        filled.put(outside, rows_for(outside, 4), model=model, condition="imagenet-o")
    caption = part(section(study_of(store)), "ood").caption
    assert "15 OOD images are positive" in caption
    assert "25 OOD images are positive" in caption


def test_what_can_not_be_told_apart_is_noted(filled, make_dataset):
    clean, outside = make_dataset(40), make_dataset(15, labels=[-1] * 15, name="o")
    filled.put(clean, rows_for(clean, 0))
    filled.put(outside, rows_for(outside, 1), condition="imagenet-o", label_map="200 classes")
    found = section(study_of(filled.store))
    assert "mine on imagenet-o is left out" in notes(found)
    assert "has no 'clean' over the same classes" in notes(found)


def test_of_one_model_no_range_is_told(filled, make_dataset):
    put_all(filled, make_dataset(60), models=("one",))
    put_all(filled, make_dataset(60), models=("one",), condition="v2")
    own = by_place(filled.store, "ece")["one", "v2"]
    assert (
        f"On v2 the expected calibration error is {in_words(own, 'percent')}. one is "
        in section(study_of(filled.store)).lead[1]
    )
