"""Whose classes lead where: against scikit-learn's matrix, scipy's intervals, and counts by hand."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import confusion_matrix

import oodometer as odo
from oodometer.core.labels import LabelSpace, numbered
from oodometer.core.predictions import from_logits

PETS = LabelSpace("pets", ("cat", "dog", "eel"))


def put(filled, data, answers, **about):
    logits = np.eye(len(data.space))[np.asarray(answers)]
    return filled.put(data, from_logits(logits, data.labels, np.arange(len(data))), **about)


def test_the_matrix_is_that_of_scikit_learn(filled, make_dataset):
    rng = np.random.default_rng(0)
    labels, answers = rng.integers(-1, 7, 400), rng.integers(0, 9, 400)
    labels[:20], answers[labels == 3] = 7, 3
    put(filled, make_dataset(400, labels=labels, k=9), answers)
    found = odo.confusion(filled.store, "mine")
    known = labels >= 0
    np.testing.assert_array_equal(found.counts(), confusion_matrix(labels[known], answers[known]))
    assert found.n == found.n_answers == known.sum()
    assert found.n_right == (labels == answers).sum()


def test_shares_have_the_exact_interval_of_scipy_and_the_images_behind_them(filled, make_dataset):
    data = make_dataset(10, labels=[0] * 6 + [1] * 4, space=PETS)
    put(filled, data, [0, 1, 1, 2, 0, 1, 1, 1, 0, 1])
    found = odo.confusion(filled.store, "mine", "clean")
    first, *others = found.confusions
    assert (first.truth, first.answer, first.count) == ("cat", "dog", 3)
    assert first.images == tuple(data.ids[place] for place in (1, 2, 5))
    exact = stats.binomtest(3, 6).proportion_ci(0.95, "exact")
    assert (first.share.value, first.share.n) == (0.5, 6)
    assert (first.share.low, first.share.high) == pytest.approx((exact.low, exact.high), abs=1e-9)
    # Both once; one of four dogs is more than one of six cats.
    assert [(cell.truth, cell.answer) for cell in others] == [("dog", "cat"), ("cat", "eel")]
    assert found.table(1).splitlines()[0] == "mine on clean (val): 5 of 10 answers right, 10 images"
    assert found.table(1).endswith("2 more are confused")
    assert json.loads(json.dumps(found.as_json(1)))["confusions"][0]["images"] == list(first.images)


def test_of_a_thousand_classes_only_what_occurs_is_kept_and_has_a_name(filled, make_dataset):
    data = make_dataset(3, labels=[207, 511, 609], space=numbered(1000))
    put(filled, data, [207, 511, 511])
    found = odo.confusion(filled.store, "mine")
    assert found.classes == ("golden retriever", "convertible", "jeep")  # imagenet_classes.csv
    assert [(cell.truth, cell.answer) for cell in found.confusions] == [("jeep", "convertible")]
    assert found.counts().tolist() == [[1, 0, 0], [0, 1, 0], [0, 1, 0]]


@pytest.fixture
def family(filled, make_dataset):
    """A corruption at two severities, of six cats."""
    data = make_dataset(6, labels=[0] * 6, space=PETS)
    put(filled, data, [0] * 6)
    for severity, said in ((1, [0, 0, 0, 1, 1, 2]), (2, [0, 1, 0, 1, 1, 0])):
        name = f"imagenet-c/fog/{severity}"
        put(filled, data, said, condition=name, transform={"name": name})
    return filled.store


def test_under_a_family_the_images_are_the_units(family):
    found = odo.confusion(family, "mine", "imagenet-c/fog")
    assert found.conditions == ("imagenet-c/fog/1", "imagenet-c/fog/2")
    assert (found.n, found.n_answers) == (6, 12)
    first = found.confusions[0]
    assert (first.truth, first.answer, first.count) == ("cat", "dog", 5)
    shares = np.array([0, 0.5, 0, 1, 1, 0])  # of the two conditions, for each image
    low, high = stats.t.interval(0.95, 5, shares.mean(), shares.std(ddof=1) / np.sqrt(6))
    assert first.share.value == pytest.approx(shares.mean())
    assert (first.share.low, first.share.high) == pytest.approx((max(low, 0), min(high, 1)))
    assert first.images == ("0001", "0003", "0004")
    assert first.seen_in == ("imagenet-c/fog/2", "imagenet-c/fog/1", "imagenet-c/fog/1")
    assert odo.confusion(family, "mine", "imagenet-c/fog/2").confusions[0].count == 3


def test_what_can_not_be_told_is_said(filled, make_dataset, tmp_path):
    put(filled, make_dataset(3, labels=[0, 1, 2], space=PETS), [0, 1, 2])
    assert odo.confusion(filled.store, "mine").table().endswith("nothing is confused")
    with pytest.raises(odo.UsageError, match="no predictions of a model named 'other'"):
        odo.confusion(filled.store, "other")
    with pytest.raises(odo.UsageError, match="nothing was measured on 'sketch'"):
        odo.confusion(filled.store, "mine", "sketch")
    put(filled, make_dataset(2, labels=[-1, -1], ids="ab", name="new", space=PETS), [0, 1], condition="new")
    with pytest.raises(odo.OodometerError, match="no labelled images"):
        odo.confusion(filled.store, "mine", "new")
    put(filled, make_dataset(2, labels=[0, 1], ids="cd", name="more", space=PETS), [0, 1])
    with pytest.raises(odo.UsageError, match="clean of several data sets; say which: clean@more, clean@val"):
        odo.confusion(filled.store, "mine")
    assert odo.confusion(filled.store, "mine", "clean@more").n == 2
