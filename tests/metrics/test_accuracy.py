"""Top-1, top-5 and error: against scikit-learn, and where they are undefined."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, top_k_accuracy_score, zero_one_loss

from oodometer.core.errors import OodometerError
from oodometer.core.predictions import from_logits, from_top_classes
from oodometer.metrics.accuracy import error_rate, top_1_accuracy, top_5_accuracy, top_k_right, wrong
from oodometer.metrics.metric import metrics, value_of

quick = settings(deadline=None, derandomize=True, max_examples=60)
ranks = st.lists(st.integers(0, 12), min_size=1, max_size=40).map(np.array)


def example(seed: int, n: int = 60, k: int = 9):
    rng = np.random.default_rng(seed)
    labels = np.concatenate([np.arange(k), rng.integers(0, k, n - k)])
    logits = rng.normal(size=(n, k)) + 2 * np.eye(k)[labels] * (rng.random((n, 1)) < 0.5)
    return logits, labels, from_logits(logits, labels, np.arange(n))


@pytest.mark.parametrize("seed", range(5))
def test_they_agree_with_scikit_learn(seed):
    logits, labels, rows = example(seed)
    # reference: scikit-learn
    assert value_of(metrics.get("top-1"), rows) == accuracy_score(labels, logits.argmax(axis=1))
    assert value_of(metrics.get("top-5"), rows) == top_k_accuracy_score(labels, logits, k=5)
    assert value_of(metrics.get("error"), rows) == pytest.approx(zero_one_loss(labels, logits.argmax(axis=1)))
    assert top_1_accuracy(rows.rank) == value_of(metrics.get("top-1"), rows)
    assert top_5_accuracy(rows.rank) == value_of(metrics.get("top-5"), rows)
    assert error_rate(rows.rank) == value_of(metrics.get("error"), rows)


@quick
@given(ranks)
def test_the_three_hang_together(rank):
    assert top_1_accuracy(rank) + error_rate(rank) == pytest.approx(1)
    assert top_1_accuracy(rank) <= top_5_accuracy(rank)
    assert (top_k_right(rank, 1) == ~wrong(rank)).all()


def test_rank_4_is_the_last_of_the_top_five():
    assert top_5_accuracy(np.array([4])) == 1
    assert top_5_accuracy(np.array([5])) == 0


def test_unlabelled_images_do_not_count():
    rows = from_logits(np.eye(6), np.array([0, 1, 2, 0, -1, -1]), np.arange(6))
    assert value_of(metrics.get("top-1"), rows) == 0.75


@pytest.mark.parametrize("name", ["top-1", "top-5", "error"])
def test_without_labels_they_are_undefined(name):
    rows = from_logits(np.eye(6), np.full(6, -1), np.arange(6))
    with pytest.raises(OodometerError, match="no labelled images"):
        value_of(metrics.get(name), rows)


def test_top_5_of_answers_with_two_known_classes_is_undefined_and_top_1_is_not():
    # The true class 7 is not among the two known: its rank is 2 only for want of a better number.
    rows = from_top_classes(np.array([[4, 2], [7, 1]]), np.array([7, 7]), np.arange(2))
    assert value_of(metrics.get("top-1"), rows) == 0.5
    with pytest.raises(OodometerError, match="fewer than five classes are known"):
        value_of(metrics.get("top-5"), rows)


@pytest.mark.parametrize("function", [top_1_accuracy, top_5_accuracy, error_rate])
@pytest.mark.parametrize(
    ("rank", "message"),
    [
        (np.array([], int), "at least one image"),
        (np.zeros((2, 2), int), "shape"),
        (np.array([0, -1]), "1 of 2 images have no label"),
    ],
)
def test_what_cannot_be_scored_is_an_error(function, rank, message):
    with pytest.raises(OodometerError, match=message):
        function(rank)


def test_top_0_is_an_error():
    with pytest.raises(OodometerError, match="at least 1"):
        top_k_right(np.array([0]), 0)
