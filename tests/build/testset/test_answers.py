"""The answers of annotators: what is counted, what is left out, and what can't be."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from made_answers import from_table, tables
from oodometer.build.testset.answers import Answers, about, without_workers
from oodometer.core.errors import OodometerError

quick = settings(deadline=None, derandomize=True, max_examples=100)


@quick
@given(tables())
def test_counts_are_those_of_the_table(table):
    answers = from_table(table)
    assert len(answers) == (table >= 0).sum()
    assert answers.n_answers.tolist() == [sum(one >= 0 for one in row) for row in table]
    assert answers.n_selected.tolist() == [sum(one == 1 for one in row) for row in table]


def test_only_some_images_and_some_workers():
    table = np.array([[1, 0, 1], [0, 1, -1], [1, 1, 0]])
    answers = from_table(table, np.array([-1, 0, 1]))
    assert answers.is_candidate.tolist() == [True, False, False]
    some = about(answers, answers.is_candidate)
    assert (some.image.tolist(), some.worker.tolist(), some.selected.tolist()) == ([0] * 3, [0, 1, 2], [1, 0, 1])
    assert (some.n_images, some.n_workers, some.known.tolist()) == (3, 3, [-1, 0, 1])
    left = without_workers(answers, np.array([False, True, True]))
    assert (left.image.tolist(), left.worker.tolist(), left.selected.tolist()) == ([0, 1, 2], [0] * 3, [1, 0, 1])


def test_no_answers_are_answers_too():
    none = np.array([], dtype=np.int64)
    answers = Answers(none, none, none.astype(bool), 2, 0, np.array([-1, -1]))
    assert (len(answers), answers.n_answers.tolist()) == (0, [0, 0])


def test_known_is_kept_small():
    assert from_table(np.array([[1, 0]]), np.array([1])).known.dtype == np.int8


GOOD = {
    "image": np.array([0, 1]),
    "worker": np.array([0, 0]),
    "selected": np.array([True, False]),
    "n_images": 2,
    "n_workers": 1,
    "known": np.array([-1, 1]),
}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"worker": np.array([0])},
            "answers of shapes image (2,), worker (1,), selected (2,): expected one row of each per answer",
        ),
        (
            {name: np.zeros((1, 1), dtype=np.int64) for name in ("image", "worker", "selected")},
            "answers of shapes image (1, 1), worker (1, 1), selected (1, 1): expected one row of each per answer",
        ),
        ({"selected": np.array([1, 0])}, "selected is of type int64: expected true or false for each answer"),
        ({"image": np.array([0.0, 1.0])}, "image is of type float64: expected whole numbers from 0"),
        ({"image": np.array([0, 2])}, "image 2 in the answers, of 2: numbers run from 0 to 1"),
        ({"worker": np.array([0, -1])}, "worker -1 in the answers, of 1: numbers run from 0 to 0"),
        ({"known": np.array([-1])}, "known must be -1, 0 or 1 for each of the 2 images"),
        ({"known": np.array([-1, 2])}, "known must be -1, 0 or 1 for each of the 2 images"),
        ({"image": np.array([1, 1])}, "worker 0 answers image 1 more than once; keep one of the answers"),
    ],
)
def test_what_is_wrong_is_said_at_once(change, message):
    Answers(**GOOD)
    with pytest.raises(OodometerError) as caught:
        Answers(**{**GOOD, **change})
    assert str(caught.value) == message


@pytest.mark.parametrize("of", [about, without_workers])
def test_what_is_no_choice_is_an_error(of):
    answers = from_table(np.array([[1, 0], [0, 1]]))
    with pytest.raises(OodometerError, match=r"of shape \(3,\) and type bool: expected \(2,\) of true and false"):
        of(answers, np.ones(3, dtype=bool))
    with pytest.raises(OodometerError, match=r"of shape \(2,\) and type int64"):
        of(answers, np.array([0, 1]))
