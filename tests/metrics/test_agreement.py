"""Agreement and shared errors: against scikit-learn and plain loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import accuracy_score, cohen_kappa_score, jaccard_score

from oodometer.core.errors import OodometerError
from oodometer.metrics.agreement import (
    agreement,
    agreement_counts,
    agreement_matrix,
    error_consistency,
    error_consistency_matrix,
    error_overlap,
    hardest_images,
    shared_errors,
    shared_wrong_answers,
)

quick = settings(deadline=None, derandomize=True, max_examples=100)
sizes = st.integers(1, 30)
pairs_of_right = sizes.flatmap(lambda n: arrays(bool, (2, n)))
tables = st.tuples(st.integers(1, 5), sizes).flatmap(lambda shape: arrays(int, shape, elements=st.integers(0, 3)))


@quick
@given(pairs_of_right)
def test_error_consistency_is_cohens_kappa(right):
    assume(len(np.unique(right)) == 2)  # both always right, or both always wrong: undefined
    expected = cohen_kappa_score(right[0], right[1])  # reference: scikit-learn
    assert error_consistency(*right) == pytest.approx(expected)
    assert error_consistency(*right) == error_consistency(right[1], right[0])


@quick
@given(pairs_of_right)
def test_shared_errors_and_their_overlap(right):
    wrong = ~right
    assert shared_errors(*right) == pytest.approx(sum(a and b for a, b in wrong.T) / right.shape[1])
    assume(wrong.any())
    expected = jaccard_score(wrong[0], wrong[1])  # reference: scikit-learn
    assert error_overlap(*right) == pytest.approx(expected)


@quick
@given(tables)
def test_the_agreement_matrix_holds_every_pair(predictions):
    matrix = agreement_matrix(predictions)
    for i, a in enumerate(predictions):
        for j, b in enumerate(predictions):
            assert matrix[i, j] == pytest.approx(accuracy_score(a, b))  # reference: scikit-learn
            assert matrix[i, j] == agreement(a, b)


@settings(quick, max_examples=25)
@given(st.integers(2, 20).flatmap(lambda n: arrays(bool, (4, n))))
def test_the_matrix_of_error_consistency_holds_every_pair(right):
    right[:, 0], right[:, 1] = True, False
    matrix = error_consistency_matrix(right)
    for i, a in enumerate(right):
        for j, b in enumerate(right):
            assert matrix[i, j] == pytest.approx(cohen_kappa_score(a, b))  # reference: scikit-learn


@quick
@given(sizes.flatmap(lambda n: arrays(int, (3, n), elements=st.integers(0, 2))))
def test_shared_wrong_answers_are_both_wrong_and_the_same(columns):
    a, b, label = columns
    expected = sum(x == y != z for x, y, z in columns.T) / len(a)
    assert shared_wrong_answers(a, b, label) == pytest.approx(expected)
    assert shared_wrong_answers(a, b, label) <= shared_errors(a == label, b == label) + 1e-12


@quick
@given(st.tuples(st.integers(1, 5), sizes).flatmap(lambda shape: arrays(bool, shape)))
def test_the_hardest_images_come_first_and_ties_in_order(right):
    found = hardest_images(right)
    missing = [sum(not one for one in column) for column in right.T]
    assert found.position.tolist() == sorted(range(len(missing)), key=lambda i: (-missing[i], i))
    assert found.n_missing.tolist() == sorted(missing, reverse=True)
    assert hardest_images(right, 3).position.tolist() == found.position[:3].tolist()


def test_independent_errors_have_no_consistency():
    # closed form: all four combinations as often as independence says
    right_a = np.repeat([True, True, False, False], [6, 2, 3, 1])
    right_b = np.repeat([True, False, True, False], [6, 2, 3, 1])
    assert error_consistency(right_a, right_b) == pytest.approx(0)


def test_opposite_errors_are_negative():
    right = np.array([True, False])
    assert error_consistency(right, ~right) == -1
    assert shared_errors(right, ~right) == error_overlap(right, ~right) == 0


@pytest.mark.parametrize(("value", "side"), [(True, "right"), (False, "wrong")])
def test_error_consistency_of_two_constant_models_is_undefined(value, side):
    right = np.full(3, value)
    with pytest.raises(OodometerError, match=f"both models are {side} on all 3 images"):
        error_consistency(right, right)
    with pytest.raises(OodometerError, match=r"model 1 .* leave it out"):
        error_consistency_matrix(np.array([[True, False, True], right]))


def test_a_perfect_model_and_another_have_a_consistency_of_0():
    # expected = observed = the accuracy of the other
    assert error_consistency(np.ones(4, bool), np.array([True, True, True, False])) == 0


def test_without_errors_their_overlap_is_undefined():
    with pytest.raises(OodometerError, match="neither model misses"):
        error_overlap(np.ones(3, bool), np.ones(3, bool))


@pytest.mark.parametrize("function", [agreement, error_consistency, shared_errors, error_overlap])
def test_pairs_must_be_of_the_same_images(function):
    with pytest.raises(OodometerError, match="same images"):
        function(np.ones(2, bool), np.ones(3, bool))
    with pytest.raises(OodometerError, match="no images"):
        function(np.ones(0, bool), np.ones(0, bool))


@pytest.mark.parametrize("function", [error_consistency, shared_errors, error_overlap])
def test_whole_numbers_do_not_pass_for_right(function):
    with pytest.raises(OodometerError, match="need bool"):
        function(np.array([0, 1]), np.array([True, False]))
    with pytest.raises(OodometerError, match="need bool"):
        function(np.array([True, False]), np.array([0, 1]))


def test_shared_wrong_answers_need_labels():
    with pytest.raises(OodometerError, match="1 of 2 images have no label"):
        shared_wrong_answers(np.array([1, 2]), np.array([1, 2]), np.array([1, -1]))
    with pytest.raises(OodometerError, match="same images"):
        shared_wrong_answers(np.array([1, 2]), np.array([1, 2]), np.array([1]))


@pytest.mark.parametrize("function", [hardest_images, agreement_matrix, error_consistency_matrix])
@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (3,)])
def test_tables_are_models_by_images(function, shape):
    with pytest.raises(OodometerError, match="models by images"):
        function(np.ones(shape, bool))


def test_the_hardest_0_images_and_ranks_are_errors():
    with pytest.raises(OodometerError, match="at least 1"):
        hardest_images(np.ones((1, 2), bool), 0)
    with pytest.raises(OodometerError, match="need bool"):
        hardest_images(np.zeros((1, 2), int))


@settings(deadline=None, derandomize=True, max_examples=50)
@given(st.integers(1, 5), st.integers(1, 40), st.integers(1, 6), st.integers(0, 1000))
def test_counts_by_group_against_a_loop(n_models: int, n: int, n_groups: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    predictions, groups = rng.integers(3, size=(n_models, n)), rng.integers(n_groups, size=n)
    counts = agreement_counts(predictions, groups)
    for group in range(int(groups.max()) + 1):
        for a in range(n_models):
            for b in range(n_models):
                same = sum(predictions[a, i] == predictions[b, i] for i in range(n) if groups[i] == group)
                assert counts[group, a, b] == same
    assert np.allclose(counts.sum(axis=0) / n, agreement_matrix(predictions))


def test_groups_are_one_for_each_image() -> None:
    with pytest.raises(OodometerError, match="for 2 images"):
        agreement_counts(np.array([[1, 2]]), np.array([0]))
