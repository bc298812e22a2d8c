"""Corruption errors from a table: AlexNet against itself, and against a plain mean."""

from __future__ import annotations

import numpy as np
import pytest

from oodometer.analysis.score import score
from oodometer.core.errors import OodometerError
from oodometer.metrics.corruption_error import COMMON, alexnet
from oodometer.store.tables import Accuracy, write_table


def table(errors: np.ndarray, *, clean: float | None = None, model: str = "net", family: str = "imagenet-c"):
    rows = [
        Accuracy(model, f"{family}/{name}/{severity}", 1 - errors[at, severity - 1], None, "t.csv")
        for at, name in enumerate(COMMON)
        for severity in range(1, 6)
    ]
    return rows + ([] if clean is None else [Accuracy(model, "clean", 1 - clean, None, "t.csv")])


def test_alexnet_is_as_bad_as_alexnet(filled):
    write_table(filled.store, table(alexnet().errors, clean=0.4348))
    found = {
        (row.metric, row.condition): row for row in score(filled.store, metrics=["mce", "relative-mce", "ce"]).rows
    }
    for metric in ("mce", "relative-mce"):
        row = found[metric, "imagenet-c"]
        assert row.estimate.value == pytest.approx(1)
        assert (row.estimate.low, row.state) == (None, "imported")
    assert found["ce", "imagenet-c/fog"].estimate.value == pytest.approx(1)
    assert len(found) == 2 + 15


def test_half_the_errors_are_half_the_mce(filled):
    write_table(filled.store, table(alexnet().errors / 2))
    rows = score(filled.store, metrics=["mce", "mean-corruption-error"]).rows
    values = {row.metric: row.estimate.value for row in rows}
    # reference: the plain mean of AlexNet's 75 errors, halved
    assert values == pytest.approx({"mce": 0.5, "mean-corruption-error": alexnet().errors.mean() / 2})


def test_without_clean_there_is_no_relative_and_without_all_conditions_nothing(filled):
    rows = table(alexnet().errors)
    write_table(filled.store, rows)
    with pytest.raises(OodometerError, match="relative-mce"):
        score(filled.store, metrics=["relative-mce"])


def test_other_families_have_no_alexnet(filled):
    write_table(filled.store, table(alexnet().errors, family="cifar10-c"))
    with pytest.raises(OodometerError, match="mce"):
        score(filled.store, metrics=["mce"])


def test_a_condition_that_is_missing(filled):
    write_table(filled.store, table(alexnet().errors)[:-1])
    with pytest.raises(OodometerError, match="mce"):
        score(filled.store, metrics=["mce"])
