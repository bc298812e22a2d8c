"""Accuracy per class: counted in a plain loop, named by the data."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest

from oodometer.analysis.metric_request import ScoreOptions
from oodometer.analysis.score import score
from oodometer.core.errors import OodometerError
from oodometer.core.labels import LabelSpace
from oodometer.core.predictions import from_logits

ZOO = LabelSpace("zoo", ("ant", "cat", "dog"))


def per_class(scores) -> dict[str, tuple[float, int]]:
    return {row.metric: (row.estimate.value, row.estimate.n) for row in scores.rows}


def test_counts_of_a_plain_loop_with_intervals_of_scipy(filled, make_dataset):
    rng = np.random.default_rng(0)
    labels, ranks = rng.integers(-1, 3, 90), rng.integers(0, 2, 90)
    filled.add(make_dataset(90, labels=labels, space=ZOO), ranks)
    found = score(filled.store, metrics=["per-class"], interval="wilson", level=0.9)
    assert len(found.rows) == 3
    for index, name in enumerate(ZOO.classes):
        of_class = [rank == 0 for label, rank in zip(labels, ranks, strict=True) if label == index]
        (row,) = [row for row in found.rows if row.metric == f"per-class[{name}]"]
        bounds = binomtest(sum(of_class), len(of_class)).proportion_ci(0.9, "wilson")
        assert (row.estimate.value, row.estimate.n) == (sum(of_class) / len(of_class), len(of_class))
        assert (row.estimate.low, row.estimate.high) == pytest.approx((bounds.low, bounds.high), abs=1e-9)
        assert row.convention == "top-1 of the images of this class"


def test_the_data_name_the_classes_whatever_order_the_model_has(filled, make_dataset):
    data = make_dataset(6, labels=[0, 0, 1, 1, 2, -1], space=ZOO)
    place = np.array([2, 0, 1])  # the model's outputs are cat, dog, ant
    labels = np.where(data.labels >= 0, place[data.labels], -1)
    answers = np.array([2, 2, 0, 1, 0, 0])  # ant, ant, cat, dog, cat, cat
    filled.put(data, from_logits(np.eye(3)[answers], labels, np.arange(6)))
    assert per_class(score(filled.store, metrics=["per-class"])) == {
        "per-class[cat]": (0.5, 2),
        "per-class[dog]": (0.0, 1),
        "per-class[ant]": (1.0, 2),
    }


def test_a_class_of_several_of_the_data_goes_by_its_number(filled, make_dataset):
    data = make_dataset(4, labels=[0, 1, 2, 2], space=ZOO)
    pets = np.array([0, 1, 1, 1])  # ant; and cat or dog
    filled.put(data, from_logits(np.eye(2)[[0, 1, 0, 1]], pets, np.arange(4)), n_classes=2, label_map="pets")
    assert per_class(score(filled.store, metrics=["per-class"])) == {
        "per-class[ant]": (1.0, 1),
        "per-class[1]": (2 / 3, 3),
    }


def test_missing_images_and_unfinished_cells_are_told(filled, make_dataset):
    filled.add(make_dataset(10, space=ZOO), [0] * 7, positions=range(7), finished=False)
    found = score(filled.store, metrics=["per-class"])
    assert {(row.state, row.missing) for row in found.rows} == {("unfinished", 3)}
    assert str(found).splitlines()[0].endswith("(unfinished: 3 images to go)")


def test_groups_are_drawn_together(filled, make_dataset):
    videos = np.array(["a"] * 10 + ["b"] * 10 + ["c"] * 10)
    data = make_dataset(30, labels=[0] * 20 + [1] * 10, space=ZOO, columns={"video": videos})
    filled.add(data, [0] * 10 + [1] * 10 + [0] * 5 + [1] * 5)
    options = ScoreOptions(by="video", draws=500)
    two, one = score(filled.store, metrics=["per-class"], options=options).rows
    # class ant: video a all right, b all wrong: resamples of two videos are right in 0, a half or all
    assert (two.estimate.low, two.estimate.value, two.estimate.high) == (0.0, 0.5, 1.0)
    assert two.estimate.interval == "cluster bootstrap 95%"
    assert (one.estimate.value, one.estimate.low, one.estimate.n) == (0.5, None, 10)
    assert one.estimate.interval == "none: all images are in one cluster"


def test_a_bootstrap_of_images_is_not_for_counts(filled, make_dataset):
    filled.add(make_dataset(30, space=ZOO), [0] * 30)
    for interval in ("bootstrap", "bca"):
        found = score(filled.store, metrics=["per-class"], interval=interval)
        assert {row.estimate.interval for row in found.rows} == {"clopper-pearson 95%"}


def test_cells_without_labels_are_passed_over(filled, make_dataset):
    filled.add(make_dataset(4, labels=[-1] * 4, space=ZOO, name="new"), [0] * 4)
    with pytest.raises(OodometerError, match=r"^per-class: mine: no labelled images"):
        score(filled.store, metrics=["per-class"])
    filled.add(make_dataset(4, space=ZOO), [0] * 4)
    assert {row.data for row in score(filled.store, metrics=["per-class"]).rows} == {"val"}
