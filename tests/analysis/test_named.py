"""Which cells belong to one model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from oodometer.analysis.named import models_of
from oodometer.core.errors import UsageError
from oodometer.core.stored_answers import StoredAnswers
from oodometer.engine.imports import import_predictions
from oodometer.store.index import look


@pytest.fixture
def imported(tmp_path):
    """Two files of one model, each on a condition of its own, in one store."""
    store = None
    for condition, seed in (("clean", 1), ("shifted", 2)):
        rng = np.random.default_rng(seed)
        answers = StoredAnswers("mine", f"{seed}" * 32, ("a", "b", "c"), rng.normal(size=(3, 4)), "logits")
        store = import_predictions(
            answers, np.array([0, 1, 2]), store=store or str(tmp_path / "runs"), condition=condition
        )
    return store


def test_files_of_answers_under_one_name_are_one_model(imported):
    index = look(imported)
    assert len({cell.model.digest for cell in index.cells}) == 2
    (group,) = models_of(index.cells)
    assert [cell.condition_name for cell in group] == ["clean", "shifted"]
    assert index.of_model("mine") == list(index.cells)


def test_two_files_on_the_same_condition_must_be_told_apart(imported):
    again = StoredAnswers("mine", "3" * 32, ("a", "b", "c"), np.eye(3, 4), "logits")
    store = import_predictions(again, np.array([0, 1, 2]), store=imported, condition="clean")
    index = look(store)
    assert set(index.models) == {"mine@11111111", "mine@22222222", "mine@33333333"}
    with pytest.raises(UsageError, match="mine stands for several models; say which: mine@11111111, mine@22222222, m"):
        index.of_model("mine")
    (cell,) = index.of_model("mine@3333")
    assert cell.model.digest == "3" * 32


def test_other_weights_are_another_model(filled, make_dataset):
    data = make_dataset(3, k=3)
    one = filled.add(data, [0, 0, 0])
    other = filled.add(data, [0, 0, 0], digest="b" * 32)
    assert len(models_of([one, other])) == 2
    assert len(models_of([one, replace(one, condition=replace(one.condition, name="shifted"))])) == 1
