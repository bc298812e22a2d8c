"""Logistic regression against scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from oodometer.build.testset.study.logistic import fit_logistic
from oodometer.core.errors import DataError, UsageError


@pytest.mark.parametrize(("n", "d", "shift"), [(40, 3, 0.5), (300, 20, 0.2), (60, 100, 0.1), (50, 2, 30.0)])
@pytest.mark.parametrize("penalty", [0.1, 1.0, 10.0])
def test_the_weights_are_those_of_scikit_learn(n, d, shift, penalty):
    """Also where there are more features than images, and where the kinds can be parted."""
    rng = np.random.default_rng(n + d)
    second = np.arange(n) % 3 == 0
    features = rng.normal(size=(n, d)) + shift * second[:, None]
    found = fit_logistic(features, second, penalty=penalty)
    # reference: scikit-learn, whose C is the inverse of the penalty, to the last digits
    reference = LogisticRegression(C=1 / penalty, solver="newton-cholesky", tol=1e-12, max_iter=1000)
    reference.fit(features, second)
    assert found.weights == pytest.approx(reference.coef_[0], abs=1e-5)
    assert found.intercept == pytest.approx(reference.intercept_[0], abs=1e-4)
    assert found.scores(features) == pytest.approx(reference.decision_function(features), abs=1e-4)


def test_features_on_very_different_scales():
    rng = np.random.default_rng(0)
    second = rng.random(200) < 0.5
    features = rng.normal(size=(200, 4)) * np.array([1e-3, 1, 50, 1e3]) + second[:, None]
    found = fit_logistic(features, second)
    reference = LogisticRegression(C=1.0, solver="newton-cholesky", tol=1e-12, max_iter=1000).fit(features, second)
    assert found.scores(features) == pytest.approx(reference.decision_function(features), abs=1e-4)


def test_what_can_not_be():
    with pytest.raises(DataError, match="all are of one kind"):
        fit_logistic(np.ones((4, 2)), np.ones(4, bool))
    with pytest.raises(UsageError, match="a penalty of 0"):
        fit_logistic(np.ones((4, 2)), np.arange(4) > 1, penalty=0)
