"""Negative log-likelihood against scikit-learn's log_loss."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.metrics import log_loss

from oodometer.core.errors import OodometerError
from oodometer.core.predictions import from_logits
from oodometer.metrics.likelihood import negative_log_likelihoods
from oodometer.metrics.metric import metrics, value_of


def test_agrees_with_scikit_learn():
    rng = np.random.default_rng(0)
    logits, labels = rng.normal(0, 3, (400, 6)), rng.integers(0, 6, 400)
    # reference: sklearn.metrics.log_loss, in nats
    expected = log_loss(labels, softmax(logits, axis=1), labels=list(range(6)))
    metric = metrics.get("nll")
    assert (metric.name, metric.kind, metric.better) == ("nll", "mean", "lower")
    # The rows are stored as float32.
    assert value_of(metric, from_logits(logits, labels, np.arange(400))) == pytest.approx(expected, rel=1e-6)


def test_a_certain_answer_has_none():
    # −0.0 is not to be seen in a table
    assert str(negative_log_likelihoods(np.array([0.0]))[0]) == "0.0"


def test_images_without_a_label_are_left_out():
    rows = from_logits(np.array([[0.0, 0.0], [9.0, 0.0]]), np.array([1, -1]), np.arange(2))
    assert value_of(metrics.get("nll"), rows) == pytest.approx(np.log(2))


def test_probability_zero_is_said():
    with pytest.raises(OodometerError, match="nll is infinite: 2 of 3 images"):
        negative_log_likelihoods(np.array([-np.inf, -1.0, -np.inf]))


@pytest.mark.parametrize("log", [np.nan, 0.1, np.inf])
def test_what_is_no_log_probability_is_an_error(log):
    with pytest.raises(OodometerError, match="log softmax of the label"):
        negative_log_likelihoods(np.array([-1.0, log]))
