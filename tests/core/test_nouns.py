"""Views, inputs, cards, data sets, conditions, shifts, models: what they refuse, and what their digests cover."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oodometer.core.condition import Shift, clean
from oodometer.core.digests import content_digest, digest_of
from oodometer.core.errors import DataError, ModelError, UsageError
from oodometer.core.labels import LabelSpace, mask, numbered
from oodometer.core.model import Card, Compute, Input, Model, batches, checked_logits
from oodometer.core.preprocessing import Geometry
from oodometer.core.stored_answers import StoredAnswers

quick = settings(deadline=None, derandomize=True, max_examples=60)


def message_of(kind: type[Exception], make) -> str:
    with pytest.raises(kind) as caught:
        make()
    return str(caught.value)


# Views, inputs, cards, compute


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Geometry(0, 5), "an input of 5x0 pixels: both sides must be at least 1"),
        (
            lambda: Geometry(224, 256, resize=240),
            "resize 240 is smaller than the crop 256x224: the shorter side must be at least as long as the crop",
        ),
        (
            lambda: Geometry(2, 2, interpolation="cubic"),
            "no interpolation named 'cubic'; known: nearest, box, bilinear, hamming, bicubic, lanczos",
        ),
        (lambda: Input(mean=(0.5,)), "mean and std need three numbers each, for red, green and blue"),
        (lambda: Input(std=(0.5, 0.5)), "mean and std need three numbers each, for red, green and blue"),
        (lambda: Input(std=(0.2, 0.0, 0.2)), "std [0.2, 0.0, 0.2]: must be above 0"),
        (
            lambda: Input(mean=(123.7, 116.3, 103.5)),
            "mean [123.7, 116.3, 103.5], std [0.229, 0.224, 0.225]: give them for pixels in [0, 1], not [0, 255]",
        ),
        (
            lambda: Input(std=(58.4, 57.1, 57.4)),
            "mean [0.485, 0.456, 0.406], std [58.4, 57.1, 57.4]: give them for pixels in [0, 1], not [0, 255]",
        ),
        (lambda: Card(category="standrad"), "no model category 'standrad'; did you mean standard?"),
        (
            lambda: Compute(precision="mixed"),
            "mixed precision is for a GPU: add --device cuda (or mps), or leave --precision out",
        ),
    ],
)
def test_what_means_nothing_is_refused(make, message):
    assert message_of(UsageError, make) == message


def test_the_edges_are_allowed():
    assert Geometry(1, 1, resize=1).describe() == {"height": 1, "width": 1, "resize": 1, "interpolation": "bilinear"}
    Input(mean=(0, 0, 0), std=(1, 1, 1))
    Input(mean=(1, 1, 1), std=(1.5, 1.5, 1.5))
    Compute(device="cuda", precision="mixed")


def test_views_and_inputs_say_what_they_do():
    assert str(Geometry(20, 30, interpolation="bicubic")) == "squash to 30x20 (bicubic)"
    assert str(Input(Geometry(8, 8, resize=9))) == (
        "shorter side to 9 (bilinear), centre crop 8x8; mean 0.485, 0.456, 0.406; std 0.229, 0.224, 0.225"
    )


# Data sets


def test_a_data_set_that_can_not_be_is_refused(make_dataset):
    assert message_of(DataError, lambda: make_dataset(0, ids=[], labels=[])) == "val: no images in it"
    assert message_of(DataError, lambda: make_dataset(3, labels=[0, 1])) == "val: 3 images but 2 labels"
    assert message_of(DataError, lambda: make_dataset(4, ids=["a", "b", "a", "b"])) == (
        "val: two images have the id 'a'; ids must be unique"
    )
    assert message_of(DataError, lambda: make_dataset(2, labels=[0, 3])) == (
        "val: label 3 is outside the label space of 3 classes"
    )
    assert message_of(DataError, lambda: make_dataset(2, labels=[0, -2])) == (
        "val: label -2 is outside the label space of 3 classes"
    )


def test_images_may_have_no_label(make_dataset):
    assert make_dataset(2, labels=[-1, -1]).labels.tolist() == [-1, -1]


@settings(quick, suppress_health_check=[HealthCheck.function_scoped_fixture])  # the factory has no state
@given(positions=st.lists(st.integers(0, 9), min_size=1, max_size=10, unique=True))
def test_take_keeps_each_image_with_all_that_belongs_to_it(make_dataset, positions):
    whole = make_dataset(10, labels=list(np.arange(10) % 3), columns={"video": np.arange(10) * 7})
    some = whole.take(np.array(positions), name="some")
    assert some.name == "some"
    assert len(some) == len(positions)
    for new, old in enumerate(positions):
        assert some.ids[new] == whole.ids[old]
        assert some.labels[new] == whole.labels[old]
        assert some.columns["video"][new] == whole.columns["video"][old]
        assert some.scan().contents[new] == whole.scan().contents[old]
        np.testing.assert_array_equal(some.image(new), whole.image(old))


def test_take_of_take_is_take(make_dataset):
    whole = make_dataset(10)
    twice = whole.take(np.array([7, 3, 5, 1])).take(np.array([2, 0]))
    once = whole.take(np.array([5, 7]))
    assert twice.ids == once.ids
    assert twice.digest == once.digest


def test_take_of_nothing_is_no_data_set(make_dataset):
    assert message_of(DataError, lambda: make_dataset(3).take(np.array([], dtype=np.int64))) == "val: no images in it"


def test_take_of_all_has_the_same_digest(make_dataset):
    whole = make_dataset(5)
    assert whole.take(np.arange(5)).digest == whole.digest


def test_the_digest_covers_ids_labels_contents_classes_and_order(make_dataset):
    contents = [bytes([index]) * 16 for index in range(4)]
    plain = make_dataset(4, contents=contents)
    others = [
        make_dataset(4, contents=contents, labels=[0, 1, 2, 1]),
        make_dataset(4, contents=contents, labels=[0, 1, 2, -1]),
        make_dataset(4, contents=contents, ids=["0000", "0001", "0002", "other"]),
        make_dataset(4, contents=[*contents[:3], b"x" * 16]),
        make_dataset(4, contents=contents, space=LabelSpace("numbers", ("0", "1", "two"))),
        make_dataset(4, contents=contents, space=numbered(4), labels=[0, 1, 2, 0]),
        make_dataset(3, contents=contents[:3]),
        plain.take(np.array([1, 0, 2, 3])),  # positions name the rows of a cell: another order is another data set
    ]
    digests = {one.digest for one in (plain, *others)}
    assert len(digests) == len(others) + 1


def test_the_digest_does_not_cover_names_places_and_columns(make_dataset):
    plain = make_dataset(4)
    assert make_dataset(4, name="another").digest == plain.digest
    assert make_dataset(4, columns={"video": np.arange(4)}).digest == plain.digest
    assert make_dataset(4, space=LabelSpace("another name", numbered(3).classes)).digest == plain.digest
    # The same images behind other ones in a bigger source.
    bigger = make_dataset(6, ids=["x", "y", *plain.ids], labels=[0, 0, *plain.labels.tolist()])
    bigger = replace(bigger, source=replace(bigger.source, contents=(b"", b"", *plain.scan().contents)))
    assert bigger.take(np.arange(2, 6)).digest == plain.digest


def test_contents_are_read_once(make_dataset):
    calls = []
    data = make_dataset(4)
    data.scan(lambda done, total: calls.append((done, total)))
    assert data.digest == data.digest
    data.scan(lambda done, total: calls.append((done, total)))
    assert calls == [(4, 4)]


# Digests of values


@quick
@given(st.dictionaries(st.text(max_size=4), st.one_of(st.integers(), st.text(max_size=4), st.none()), max_size=5))
def test_equal_values_have_equal_digests(value):
    turned = dict(reversed(list(value.items())))
    assert digest_of(value) == digest_of(turned) == digest_of(json.loads(json.dumps(value)))
    assert digest_of({**value, "more than four": 0}) != digest_of(value)


def test_a_digest_of_nan_is_refused():
    with pytest.raises(ValueError, match="Out of range float"):
        digest_of({"sigma": float("nan")})


def test_content_digest_is_blake2b():
    # Golden: `printf abc | b2sum -l 128`
    assert content_digest(b"abc").hex() == "cf4ab791c62b8d2b2109c90275287816"


# Conditions and shifts


def test_the_space_of_a_condition_is_what_is_answered(make_dataset):
    data = make_dataset(4)
    two = mask("two", numbered(3), ["0", "2"])
    assert clean(data).space == data.space
    assert clean(data, label_map=two).space == two.target
    assert clean(data).name == "clean"


def test_a_shift_needs_the_same_classes_on_both_sides(make_dataset):
    small, large = make_dataset(4), make_dataset(4, space=LabelSpace("letters", ("a", "b", "c", "d")))
    message = message_of(UsageError, lambda: Shift("v2", "dataset", clean(small), clean(large)))
    assert message == (
        "shift v2: its two conditions have different classes (numbers and letters); map both to the same ones"
    )
    letters = mask("both", large.space, ["a", "b"])
    assert Shift("v2", "dataset", clean(large, label_map=letters), clean(large, label_map=letters)).name == "v2"
    renamed = make_dataset(4, space=LabelSpace("another name", numbered(3).classes))
    Shift("v2", "dataset", clean(small), clean(renamed))


# Models


def make_model(space: LabelSpace | None = None, forward=None, **more) -> Model:
    space = space or numbered(3)
    answer = forward or (lambda images: np.zeros((len(images), len(space)), dtype=np.float32))
    return Model("m", "test", "d" * 32, Input(), space, lambda compute: answer, **more)


@pytest.mark.parametrize(
    ("logits", "message"),
    [
        (np.zeros((2, 4)), "model m: its output has shape (2, 4) for 2 images; expected (2, 3)"),
        (np.zeros((1, 3)), "model m: its output has shape (1, 3) for 2 images; expected (2, 3)"),
        (np.zeros(6), "model m: its output has shape (6,) for 2 images; expected (2, 3)"),
        (np.zeros((2, 3, 1)), "model m: its output has shape (2, 3, 1) for 2 images; expected (2, 3)"),
        (np.array([[0, 1, 2], [0, np.nan, 2]]), "model m: NaN or infinite logits (image 1 of the batch)"),
        (np.array([[np.inf, 1, 2], [0, 1, 2]]), "model m: NaN or infinite logits (image 0 of the batch)"),
        (np.array([[0, 1, -np.inf], [0, 1, 2]]), "model m: NaN or infinite logits (image 0 of the batch)"),
    ],
)
def test_answers_that_are_not_logits_are_refused(logits, message):
    assert message_of(ModelError, lambda: checked_logits(make_model(), logits, 2)) == message
    images = np.zeros((2, 8, 8, 3), dtype=np.uint8)
    assert message_of(ModelError, lambda: make_model(forward=lambda _: logits).logits(images)) == message


def test_a_model_is_opened_once():
    opened = []
    model = make_model()
    counted = replace(model, open=lambda compute: opened.append(compute) or model.open(compute))
    for _ in range(3):
        assert counted.logits(np.zeros((2, 8, 8, 3), dtype=np.uint8)).shape == (2, 3)
    assert opened == [Compute(threads=0)]


@quick
@given(st.integers(0, 200), st.integers(1, 70))
def test_batches_cover_every_row_once(n, size):
    cut = [list(range(n))[some] for some in batches(n, size)]
    assert [row for one in cut for row in one] == list(range(n))
    assert all(0 < len(one) <= size for one in cut)


# Answers computed elsewhere


def test_stored_answers_give_the_rows_asked_for():
    answers = StoredAnswers("p", "d", ("a", "b", "c"), np.arange(6).reshape(3, 2), "logits")
    assert answers.rows_for(("c", "a")).tolist() == [2, 0]


def test_stored_answers_refuse_what_does_not_fit():
    assert message_of(DataError, lambda: StoredAnswers("p", "d", ("a",), np.zeros((2, 2)), "logits")) == (
        "predictions p: 1 ids but an array of shape (2, 2); expected one row per id"
    )
    assert message_of(DataError, lambda: StoredAnswers("p", "d", ("a", "b"), np.zeros(2), "classes")) == (
        "predictions p: 2 ids but an array of shape (2,); expected one row per id"
    )
    assert message_of(DataError, lambda: StoredAnswers("p", "d", ("a", "a"), np.zeros((2, 1)), "classes")) == (
        "predictions p: an id occurs twice"
    )
    answers = StoredAnswers("p", "d", ("a", "b"), np.zeros((2, 2)), "logits")
    assert message_of(DataError, lambda: answers.rows_for(("a", "x", "y"))) == (
        "predictions p: no answer for 2 of 3 images, for example 'x' (the file's first id is 'a'); "
        "are these predictions of these data?"
    )
