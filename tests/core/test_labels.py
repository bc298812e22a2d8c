"""Label spaces and the maps between them, against loops that can't be wrong."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oodometer.core.errors import DataError, UsageError
from oodometer.core.labels import LabelMap, LabelSpace, align, mapped_onto, mask, numbered, super_classes

quick = settings(deadline=None, derandomize=True, max_examples=60)
ZOO = LabelSpace("zoo", ("ant", "bee", "cat", "dog", "eel"))


@st.composite
def partitions(draw):
    """A space of some classes and disjoint, non-empty groups of some of them."""
    k = draw(st.integers(1, 30))
    space = LabelSpace("classes", tuple(f"c{index}" for index in range(k)))
    owner = draw(st.lists(st.integers(-1, 6), min_size=k, max_size=k).filter(lambda found: max(found) >= 0))
    groups = {f"group {one}": [f"c{index}" for index in range(k) if owner[index] == one] for one in range(7)}
    return space, {name: draw(st.permutations(members)) for name, members in groups.items() if members}


@quick
@given(partitions(), st.integers(0, 2**32 - 1))
def test_super_classes_take_the_best_member(case, seed):
    space, groups = case
    logits = np.random.default_rng(seed).normal(size=(4, len(space)))
    mapped = super_classes("broad", space, groups).logits(logits)
    for column, members in enumerate(groups.values()):
        for row in range(4):  # reference: Python's max over the members
            assert mapped[row, column] == max(logits[row, space.classes.index(one)] for one in members)
    assert mapped.shape == (4, len(groups))


@quick
@given(partitions())
def test_super_classes_map_each_member_to_its_group(case):
    space, groups = case
    broad = super_classes("broad", space, groups)
    assert broad.target.classes == tuple(groups)
    for column, members in enumerate(groups.values()):
        labels = np.array([-1, *(space.classes.index(one) for one in members)])
        assert broad.labels(labels).tolist() == [-1, *[column] * len(members)]


@quick
@given(st.permutations(range(5)), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_a_mask_keeps_the_named_columns_in_the_named_order(order, n_kept, seed):
    kept = list(order)[:n_kept]
    logits = np.random.default_rng(seed).normal(size=(3, 5)).astype(np.float32)
    masked = mask("some", ZOO, [ZOO.classes[index] for index in kept])
    np.testing.assert_array_equal(masked.logits(logits), np.stack([logits[:, index] for index in kept], axis=1))
    assert masked.logits(logits).dtype == np.float32
    assert masked.labels(np.array(kept)).tolist() == list(range(n_kept))


def test_a_mask_answers_only_among_the_kept_classes():
    logits = np.array([[9.0, 8.0, 1.0, 2.0, 7.0]])
    pets = mask("pets", ZOO, ["dog", "cat"])
    assert [pets.target.classes[index] for index in pets.logits(logits).argmax(axis=1)] == ["dog"]


def test_a_class_outside_the_map_is_an_error_with_an_example():
    pets = mask("pets", ZOO, ["cat", "dog"])
    with pytest.raises(DataError) as caught:
        pets.labels(np.array([2, 4, -1, 0]))
    assert str(caught.value) == "label map pets: 2 images have a class outside it, for example 'eel'"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: mask("m", ZOO, ["cta"]), "label map m: no class 'cta' in zoo; did you mean cat?"),
        (lambda: mask("m", ZOO, ["x"]), "label map m: no class 'x' in zoo; known: ant, bee, cat, dog, eel"),
        (lambda: mask("m", numbered(1000), ["x"]), "label map m: no class 'x' in numbers"),
        (lambda: mask("m", ZOO, []), "label map m: every target class needs at least one member"),
        (
            lambda: super_classes("m", ZOO, {"insects": ["ant"], "fish": []}),
            "label map m: every target class needs at least one member",
        ),
        (
            lambda: super_classes("m", ZOO, {"a": ["ant", "bee"], "b": ["bee"]}),
            "label map m: a class is a member of two target classes",
        ),
        (
            lambda: LabelMap("m", ZOO, numbered(1), ((0,), (1,))),
            "label map m: every target class needs at least one member",
        ),
        (lambda: LabelMap("m", ZOO, numbered(1), ((5,),)), "label map m: a member is outside the 5 source classes"),
        (lambda: LabelMap("m", ZOO, numbered(1), ((-1,),)), "label map m: a member is outside the 5 source classes"),
    ],
)
def test_a_map_that_means_nothing_is_refused(make, message):
    with pytest.raises(UsageError) as caught:
        make()
    assert str(caught.value) == message


def test_the_digest_of_a_map_is_what_it_does():
    digests = {
        mask("a", ZOO, ["cat", "dog"]).digest,
        mask("a", ZOO, ["dog", "cat"]).digest,
        mask("a", ZOO, ["cat"]).digest,
        mask("a", LabelSpace("zoo", ("ant", "bee", "cat", "dog", "emu")), ["cat", "dog"]).digest,
        super_classes("a", ZOO, {"cat": ["cat", "dog"]}).digest,
    }
    assert len(digests) == 5
    assert mask("another name", ZOO, ["cat"]).digest in digests


@quick
@given(st.permutations(ZOO.classes), st.lists(st.integers(-1, 4), max_size=20))
def test_align_by_name_keeps_the_names(order, labels):
    other = LabelSpace("other", ("extra", *order))
    labels = np.array(labels, dtype=np.int64)
    moved = align(labels, ZOO, other, what="model m")
    names = [ZOO.classes[label] if label >= 0 else None for label in labels]
    assert [other.classes[label] if label >= 0 else None for label in moved] == names


def test_align_needs_only_the_classes_that_occur():
    small = LabelSpace("small", ("dog", "cat"))
    assert align(np.array([2, 3, -1]), ZOO, small, what="model m").tolist() == [1, 0, -1]


def test_align_by_name_refuses_a_class_that_is_missing():
    with pytest.raises(DataError) as caught:
        align(np.array([0, 2]), ZOO, LabelSpace("small", ("cart", "ant")), what="model m")
    assert str(caught.value) == "model m has no class 'cat', which the data have; did you mean cart?"
    many = LabelSpace("many", tuple(f"c{index}" for index in range(50)))
    with pytest.raises(DataError) as caught:
        align(np.array([0]), ZOO, many, what="model m")
    assert str(caught.value) == "model m has no class 'ant', which the data have"


def test_align_by_number():
    labels = np.array([0, 4, -1])
    assert align(labels, numbered(5), ZOO, what="m").tolist() == [0, 4, -1]
    assert align(labels, ZOO, numbered(5), what="m").tolist() == [0, 4, -1]
    assert align(labels, numbered(5), numbered(1000), what="m").tolist() == [0, 4, -1]
    assert align(labels, ZOO, ZOO, what="m") is labels
    assert align(np.array([-1]), numbered(9), ZOO, what="m").tolist() == [-1]


def test_one_output_more_than_classes_may_be_a_background_class() -> None:
    with pytest.raises(DataError, match=r"has 6 classes \(the first may be a background class\) and the data have 5"):
        align(np.array([0]), LabelSpace("zoo", tuple("abcde")), numbered(6), what="model m")


def test_align_by_number_refuses_what_does_not_fit():
    with pytest.raises(DataError) as caught:
        align(np.array([1, 7]), numbered(8), ZOO, what="model m")
    assert str(caught.value) == "label 7 is outside the label space: model m has 5 classes (0 to 4)"
    with pytest.raises(DataError) as caught:
        align(np.array([1]), ZOO, numbered(1000), what="model m")
    assert str(caught.value) == (
        "model m has 1000 classes and the data have 5 (zoo); name the model's classes in its card "
        '(classes = "classes.txt") so that they can be matched by name'
    )


def test_a_class_that_no_output_stands_for_is_below_all_others():
    some = LabelMap("m", ZOO, numbered(3), ((), (0, 2), (1,)), unanswerable=True)
    logits = np.array([[-5.0, -7.0, -6.0, 9.0, 9.0], [0.0, 0.0, 0.0, 0.0, 0.0]])
    # the best of -5 and -6, then -7, and one less than the lowest of the two
    assert some.logits(logits).tolist() == [[-8.0, -5.0, -7.0], [-1.0, 0.0, 0.0]]
    assert some.labels(np.array([2, 1, -1])).tolist() == [1, 2, -1]
    other = mapped_onto(some, LabelSpace("mine", ZOO.classes[::-1]), what="model m")
    assert other.members == ((), (4, 2), (3,))
    assert other.logits(logits[:, ::-1]).tolist() == some.logits(logits).tolist()
    with pytest.raises(UsageError, match="every target class needs at least one member"):
        LabelMap("m", ZOO, numbered(2), ((), ()), unanswerable=True)
