"""Which cells belong to one model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from oodometer.analysis.named import cells_of, models_of
from oodometer.core.errors import UsageError
from oodometer.core.stored_answers import StoredAnswers
from oodometer.engine.imports import import_predictions


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
    cells = imported.cells()
    assert len({cell.model["digest"] for cell in cells}) == 2
    (group,) = models_of(cells)
    assert [cell.condition_name for cell in group] == ["clean", "shifted"]
    assert cells_of("mine", cells, imported) == cells


def test_two_files_on_the_same_condition_must_be_told_apart(imported):
    again = StoredAnswers("mine", "3" * 32, ("a", "b", "c"), np.eye(3, 4), "logits")
    store = import_predictions(again, np.array([0, 1, 2]), store=imported, condition="clean")
    with pytest.raises(UsageError, match="or from several files; say which: mine@"):
        cells_of("mine", store.cells(), store)
    assert len(cells_of("mine@3333", store.cells(), store)) == 1


def test_other_weights_are_another_model(filled, make_dataset):
    data = make_dataset(3, k=3)
    one = filled.add(data, [0, 0, 0])
    other = filled.add(data, [0, 0, 0], digest="b" * 32)
    assert len(models_of([one, other])) == 2
    assert len(models_of([one, replace(one, condition={**one.condition, "name": "shifted"})])) == 1
