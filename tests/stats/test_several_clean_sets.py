"""Planes over several clean sets: against statsmodels, and against lines where there is one set."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.api import OLS, add_constant

from oodometer.core.errors import OodometerError
from oodometer.stats.effective_robustness import effective_robustness
from oodometer.stats.lines import fit_line
from oodometer.stats.scales import SCALES, from_scale, to_scale
from oodometer.stats.several_clean_sets import Plane, fit_plane

quick = settings(deadline=None, derandomize=True, max_examples=30)


def table(seed: int, models: int = 12, sets: int = 2) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.uniform(0.3, 0.9, (models, sets)), rng.uniform(0.2, 0.8, models)


@pytest.mark.parametrize("scale", SCALES)
@quick
@given(seed=st.integers(0, 1000), sets=st.integers(1, 4))
def test_planes_agree_with_statsmodels(scale, seed, sets):
    x, y = table(seed, sets=sets)
    plane = fit_plane(x, y, scale=scale)
    # reference: statsmodels' OLS on the scale
    expected = OLS(to_scale(y, scale), add_constant(to_scale(x, scale))).fit()
    assert (plane.intercept, *plane.slopes) == pytest.approx(tuple(expected.params), abs=1e-8)
    assert plane.r2 == pytest.approx(expected.rsquared, abs=1e-9)
    assert (plane.n, plane.left_out) == (12, 0)
    assert plane.at(x) == pytest.approx(from_scale(expected.fittedvalues, scale), abs=1e-9)
    assert effective_robustness(x, y, plane) == pytest.approx(y - plane.at(x))


def test_one_set_is_a_line():
    x, y = table(1, sets=1)
    plane, line = fit_plane(x, y), fit_line(x[:, 0], y)
    assert (plane.slopes[0], plane.intercept, plane.r2) == pytest.approx((line.slope, line.intercept, line.r2))
    assert plane.at(x) == pytest.approx(line.at(x[:, 0]))


def test_models_at_nothing_and_everything_are_left_out_and_counted():
    x, y = table(2)
    plain = fit_plane(x, y)
    more = fit_plane(np.vstack([x, [[0.5, 1.0], [0.5, 0.6]]]), np.append(y, [0.5, 0.0]))
    assert (more.slopes, more.n, more.left_out) == (plain.slopes, 12, 2)


def test_a_model_robust_on_one_set_only_is_not_robust_on_both():
    # Shifted accuracy is the mean of two clean ones; a model trained for the second looks robust beside the first.
    x, _ = table(3, models=20)
    x[:19, 1] = x[:19, 0] - 0.1 + 0.01 * np.cos(np.arange(19))
    x[19] = [0.5, 0.8]
    y = x.mean(axis=1)
    line, plane = fit_line(x[:19, 0], y[:19], scale="linear"), fit_plane(x[:19], y[:19], scale="linear")
    assert effective_robustness(0.5, y[19], line) > 0.1
    assert effective_robustness(x[19], y[19], plane) == pytest.approx(0, abs=1e-9)


def test_as_many_models_as_unknowns_and_one_more():
    x, y = table(4, models=4)
    assert fit_plane(x, y).n == 4
    with pytest.raises(OodometerError, match="3 models for 2 clean sets: at least 4 are needed"):
        fit_plane(x[:3], y[:3])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda x, y: (x[:, 0], y), "expected"),
        (lambda x, y: (x, y[:-1]), "expected"),
        (lambda x, y: (x[:, :0], y), "expected"),
        (lambda x, y: (np.where(x > 0.8, np.nan, x), y), "not measured"),
        (lambda x, y: (x * 100, y), "divide percentages"),
        (lambda x, y: (x[:, [0, 0]], y), "leave a set out"),
        (lambda x, y: (x, np.full_like(y, 0.5)), "same shifted accuracy"),
        (lambda x, y: (x, np.where(np.arange(12) > 2, 0.0, y)), r"3 models \(9 at exactly 0 % or 100 % left out\)"),
    ],
)
def test_what_determines_no_plane_is_an_error(change, message):
    with pytest.raises(OodometerError, match=message):
        fit_plane(*change(*table(5)))


def test_limits_and_places_without_a_value():
    plane = Plane("logit", (0.5, 0.5), 0.0, 1, 9, 0)
    assert plane.at([[0.0, 0.5], [1.0, 0.5], [0.5, 0.5]]).tolist() == [0.0, 1.0, 0.5]
    assert np.isnan(plane.at([np.nan, 0.5]))
    with pytest.raises(OodometerError, match="no value there"):
        plane.at([0.0, 1.0])
    with pytest.raises(OodometerError, match="one column for each of 2 sets"):
        plane.at([0.5, 0.5, 0.5])
