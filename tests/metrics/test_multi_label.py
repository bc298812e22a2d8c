"""Any of the labels counts: against a plain loop, and files that cannot be used."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score

from oodometer.core.errors import DataError, OodometerError
from oodometer.metrics.multi_label import any_label_top_1, any_label_top_5, label_sets_for, read_label_sets

quick = settings(deadline=None, derandomize=True, max_examples=100)
images = st.lists(
    st.tuples(st.permutations(range(8)).map(lambda order: order[:5]), st.lists(st.integers(0, 8), max_size=4)),
    min_size=1,
    max_size=25,
)


def slow_accuracy(answers: list[list[int]], label_sets: list[list[int]]) -> float:
    """Reference: the mean over the images that have labels of "one of the answers is one of the labels"."""
    hits = [any(one in labels for one in answer) for answer, labels in zip(answers, label_sets, strict=True) if labels]
    return sum(hits) / len(hits)


@quick
@given(images.filter(lambda rows: any(labels for _, labels in rows)))
def test_both_agree_with_a_plain_loop(rows):
    top5, sets = [list(one) for one, _ in rows], [labels for _, labels in rows]
    first, five = any_label_top_1(np.array(top5)[:, 0], sets), any_label_top_5(np.array(top5), sets)
    assert first.accuracy == pytest.approx(slow_accuracy([one[:1] for one in top5], sets))
    assert five.accuracy == pytest.approx(slow_accuracy(top5, sets))
    assert first.n_left_out == five.n_left_out == sum(not labels for labels in sets)
    assert len(first.right) + first.n_left_out == len(rows)


def test_with_one_label_each_it_is_plain_accuracy():
    rng = np.random.default_rng(0)
    labels, predicted = rng.integers(0, 4, 100), rng.integers(0, 4, 100)
    found = any_label_top_1(predicted, [(int(one),) for one in labels])
    assert found.accuracy == accuracy_score(labels, predicted)  # reference: scikit-learn
    assert found.n_left_out == 0


def test_a_class_beyond_all_labels_is_not_taken_for_one_of_the_next_image():
    # With pairs numbered by the labels alone, class 5 of image 0 would be class 0 of image 1.
    assert any_label_top_1(np.array([5, 1]), [(4,), (0,)]).right.tolist() == [False, False]


def test_an_unknown_answer_is_wrong():
    # Numbered as a pair, class -1 of image 1 would be the last class of image 0.
    assert any_label_top_1(np.array([3, -1]), [(9,), (0,)]).right.tolist() == [False, False]


@pytest.mark.parametrize(
    ("predictions", "sets", "message"),
    [
        (np.array([1, 2]), [(1,)], "2 predictions and 1 label sets"),
        (np.array([1, 2]), [(), ()], "no image has an acceptable label"),
        (np.array([], int), [], "no image has an acceptable label"),
        (np.array([1]), [(-1,)], "count from 0"),
        (np.zeros((1, 5), int), [(1,)], "shape"),
    ],
)
def test_what_cannot_be_scored_is_an_error(predictions, sets, message):
    with pytest.raises(OodometerError, match=message):
        any_label_top_1(predictions, sets)


def test_top_5_needs_five_known_classes():
    with pytest.raises(OodometerError, match="need five"):
        any_label_top_5(np.zeros((1, 3), int), [(1,)])
    with pytest.raises(OodometerError, match="fewer than five"):
        any_label_top_5(np.array([[1, 2, 3, -1, -1]]), [(1,)])


def test_the_published_list_is_read_by_validation_number(tmp_path):
    file = tmp_path / "real.json"
    file.write_text("[[], [970, 795], [230]]")
    sets = read_label_sets(file)
    assert sets == {
        "ILSVRC2012_val_00000001": (),
        "ILSVRC2012_val_00000002": (970, 795),
        "ILSVRC2012_val_00000003": (230,),
    }
    ids = ["val/n02110/ILSVRC2012_val_00000003.JPEG", "ILSVRC2012_val_00000001", r"n0\ILSVRC2012_val_00000002.jpeg"]
    assert label_sets_for(ids, sets) == [(230,), (), (970, 795)]


def test_an_object_is_read_by_id(tmp_path):
    file = tmp_path / "own.json"
    file.write_text(json.dumps({"cat/1.png": [0, 2], "dog/1.png": [1]}))
    sets = read_label_sets(file, n_classes=3)
    assert label_sets_for(["dog/1.png", "cat/1.png"], sets) == [(1,), (0, 2)]
    with pytest.raises(DataError, match=r"may be cat/1\.png or dog/1\.png"):
        label_sets_for(["elsewhere/1.png"], sets)


def test_a_dot_in_an_id_is_no_suffix():
    assert label_sets_for(["a/image.v2"], {"image.v2": (1,), "image.v3": (2,)}) == [(1,)]


def test_images_without_an_entry_are_named():
    with pytest.raises(DataError, match="2 of 3 images have no entry in the label sets; the first is b"):
        label_sets_for(["a", "b", "c"], {"a": (1,)})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[1], [2", "not a JSON file"),
        ("", "not a JSON file"),
        ("[" * 100_000, "not a JSON file"),
        ("\xff\xfe", "not a JSON file"),
        ('{"a": [1], "a": [2]}', "a stands there twice"),
        ("3", "expected a list of label lists"),
        ("{}", "expected a list of label lists"),
        ("[]", "expected a list of label lists"),
        ("[[1], 3]", "image ILSVRC2012_val_00000002: expected a list of labels"),
        ('{"a": [1, "2"]}', "image a: '2' is no label"),
        ('{"a": [true]}', "'True' is no label"),
        ('{"a": [1.0]}', "'1.0' is no label"),
        ('{"a": [NaN]}', "'nan' is no label"),
        ('{"a": [10]}', r"label 10 is out of range \(0 to 9\)"),
        ('{"a": [-1]}', "label -1 is out of range"),
    ],
)
def test_files_that_cannot_be_used_say_why(tmp_path, text, message):
    file = tmp_path / "labels.json"
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(DataError, match=message):
        read_label_sets(file, n_classes=10)


def test_a_missing_file_is_an_error(tmp_path):
    with pytest.raises(DataError, match="can't be read"):
        read_label_sets(tmp_path / "none.json")
