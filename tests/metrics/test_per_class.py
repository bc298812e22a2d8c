"""Accuracy class by class: against scikit-learn's recalls."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom
from sklearn.metrics import balanced_accuracy_score, recall_score

from oodometer.core.errors import OodometerError
from oodometer.core.predictions import from_logits
from oodometer.metrics.metric import metrics, value_of
from oodometer.metrics.per_class import balanced_accuracy, class_accuracies, worst_class_accuracy

quick = settings(deadline=None, derandomize=True, max_examples=80)
answers = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3)), min_size=1, max_size=50).map(
    lambda pairs: (np.array([label for label, _ in pairs]), np.array([rank for _, rank in pairs]))
)


def predictions_for(label: np.ndarray, rank: np.ndarray) -> np.ndarray:
    """Predictions that are right where the rank is 0; the wrong ones name classes that do occur, as sklearn wants."""
    others = np.where(label == label[0], label.max() + 1, label[0])
    return np.where(rank == 0, label, others)


@quick
@given(answers)
def test_class_accuracies_are_recalls(answer):
    label, rank = answer
    found = class_accuracies(label, rank)
    predicted = predictions_for(label, rank)
    # reference: scikit-learn
    expected = recall_score(label, predicted, labels=np.unique(label), average=None, zero_division=0)
    assert found.label.tolist() == np.unique(label).tolist()
    assert found.accuracy == pytest.approx(expected)
    assert found.n.sum() == len(label)
    assert found.right.sum() == (rank == 0).sum()
    assert worst_class_accuracy(label, rank) == pytest.approx(expected.min())
    assert balanced_accuracy(label, rank) == pytest.approx(expected.mean())


def test_balanced_agrees_with_scikit_learn():
    rng = np.random.default_rng(0)
    label = rng.integers(0, 7, 200)
    logits = rng.normal(size=(200, 7)) + 2 * np.eye(7)[label]
    rows = from_logits(logits, label, np.arange(200))
    expected = balanced_accuracy_score(label, logits.argmax(axis=1))  # reference: scikit-learn
    assert value_of(metrics.get("balanced"), rows) == pytest.approx(expected)
    assert value_of(metrics.get("worst-class"), rows) <= expected


@quick
@given(answers, st.permutations(range(10)))
def test_the_names_of_the_classes_do_not_matter(answer, names):
    label, rank = answer
    renamed = np.array(names)[label]
    assert balanced_accuracy(renamed, rank) == pytest.approx(balanced_accuracy(label, rank))
    assert worst_class_accuracy(renamed, rank) == worst_class_accuracy(label, rank)


def test_a_balanced_set_has_its_top_1_as_balanced_accuracy():
    label, rank = np.repeat(np.arange(4), 3), np.array([0, 0, 1, 0, 0, 0, 2, 2, 2, 0, 1, 1])
    assert balanced_accuracy(label, rank) == pytest.approx((rank == 0).mean())


def test_all_right_and_all_wrong():
    label = np.array([3, 3, 900])
    assert balanced_accuracy(label, np.zeros(3, int)) == worst_class_accuracy(label, np.zeros(3, int)) == 1
    assert balanced_accuracy(label, np.ones(3, int)) == worst_class_accuracy(label, np.ones(3, int)) == 0


def test_the_worst_of_many_classes_is_biased_downwards_as_much_as_the_docstring_says():
    # reference: the mean of the least of 1,000 binomials (10, 0.8), from its distribution function
    expected = (binom.sf(np.arange(10), 10, 0.8) ** 1000).sum() / 10
    assert expected == pytest.approx(0.33, abs=0.005)
    rng = np.random.default_rng(1)
    label = np.repeat(np.arange(1000), 10)
    drawn = [worst_class_accuracy(label, (rng.random(10_000) > 0.8).astype(int)) for _ in range(200)]
    assert np.mean(drawn) == pytest.approx(expected, abs=5 * np.std(drawn) / np.sqrt(200))


@pytest.mark.parametrize(
    ("label", "rank", "message"),
    [
        ([], [], "no labelled images"),
        ([1, 2], [0], "one each per image"),
        ([1, -1], [0, 0], "no label"),
        ([1, 1], [0, -1], "no label"),
    ],
)
def test_what_cannot_be_scored_is_an_error(label, rank, message):
    with pytest.raises(OodometerError, match=message):
        class_accuracies(np.array(label, int), np.array(rank, int))
