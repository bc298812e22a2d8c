"""Negative log-likelihood: the surprise at the true label."""

from __future__ import annotations

import math

import numpy as np

from oodometer.core.errors import OodometerError
from oodometer.metrics.metric import Metric


def negative_log_likelihoods(label_log_probability: np.ndarray) -> np.ndarray:
    """−log p(label) of each image in nats, (N,).

    An error where a label had probability zero: one such image makes the mean infinite whatever the others are.

    >>> negative_log_likelihoods(np.log(np.array([0.5, 0.25]))).round(4)
    array([0.6931, 1.3863])
    >>> negative_log_likelihoods(np.array([-0.5, -np.inf]))
    Traceback (most recent call last):
    oodometer.core.errors.OodometerError: nll is infinite: 1 of 2 images give their label probability zero; brier is \
finite for them
    """
    logs = np.asarray(label_log_probability, np.float64)
    n_impossible = int(np.isneginf(logs).sum())
    if n_impossible:
        raise OodometerError(
            f"nll is infinite: {n_impossible} of {len(logs)} images give their label probability zero; "
            "brier is finite for them"
        )
    # NaN fails the comparison too; the stored logs are rounded, so the bound has a hair of slack.
    if not (logs <= 1e-5).all():
        raise OodometerError("a log probability above 0, or none: give the log softmax of the label")
    return np.asarray(np.maximum(-logs, 0.0))


nll = Metric(
    "nll",
    "nats per image",
    ("label_log_probability",),
    negative_log_likelihoods,
    kind="mean",
    bounds=(0.0, math.inf),
)
