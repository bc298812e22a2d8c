"""Agreement on the line: closed forms, and the definitions written out with numpy's general least squares."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from oodometer.core.errors import OodometerError
from oodometer.metrics.agreement import agreement_matrix
from oodometer.stats.agreement_line import agreement_line, aline_d, aline_s


def symmetric(pairs: np.ndarray, n: int) -> np.ndarray:
    """Agreements of all pairs in the order of `combinations`, as a matrix."""
    matrix = np.eye(n)
    for value, (first, second) in zip(pairs, combinations(range(n), 2), strict=True):
        matrix[first, second] = matrix[second, first] = value
    return matrix


def made(n: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Clean accuracies, clean and shifted agreements of n models, at random."""
    rng = np.random.default_rng(seed)
    n_pairs = n * (n - 1) // 2
    clean = rng.uniform(0.3, 0.95, n_pairs)
    shifted = norm.cdf(0.9 * norm.ppf(clean) - 0.4 + rng.normal(0, 0.1, n_pairs))
    return rng.uniform(0.3, 0.95, n), symmetric(clean, n), symmetric(shifted, n)


@settings(deadline=None, derandomize=True, max_examples=50)
@given(st.integers(3, 12), st.integers(0, 10_000), st.floats(0.3, 1.5), st.floats(-1.5, 0.5))
def test_exactly_on_the_line_both_give_the_line(n: int, seed: int, slope: float, intercept: float) -> None:
    # Closed form: where every agreement lies on the line, so does every pair's mean accuracy, and every accuracy.
    accuracy, clean, _ = made(n, seed)
    shifted = norm.cdf(slope * norm.ppf(clean) + intercept)
    expected = norm.cdf(slope * norm.ppf(accuracy) + intercept)
    assert aline_s(accuracy, clean, shifted) == pytest.approx(expected, abs=1e-9)
    assert aline_d(accuracy, clean, shifted) == pytest.approx(expected, abs=1e-9)


@settings(deadline=None, derandomize=True, max_examples=50)
@given(st.integers(3, 12), st.integers(0, 10_000))
def test_against_general_least_squares(n: int, seed: int) -> None:
    # reference: numpy.polyfit for the line; numpy.linalg.lstsq on the equations of all pairs for ALine-D
    accuracy, clean, shifted = made(n, seed)
    x, y = (np.array([norm.ppf(side[pair]) for pair in combinations(range(n), 2)]) for side in (clean, shifted))
    slope, intercept = np.polyfit(x, y, 1)
    line = agreement_line(clean, shifted)
    assert (line.slope, line.intercept) == pytest.approx((slope, intercept), abs=1e-9)
    assert line.r2 == pytest.approx(np.corrcoef(x, y)[0, 1] ** 2, abs=1e-9)
    assert aline_s(accuracy, clean, shifted) == pytest.approx(norm.cdf(slope * norm.ppf(accuracy) + intercept))
    design, wanted = np.zeros((len(x), n)), np.zeros(len(x))
    for row, (first, second) in enumerate(combinations(range(n), 2)):
        design[row, [first, second]] = 0.5
        wanted[row] = y[row] + slope * (norm.ppf(accuracy[[first, second]]).mean() - x[row])
    assert aline_d(accuracy, clean, shifted) == pytest.approx(norm.cdf(np.linalg.lstsq(design, wanted)[0]), abs=1e-8)


def test_the_order_of_the_models_is_nothing() -> None:
    accuracy, clean, shifted = made(6, 1)
    order = np.array([3, 0, 5, 1, 4, 2])
    for method in (aline_s, aline_d):
        told = method(accuracy[order], clean[np.ix_(order, order)], shifted[np.ix_(order, order)])
        assert told == pytest.approx(method(accuracy, clean, shifted)[order], abs=1e-12)


def test_models_that_always_agree_are_no_point() -> None:
    accuracy, clean, shifted = made(5, 2)
    clean[0, 1] = clean[1, 0] = shifted[0, 1] = shifted[1, 0] = 1.0
    line = agreement_line(clean, shifted)
    assert (line.n, line.left_out) == (9, 1)
    assert np.isfinite(aline_s(accuracy, clean, shifted)).all()
    assert np.isfinite(aline_d(accuracy, clean, shifted)).all()


def test_a_model_that_is_always_right_stays_so_and_has_no_place_among_pairs() -> None:
    accuracy, clean, shifted = made(5, 3)
    accuracy[2] = 1.0
    assert aline_s(accuracy, clean, shifted)[2] == 1.0
    told = aline_d(accuracy, clean, shifted)
    assert np.isnan(told).tolist() == [False, False, True, False, False]


def test_what_determines_no_line_is_an_error() -> None:
    two = np.array([[1.0, 0.8], [0.8, 1.0]])
    with pytest.raises(OodometerError, match="2 models: a line through the agreements of pairs needs at least 3"):
        agreement_line(two, two)
    alike = symmetric(np.full(3, 0.8), 3)
    with pytest.raises(OodometerError, match="all pairs of models agree equally often"):
        agreement_line(alike, symmetric(np.array([0.5, 0.6, 0.7]), 3))
    always = np.ones((4, 4))
    with pytest.raises(OodometerError, match="0 of 6 pairs of models agree sometimes and not always"):
        agreement_line(always, always)
    with pytest.raises(OodometerError, match="need one for every two"):
        agreement_line(np.ones((3, 3)), np.ones((4, 4)))
    with pytest.raises(OodometerError, match="give one per model"):
        aline_s(np.ones(2), *made(3, 0)[1:])
    accuracy, clean, shifted = made(4, 0)
    for side in (clean, shifted):  # only a chain of pairs is left: w1 + w2, w2 + w3, w3 + w4 do not tell the four
        side[[0, 2, 0, 3, 1, 3], [2, 0, 3, 0, 3, 1]] = 1.0
    with pytest.raises(OodometerError, match="too few pairs"):
        aline_d(accuracy, clean, shifted)


def test_where_networks_see_less_of_every_image_the_line_tells_how_much_they_lose() -> None:
    # A simulation: the logits of a class are what a network sees of it, plus noise that half the networks share; under
    # the shift all see 0.7 of it. The truth is counted; "nothing is lost" and the mean agreement are far off.
    rng = np.random.default_rng(0)

    def seen(light: float) -> tuple[np.ndarray, np.ndarray]:
        truth, noise = rng.integers(10, size=20_000), rng.normal(size=(20_000, 10))
        shown = light * rng.gamma(4, 0.8, (20_000, 1)) * np.eye(10)[truth]
        logits = [
            skill * shown + 0.7 * noise + 0.7 * rng.normal(size=noise.shape) for skill in np.linspace(0.6, 1.6, 8)
        ]
        answers = np.stack([one.argmax(axis=1) for one in logits])
        return (answers == truth).mean(axis=1), agreement_matrix(answers)

    (clean, agree_clean), (shifted, agree_shifted) = seen(1.0), seen(0.7)
    nothing_lost = np.abs(clean - shifted).mean()
    mean_agreement = np.abs((agree_shifted.sum(axis=1) - 1) / 7 - shifted).mean()
    for method in (aline_s, aline_d):
        off = np.abs(method(clean, agree_clean, agree_shifted) - shifted).mean()
        assert off < 0.02
        assert 4 * off < nothing_lost
        assert 2 * off < mean_agreement
