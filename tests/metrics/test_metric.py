"""Metrics by name, and metrics of one's own."""

from __future__ import annotations

import numpy as np
import pytest

from oodometer.core.errors import OodometerError, UsageError
from oodometer.core.predictions import from_logits, from_top_classes
from oodometer.metrics.metric import Metric, columns_of, metric, metrics, value_of


@pytest.fixture
def own_names(monkeypatch):
    """What a test registers is gone after it."""
    monkeypatch.setattr(metrics, "_loaded", dict(metrics._loaded))


@pytest.mark.parametrize("name", sorted(metrics._addresses))
def test_every_name_leads_to_the_metric_of_that_name(name):
    found = metrics.get(name)
    assert found.name == name
    assert found.convention


def test_a_metric_of_ones_own(own_names):
    @metric("sure-and-wrong", columns=["confidence", "rank"], kind="share", better="lower")
    def sure_and_wrong(confidence, rank):
        """Confidence above 0.9, and another class than the true one.

        More about it.
        """
        return (confidence > 0.9) & (rank > 0)

    assert metrics.get("sure-and-wrong") is sure_and_wrong
    assert sure_and_wrong.convention == "Confidence above 0.9, and another class than the true one."
    rows = from_logits(np.array([[9.0, 0.0], [9.0, 0.0], [0.1, 0.0]]), np.array([1, 0, 1]), np.arange(3))
    assert value_of(sure_and_wrong, rows) == pytest.approx(1 / 3)


def test_a_name_that_is_taken(own_names):
    with pytest.raises(UsageError, match="there is a metric named 'top-1' already"):
        metric("top-1", columns=["rank"])(lambda rank: rank)


@pytest.mark.parametrize(("columns", "wrong"), [(["rnk"], "'rnk'"), ([], "no column")])
def test_columns_that_there_are_not(columns, wrong):
    with pytest.raises(UsageError, match=f"{wrong} is not a column of predictions; known: image, label"):
        metric("mine", columns=columns)


def test_what_a_metric_can_not_be_computed_for():
    unlabelled = from_logits(np.eye(2), np.array([-1, -1]), np.arange(2))
    with pytest.raises(OodometerError, match="top-1: no labelled images, so it is undefined"):
        columns_of(metrics.get("top-1"), unlabelled)
    best = from_top_classes(np.array([[1, 0]]), np.array([1]), np.arange(1))
    with pytest.raises(OodometerError, match="nll: needs label_log_probability, but only the best classes"):
        columns_of(metrics.get("nll"), best)
    # Without a label's column, images without a label count too.
    (confidence,) = columns_of(Metric("sure", "", ("confidence",), np.mean), unlabelled)
    assert len(confidence) == 2


@pytest.mark.parametrize(
    ("function", "kind", "said"),
    [
        (lambda rank: rank / "a", "mean", "its function failed \\(UFuncTypeError|its function failed"),
        (lambda rank, more: rank, "mean", "its function failed \\(TypeError"),
        (lambda rank: rank * 1j, "mean", "gave complex128, not real numbers"),
        (lambda rank: np.array(["a"] * len(rank)), "mean", "not real numbers"),
        (lambda rank: rank, "whole", "gave an array of shape \\(2,\\); kind 'whole' is one number"),
    ],
)
def test_a_function_that_fails_says_whose_it_is(own_names, function, kind, said):
    made = metric("mine", columns=["rank"], kind=kind)(function)
    with pytest.raises(OodometerError, match=said):
        made.of(np.array([0, 1]))


@pytest.mark.parametrize("name", ["all", "a,b", " a", "a[b]", "pm-3"])
def test_names_that_could_never_be_asked_for(own_names, name):
    with pytest.raises(UsageError, match="a name has no spaces, commas or brackets"):
        metric(name, columns=["rank"])


def test_a_kind_that_there_is_not():
    with pytest.raises(UsageError, match="kind is one of share, mean, whole"):
        metric("mine", columns=["rank"], kind="wrong")
