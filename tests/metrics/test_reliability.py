"""The reliability curve: against plain masks, scikit-learn's calibration_curve, and the calibration errors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.calibration import calibration_curve

from oodometer.core.errors import OodometerError, UsageError
from oodometer.metrics.calibration_error import adaptive_calibration_error, expected_calibration_error
from oodometer.metrics.reliability import equal_mass_edges, reliability_curve

quick = settings(deadline=None, derandomize=True, max_examples=100)


def answers(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    confidence = rng.beta(4, 1, n)
    return confidence, rng.random(n) < confidence**2


@pytest.mark.parametrize(("binning", "strategy"), [("equal-width", "uniform"), ("equal-mass", "quantile")])
def test_agrees_with_scikit_learn(binning, strategy):
    confidence, right = answers(1501)  # 1,500 = 15 x 100 steps between quantiles, which then are images
    # reference: sklearn.calibration.calibration_curve; none of these images lies on an edge but the quantiles, which
    # scikit-learn puts into the bin above: its bins begin one image earlier
    accuracy, mean_confidence = calibration_curve(right, confidence, n_bins=15, strategy=strategy)
    curve = reliability_curve(confidence, right, bins=15, binning=binning)
    tolerance = 1e-12 if binning == "equal-width" else 0.011
    assert curve.accuracy == pytest.approx(accuracy, abs=tolerance)
    assert curve.confidence == pytest.approx(mean_confidence, abs=tolerance)


@quick
@given(
    st.lists(st.tuples(st.integers(0, 30), st.booleans()), min_size=1, max_size=80),
    st.integers(1, 20),
    st.sampled_from(["equal-width", "equal-mass"]),
    st.randoms(use_true_random=False),
)
def test_curve_is_a_partition_that_no_order_changes(pairs, bins, binning, random):
    curve = reliability_curve(*unpacked(pairs), bins=bins, binning=binning)
    confidence, right = unpacked(pairs)
    assert (curve.n > 0).all()
    assert (curve.n.sum(), curve.right.sum()) == (len(pairs), right.sum())
    assert (curve.low[1:] > curve.high[:-1]).all()
    for n, n_right, mean, low, high in zip(*vars(curve).values(), strict=True):
        inside = (confidence >= low) & (confidence <= high)
        assert (n, n_right) == (inside.sum(), right[inside].sum())
        assert mean == pytest.approx(confidence[inside].mean())
    random.shuffle(pairs)
    again = reliability_curve(*unpacked(pairs), bins=bins, binning=binning)
    assert [one.tolist() for one in vars(again).values()] == [one.tolist() for one in vars(curve).values()]


def unpacked(pairs):
    return np.array([c for c, _ in pairs]) / 30, np.array([r for _, r in pairs])


@pytest.mark.parametrize("bins", [1, 2, 15, 40])
def test_calibration_errors_follow_from_it(bins):
    confidence, right = answers(999)
    width = reliability_curve(confidence, right, bins=bins)
    mass = reliability_curve(confidence, right, bins=bins, binning="equal-mass")
    ece, adaptive = (float(curve.n / 999 @ np.abs(curve.gap)) for curve in (width, mass))
    assert ece == pytest.approx(expected_calibration_error(confidence, right, bins=bins), abs=1e-12)
    # All confidences differ, so no tie is cut and the two make the same bins.
    assert adaptive == pytest.approx(adaptive_calibration_error(confidence, right, bins=bins), abs=1e-12)


def test_a_tie_stays_in_one_bin():
    curve = reliability_curve(np.repeat([0.2, 0.9, 1.0], [3, 5, 2]), np.ones(10, bool), bins=5, binning="equal-mass")
    assert (curve.n.tolist(), curve.low.tolist()) == ([3, 5, 2], [0.2, 0.9, 1.0])


@quick
@given(st.integers(1, 500), st.integers(1, 60))
def test_equal_mass_is_as_equal_as_can_be(n, bins):
    sizes = np.diff(equal_mass_edges(n, bins))
    assert (len(sizes), sizes.sum()) == (min(n, bins), n)
    assert sizes.max() - sizes.min() <= 1


def test_a_confidence_on_an_edge_belongs_to_the_bin_below():
    confidence = np.arange(16) / 15
    curve = reliability_curve(confidence, np.ones(16, bool), bins=15)
    # (0, 1/15], (1/15, 2/15], ...: one each, and zero in the first
    assert curve.n.tolist() == [2, *[1] * 14]
    assert curve.high.tolist() == confidence[1:].tolist()


def test_one_image():
    curve = reliability_curve(np.array([0.0]), np.array([True]))
    assert (curve.n.tolist(), curve.right.tolist(), curve.gap.tolist()) == ([1], [1], [-1.0])


def test_float32_and_integers_are_welcome():
    confidence, right = answers(100)
    curve = reliability_curve(confidence.astype(np.float32), right.astype(np.int32))
    assert curve.right.dtype == np.int64
    assert curve.n.sum() == 100


@pytest.mark.parametrize(
    ("confidence", "right", "message"),
    [
        ([], [], "no images"),
        ([0.5], [True, False], "as long"),
        ([[0.5]], [[True]], "one row"),
        ([np.nan, 0.5], [True, False], "outside of"),
        ([0.5], [0.5], "right or wrong"),
    ],
)
def test_what_is_undefined_is_an_error(confidence, right, message):
    with pytest.raises(OodometerError, match=message):
        reliability_curve(np.array(confidence), np.array(right))


def test_unknown_binnings_are_errors():
    with pytest.raises(UsageError, match="did you mean equal-mass"):
        reliability_curve(*answers(5), binning="equal_mass")
    with pytest.raises(OodometerError, match="0 bins"):
        reliability_curve(*answers(5), bins=0)
