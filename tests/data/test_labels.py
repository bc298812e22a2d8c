import numpy as np
import pytest

from oodometer.core.errors import DataError
from oodometer.core.labels import numbered
from oodometer.data.imagenet import imagenet
from oodometer.data.labels import parse_label_sets, parse_labels, space_of


def test_numbers_are_numbers_however_they_are_written():
    for values in ([0, 11, 2], ["0", "11", "2"], ["00", " 11 ", "02"], [np.int64(0), np.uint8(11), 2]):
        labels, space = parse_labels(values, name="x")
        assert labels.tolist() == [0, 11, 2]
        assert labels.dtype == np.int64
        assert space == numbered(12)


def test_wordnet_ids_are_imagenet_even_if_few():
    labels, space = parse_labels(["n02099601", "n01440764"], name="x")
    assert labels.tolist() == [207, 0]
    assert space is imagenet()


def test_unknown_wordnet_ids_are_names():
    assert space_of(["n01440764", "n99999999"], name="x")[0].name == "x"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1, None], "x: row 2 has no label; give every image a label, or none at all"),
        (["cat", ""], "x: row 2 has no label; give every image a label, or none at all"),
        ([1, 2.5], "x: row 2 has the label 2.5; labels are whole numbers from 0 on, or class names"),
        ([True, 0], "x: row 1 has the label True; labels are whole numbers from 0 on, or class names"),
        (["0", "-1"], "x: row 2 has the label -1; labels are whole numbers from 0 on, or class names"),
        (["20240101"], "x: class number 20240101 is too large; name the classes by words instead"),
    ],
)
def test_a_bad_label_is_one_line(error_of, values, message):
    assert error_of(lambda: parse_labels(values, name="x")) == message


def test_several_labels_of_an_image_as_text_numbers_or_lists():
    for values in (["3|07", " 7 ", "0 | 3|3"], [[3, 7], [7], [0, 3, 3]], [np.array([3, 7]), 7, ["0", "3"]]):
        first, others, space = parse_label_sets(values, name="x")
        assert (first.tolist(), others, space) == ([3, 7, 0], ((7,), (), (3,)), numbered(8))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["1", ""], "x: row 2 has no labels; write them as 3|7"),
        (["1", None], "x: row 2 has no labels; write them as 3|7"),
        ([[]], "x: row 1 has no labels; write them as 3|7"),
        (["1||2"], "x: row 1 has an empty label; write them as 3|7"),
        (["1|-2"], "x: row 1 has the label -2; labels are whole numbers from 0 on, or class names"),
    ],
)
def test_sets_of_labels_that_mean_nothing(values, message):
    with pytest.raises(DataError) as caught:
        parse_label_sets(values, name="x")
    assert str(caught.value) == message
