"""Answers from elsewhere about images that have several labels: any of them counts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from oodometer.core.condition import Condition
from oodometer.core.errors import DataError
from oodometer.core.stored_answers import StoredAnswers
from oodometer.engine.run import run

OTHERS = ((2,), (2, 3), (), (1,))


@pytest.fixture
def data(make_dataset):
    return replace(make_dataset(4, k=4, labels=[0, 1, 1, -1]), other_labels=OTHERS)


def rows_of(data, values, kind, tmp_path):
    theirs = StoredAnswers("theirs", "d" * 32, data.ids, np.asarray(values), kind)
    made = run([theirs], [Condition("clean", data)], store=str(tmp_path / kind))
    return made.store.read(made.cells[0])


def test_logits(data, tmp_path):
    # Best of {0, 2} is 2, second to 3; of {1, 2, 3} it is 3, the first; 1 alone is last; -1 with 1 is 1, the first.
    logits = [[0, 1, 2, 3], [0, 1, 2, 3], [3, 0, 2, 1], [0, 9, 2, 1]]
    rows = rows_of(data, np.array(logits, dtype=np.float32), "logits", tmp_path)
    assert (rows.label.tolist(), rows.rank.tolist()) == ([2, 3, 1, 1], [1, 0, 3, 0])


def test_classes(data, tmp_path):
    # The same answers, of which the best three are known.
    rows = rows_of(data, [[3, 2, 1], [3, 2, 1], [0, 2, 3], [1, 2, 3]], "classes", tmp_path)
    assert (rows.label.tolist(), rows.rank.tolist()) == ([2, 3, 1, 1], [1, 0, 3, 0])


def test_every_label_must_be_answered(make_dataset, tmp_path):
    data = replace(make_dataset(2, k=4, labels=[0, 1]), other_labels=((), (3,)))
    with pytest.raises(DataError, match=r"label 3 is outside the label space: predictions theirs has 3 classes"):
        rows_of(data, np.zeros((2, 3), dtype=np.float32), "logits", tmp_path)
