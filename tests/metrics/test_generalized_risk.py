"""AUGRC: against plain loops, scikit-learn's AUROC, closed forms and simulation."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtri
from scipy.stats import binomtest
from sklearn.metrics import roc_auc_score

from oodometer.core.errors import OodometerError
from oodometer.metrics.generalized_risk import area_under_generalized_risk, influences_on_generalized_risk
from oodometer.metrics.metric import metrics
from oodometer.metrics.resampled import resampled_answers

quick = settings(deadline=None, derandomize=True, max_examples=150)
tied = st.lists(st.tuples(st.integers(0, 6), st.booleans()), min_size=1, max_size=40)


def drawn(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Confidences of all sizes, and answers that are right as often as the root of them."""
    confidence = rng.random(n)
    return confidence, rng.random(n) < np.sqrt(confidence)


TRUTH = 1 / 2 - 2 / 5
"""Of these answers: ∫ (1 − √c) c dc, since one of confidence c is wrong in 1 − √c, and surer than a share c of all."""


def plain_area(confidence, right):
    """The trapezoids below the curve, threshold by threshold."""
    n = len(right)
    points = [(0.0, 0.0)]
    for threshold in sorted(set(confidence), reverse=True):
        answered = [at for at in range(n) if confidence[at] >= threshold]
        points.append((len(answered) / n, sum(not right[at] for at in answered) / n))
    return sum((x1 - x0) * (y0 + y1) / 2 for (x0, y0), (x1, y1) in pairwise(points))


@quick
@given(tied)
def test_the_plain_trapezoids(pairs):
    confidence, right = np.array([c for c, _ in pairs]) / 6, np.array([r for _, r in pairs])
    area = area_under_generalized_risk(confidence, right)
    assert area == pytest.approx(plain_area(confidence, right), abs=1e-12)
    assert 0 <= area <= 0.5


@pytest.mark.parametrize("levels", [5, 10**6])
def test_it_follows_from_accuracy_and_auroc(levels):
    rng = np.random.default_rng(0)
    confidence, right = drawn(rng, 1000)
    confidence = np.round(confidence * levels) / levels
    a = right.mean()
    # reference: scikit-learn's AUROC, in Traub et al. 2024, equation 5
    expected = (1 - roc_auc_score(right, confidence)) * a * (1 - a) + (1 - a) ** 2 / 2
    assert area_under_generalized_risk(confidence, right) == pytest.approx(expected, abs=1e-12)


def test_closed_forms():
    right = np.arange(100) < 70
    assert area_under_generalized_risk(np.full(100, 0.5), right) == pytest.approx(0.3 / 2)  # one confidence for all
    assert area_under_generalized_risk(np.where(right, 0.9, 0.1), right) == pytest.approx(0.3**2 / 2)  # the best order
    worst = (1 - 0.7**2) / 2
    assert area_under_generalized_risk(np.where(right, 0.1, 0.9), right) == pytest.approx(worst)
    assert area_under_generalized_risk(np.linspace(0, 1, 100), np.zeros(100, bool)) == pytest.approx(0.5)
    assert area_under_generalized_risk(np.linspace(0, 1, 100), np.ones(100, bool)) == 0


@pytest.mark.parametrize(("confidence", "right"), [([], []), ([0.5], [True, False]), ([np.nan], [True]), ([0.5], [2])])
def test_what_is_undefined_is_an_error(confidence, right):
    with pytest.raises(OodometerError):
        area_under_generalized_risk(np.array(confidence), np.array(right))


@pytest.mark.parametrize("decimals", [1, 8])
def test_influences_are_those_of_a_little_more_weight(decimals):
    """The derivative by the weight of one image, by a plain difference of weighted trapezoids (images repeated)."""
    rng = np.random.default_rng(3)
    confidence, right = drawn(rng, 60)
    confidence = confidence.round(decimals)
    area, influences = influences_on_generalized_risk(confidence, right)
    times = 2000
    for at in range(0, 60, 7):
        more = np.append(np.repeat(np.arange(60), times), at)
        moved = area_under_generalized_risk(confidence[more], right[more])
        assert (moved - area) * len(more) == pytest.approx(influences[at], abs=2e-4)
    assert influences.mean() == pytest.approx(0, abs=1e-12)


def test_the_metric():
    found = metrics.get("augrc")
    assert (found.kind, found.better, found.bounds) == ("whole", "lower", (0.0, 0.5))


def test_the_truth_of_the_simulation():
    """The closed form against many images."""
    confidence, right = drawn(np.random.default_rng(0), 1_000_000)
    area, influences = influences_on_generalized_risk(confidence, right)
    assert area == pytest.approx(TRUTH, abs=4 * influences.std() / 1000)


@pytest.mark.parametrize("n", [100, 1000, 10_000])
def test_influences_give_an_interval_that_covers(n):
    rng = np.random.default_rng(n)
    held, sets = 0, 1000
    for _ in range(sets):
        area, influences = influences_on_generalized_risk(*drawn(rng, n))
        held += abs(area - TRUTH) <= ndtri(0.975) * influences.std() / np.sqrt(n)
    assert binomtest(held, sets, 0.95 if n > 100 else 0.94).pvalue > 0.001


@pytest.mark.slow
@pytest.mark.parametrize("n", [100, 500])
def test_the_bootstrap_covers(n):
    rng = np.random.default_rng(n)
    counts = rng.multinomial(n, np.full(n, 1 / n), size=400)
    held, sets = 0, 1000
    for _ in range(sets):
        draws = resampled_answers(["augrc"], *drawn(rng, n), [counts])["augrc"]
        low, high = np.quantile(draws, [0.025, 0.975])
        held += low <= TRUTH <= high
    assert binomtest(held, sets, 0.94).pvalue > 0.001
