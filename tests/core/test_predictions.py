"""Rows from logits, against scipy and against a plain sort."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.special import log_softmax, logsumexp, softmax
from scipy.stats import entropy

from oodometer.core.errors import DataError, OodometerError
from oodometer.core.predictions import (
    UNKNOWN,
    Predictions,
    concatenate,
    from_logits,
    from_top_classes,
    with_logits,
)

quick = settings(deadline=None, derandomize=True, max_examples=60)
SIZES = (1, 2, 4, 5, 6, 63, 64, 65, 66, 130, 1000, 1500)  # both sides of five classes and of the select-then-sort limit


def draw_logits(seed: int, n: int, k: int, scale: float, steps: int | None) -> np.ndarray:
    """Logits (N, K); with ``steps``, only that many different values, so that there are many ties."""
    rng = np.random.default_rng(seed)
    if steps is None:
        return rng.normal(0, scale, (n, k))
    return rng.integers(-steps, steps + 1, (n, k)) * (scale / steps)


logit_cases = st.tuples(
    st.integers(0, 2**32 - 1),
    st.integers(1, 6),
    st.one_of(st.sampled_from(SIZES), st.integers(1, 300)),
    st.sampled_from((1e-3, 1.0, 10.0, 1e4)),
    st.sampled_from((None, 1, 3)),
)
hard_cases = [(0, 3, 1, 1.0, None), (0, 3, 1500, 1e4, 1), (1, 4, 65, 1.0, 1), (2, 4, 1000, 1e4, None)]


def draw_labels(seed: int, n: int, k: int) -> np.ndarray:
    return np.random.default_rng(seed + 1).integers(-1, k, n)


def order_of(logits: np.ndarray) -> np.ndarray:
    """All classes from best to worst, the first of equals before the others: a plain Python sort."""
    return np.array([sorted(range(len(row)), key=lambda index: (-row[index], index)) for row in logits.tolist()])


def with_hard_cases(test):
    for case in hard_cases:
        test = example(case=case)(test)
    return test


@quick
@given(case=logit_cases)
@with_hard_cases
def test_probabilities_agree_with_scipy(case):
    seed, n, k, scale, steps = case
    logits = draw_logits(seed, n, k, scale, steps)
    labels = draw_labels(seed, n, k)
    rows = from_logits(logits, labels, np.arange(n))
    # reference: scipy.special.softmax, log_softmax, logsumexp and scipy.stats.entropy; float32 keeps 7 digits
    probabilities = softmax(logits, axis=1)
    best = np.sort(probabilities, axis=1)[:, ::-1]
    close = {"rtol": 2e-6, "atol": 2e-7}
    np.testing.assert_allclose(rows.confidence, best[:, 0], **close)
    np.testing.assert_allclose(rows.margin, best[:, 0] - (best[:, 1] if k > 1 else 0), **close)
    np.testing.assert_allclose(rows.energy, logsumexp(logits, axis=1), **close)
    np.testing.assert_allclose(rows.max_logit, logits.max(axis=1), **close)
    np.testing.assert_allclose(rows.entropy, entropy(probabilities, axis=1), **close)
    np.testing.assert_allclose(rows.sum_squares, (probabilities**2).sum(axis=1), **close)
    of_label = log_softmax(logits, axis=1)[np.arange(n), labels]
    np.testing.assert_allclose(rows.label_log_probability, np.where(labels >= 0, of_label, np.nan), **close)


@quick
@given(case=logit_cases)
@with_hard_cases
def test_order_agrees_with_a_plain_sort(case):
    seed, n, k, scale, steps = case
    logits = draw_logits(seed, n, k, scale, steps)
    labels = draw_labels(seed, n, k)
    rows = from_logits(logits, labels, np.arange(n))
    order = order_of(logits)  # reference: Python's sorted by (-logit, index)
    expected = np.full((n, 5), UNKNOWN)
    expected[:, : min(k, 5)] = order[:, :5]
    np.testing.assert_array_equal(rows.top5, expected)
    np.testing.assert_array_equal(rows.prediction, order[:, 0])
    np.testing.assert_array_equal(rows.prediction, logits.argmax(axis=1))  # numpy: the first of equals too
    places = [UNKNOWN if label < 0 else row.tolist().index(label) for row, label in zip(order, labels, strict=True)]
    np.testing.assert_array_equal(rows.rank, places)


@quick
@given(case=logit_cases)
@with_hard_cases
def test_top_one_and_top_five_are_told_by_the_rank(case):
    seed, n, k, scale, steps = case
    labels = draw_labels(seed, n, k)
    rows = from_logits(draw_logits(seed, n, k, scale, steps), labels, np.arange(n))
    labelled = labels >= 0
    np.testing.assert_array_equal(labelled & (rows.prediction == labels), rows.rank == 0)
    np.testing.assert_array_equal(
        labelled & (rows.top5 == labels[:, None]).any(axis=1), (rows.rank >= 0) & (rows.rank < 5)
    )


@quick
@given(st.integers(0, 2**32 - 1), st.sampled_from((2, 7, 80)))
def test_the_order_of_the_images_changes_nothing(seed, k):
    rng = np.random.default_rng(seed)
    logits, labels = draw_logits(seed, 9, k, 5.0, 3), draw_labels(seed, 9, k)
    order = rng.permutation(9)
    whole = from_logits(logits, labels, np.arange(9))
    mixed = from_logits(logits[order], labels[order], np.arange(9)[order])
    for one in fields(Predictions):
        if one.name != "logits":
            np.testing.assert_array_equal(getattr(mixed, one.name), getattr(whole, one.name)[order])


@quick
@given(st.integers(0, 2**32 - 1), st.sampled_from((2, 7, 64, 200)))
def test_renaming_the_classes_changes_only_their_names(seed, k):
    logits, labels = draw_logits(seed, 5, k, 3.0, None), draw_labels(seed, 5, k)  # no ties: the names can't decide
    names = np.random.default_rng(seed).permutation(k)  # the new number of each class
    renamed = np.empty_like(logits)
    renamed[:, names] = logits
    before = from_logits(logits, labels, np.arange(5))
    after = from_logits(renamed, np.where(labels >= 0, names[labels], -1), np.arange(5))
    np.testing.assert_array_equal(after.rank, before.rank)
    np.testing.assert_array_equal(after.prediction, names[before.prediction])
    np.testing.assert_array_equal(after.top5, np.where(before.top5 >= 0, names[before.top5], UNKNOWN))
    np.testing.assert_allclose(after.energy, before.energy, rtol=1e-6)


@quick
@given(st.integers(0, 2**32 - 1), st.sampled_from((-3.0, 250.0)))
def test_a_constant_added_to_all_logits_moves_only_energy_and_max_logit(seed, shift):
    logits, labels = draw_logits(seed, 4, 12, 2.0, None), draw_labels(seed, 4, 12)
    plain, moved = (from_logits(one, labels, np.arange(4)) for one in (logits, logits + shift))
    for name in ("confidence", "margin", "entropy", "sum_squares", "label_log_probability"):
        np.testing.assert_allclose(getattr(moved, name), getattr(plain, name), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(moved.energy, plain.energy + shift, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(moved.max_logit, plain.max_logit + shift, rtol=1e-5, atol=1e-5)


def test_one_class_is_certain():
    rows = from_logits(np.array([[-7.0], [3.0]]), np.array([0, -1]), np.arange(2))
    # closed form: the softmax of one number is 1, its entropy 0, log sum exp the number itself
    assert rows.confidence.tolist() == [1, 1]
    assert rows.margin.tolist() == [1, 1]
    assert rows.entropy.tolist() == [0, 0]
    assert rows.energy.tolist() == [-7, 3]
    assert rows.rank.tolist() == [0, UNKNOWN]
    assert rows.top5.tolist() == [[0, -1, -1, -1, -1]] * 2


@pytest.mark.parametrize("k", [2, 5, 64, 65, 1000])
def test_all_equal_logits_give_the_uniform_distribution_and_the_first_classes(k):
    rows = from_logits(np.full((1, k), 1e4), np.array([k - 1]), np.array([0]))
    # closed form: p = 1/k, entropy log k, sum of squares 1/k; the last class stands behind k - 1 equals
    assert rows.confidence[0] == pytest.approx(1 / k, rel=1e-6)
    assert rows.entropy[0] == pytest.approx(np.log(k), rel=1e-6)
    assert rows.sum_squares[0] == pytest.approx(1 / k, rel=1e-6)
    assert rows.margin[0] == 0
    assert rows.rank[0] == k - 1
    assert rows.top5[0].tolist() == [index if index < k else UNKNOWN for index in range(5)]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int64])
def test_any_number_type_gives_the_same_rows(dtype):
    logits = np.array([[3, -2, 8, 8, 0, 1, 5]])
    rows = from_logits(logits.astype(dtype), np.array([3]), np.array([17]))
    assert (rows.prediction[0], rows.rank[0], rows.image[0]) == (2, 1, 17)
    assert rows.top5[0].tolist() == [2, 3, 6, 0, 5]
    assert rows.confidence[0] == pytest.approx(softmax(logits[0].astype(float))[2], rel=1e-6)  # scipy


def test_types_are_those_of_the_store():
    rows = from_logits(np.zeros((2, 3), dtype=np.float32), np.array([0, -1]), np.arange(2))
    integers = {"image", "label", "prediction", "rank", "top5"}
    for one in fields(Predictions):
        if one.name != "logits":
            assert getattr(rows, one.name).dtype == (np.int32 if one.name in integers else np.float32), one.name
    assert len(rows) == 2


@pytest.mark.parametrize("k", [3, 100])
def test_no_images_give_no_rows(k):
    rows = from_logits(np.empty((0, k), dtype=np.float32), np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))
    assert len(rows) == 0
    assert rows.top5.shape == (0, 5)


@quick
@given(st.integers(0, 2**32 - 1), st.integers(1, 9))
def test_top_classes_rank_is_the_place_in_the_row(seed, k):
    rng = np.random.default_rng(seed)
    classes = np.array([rng.permutation(12)[:k] for _ in range(6)])
    labels = rng.integers(-1, 12, 6)
    rows = from_top_classes(classes, labels, np.arange(6))
    for row, (answer, label) in enumerate(zip(classes.tolist(), labels.tolist(), strict=True)):
        # reference: list.index; k stands for "behind all that are known"
        expected = UNKNOWN if label < 0 else answer.index(label) if label in answer else k
        assert rows.rank[row] == expected
        assert rows.prediction[row] == answer[0]
        assert rows.top5[row].tolist() == (answer + [UNKNOWN] * 5)[:5]


def test_top_classes_agree_with_logits_where_the_class_is_known():
    logits, labels = draw_logits(3, 50, 20, 2.0, None), draw_labels(3, 50, 20)
    whole = from_logits(logits, labels, np.arange(50))
    known = from_top_classes(order_of(logits)[:, :7], labels, np.arange(50))
    np.testing.assert_array_equal(known.top5, whole.top5)
    np.testing.assert_array_equal(known.rank, np.minimum(whole.rank, 7))


def test_top_classes_know_no_probabilities():
    rows = from_top_classes(np.array([[4, 2]]), np.array([4]), np.array([0]))
    for name in ("confidence", "margin", "energy", "max_logit", "entropy", "label_log_probability", "sum_squares"):
        assert np.isnan(getattr(rows, name)).all(), name
        assert getattr(rows, name).dtype == np.float32


def test_a_missing_class_is_no_hit_of_a_missing_label():
    rows = from_top_classes(np.array([[4, -1]]), np.array([-1]), np.array([0]))
    assert rows.rank[0] == UNKNOWN


def test_top_classes_need_a_column():
    with pytest.raises(DataError, match=r"^no predicted classes: the table has no column$"):
        from_top_classes(np.empty((3, 0), dtype=np.int64), np.zeros(3, dtype=np.int64), np.arange(3))


def test_logits_are_kept_as_float16():
    logits = np.array([[0.1, -65504.0, 65504.0]], dtype=np.float32)  # 65504: the largest float16, IEEE 754
    kept = with_logits(from_logits(logits, np.array([2]), np.array([0])), logits).logits
    assert kept.dtype == np.float16
    np.testing.assert_array_equal(kept, logits.astype(np.float16))


@pytest.mark.parametrize("value", [65536.0, -1e6])
def test_a_logit_that_float16_can_not_hold_is_an_error(value):
    logits = np.array([[0.0, value]])
    rows = from_logits(logits, np.array([0]), np.array([0]))
    with pytest.raises(OodometerError) as caught:
        with_logits(rows, logits)
    assert str(caught.value) == f"a logit of {abs(value):.3g} does not fit into float16; run without --keep logits"


def test_parts_are_put_together_in_order():
    logits, labels = draw_logits(5, 10, 8, 1.0, None), draw_labels(5, 10, 8)
    whole = with_logits(from_logits(logits, labels, np.arange(10)), logits)
    parts = [
        with_logits(from_logits(logits[a:b], labels[a:b], np.arange(10)[a:b]), logits[a:b])
        for a, b in [(0, 3), (3, 3), (3, 10)]
    ]
    joined = concatenate(parts)
    for one in fields(Predictions):
        np.testing.assert_array_equal(getattr(joined, one.name), getattr(whole, one.name))
        assert getattr(joined, one.name).dtype == getattr(whole, one.name).dtype


def test_logits_of_some_parts_are_logits_of_none():
    rows = from_logits(np.zeros((1, 2)), np.array([0]), np.array([0]))
    assert concatenate([rows, with_logits(rows, np.zeros((1, 2)))]).logits is None


def test_nothing_can_not_be_put_together():
    with pytest.raises(OodometerError, match=r"^no predictions to put together$"):
        concatenate([])
