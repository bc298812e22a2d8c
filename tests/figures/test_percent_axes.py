"""Axes in percent: what they show, and the numbers on them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oodometer.figures.percent_axes import Span, on_scale, set_percent_axis, span_of, ticks_of
from oodometer.figures.style import new_figure, paper_style
from oodometer.stats.scales import SCALES, to_scale

PERCENT = st.floats(0.0, 100.0, allow_nan=False)


@given(st.lists(PERCENT, min_size=1, max_size=20), st.sampled_from(SCALES))
def test_all_models_are_in_view(values, scale):
    span = span_of(values, scale)
    placed = span.place(span.clip(np.array(values)))
    assert (placed >= 0).all()
    assert (placed <= 1).all()
    kept = np.array(values)[(np.array(values) > 0.05) & (np.array(values) < 99.95)]
    assert span.clip(kept) == pytest.approx(kept)  # only 0 and 100, which have no place, are moved


@given(st.lists(PERCENT, min_size=2, max_size=5), st.sampled_from(SCALES), st.sampled_from([0.08, 0.1, 0.16]))
def test_ticks_are_in_view_and_apart(values, scale, apart):
    span = span_of(values, scale)
    ticks = ticks_of(span, apart=apart)
    assert ticks == sorted(set(ticks))
    assert all(span.low - 1e-6 <= tick <= span.high + 1e-6 for tick in ticks)
    assert (np.diff(span.place(np.array(ticks))) >= apart - 1e-9).all()


@pytest.mark.parametrize(
    ("low", "high", "scale", "ticks"),
    [
        (55, 90, "logit", [60, 70, 80, 90]),
        (0, 100, "linear", [0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100]),
        (71, 74, "linear", [71, 71.5, 72, 72.5, 73, 73.5, 74]),
        (0.06, 99.0, "logit", [0.1, 1, 10, 50, 90, 99]),
    ],
)
def test_ticks_are_round(low, high, scale, ticks):
    found = ticks_of(Span(low, high, scale), apart=0.1)
    assert set(ticks) <= set(found)
    assert all(float(f"{tick:.3g}") == tick for tick in found)


@pytest.mark.parametrize("scale", SCALES)
def test_the_axis_places_percentages_by_the_scale(scale):
    with paper_style():
        axes = new_figure(1, 3.0).subplots()
        span = Span(5.0, 95.0, scale)
        set_percent_axis(axes, "x", span)
    assert axes.get_xlim() == (5.0, 95.0)
    # reference: the scales of the statistics
    values = np.array([0.05, 0.2, 0.5, 0.8, 0.95])
    wanted = (to_scale(values, scale) - to_scale(0.05, scale)) / (to_scale(0.95, scale) - to_scale(0.05, scale))
    pixels = axes.transData.transform(np.column_stack([100 * values, np.zeros(5)]))[:, 0]
    assert (pixels - pixels[0]) / (pixels[-1] - pixels[0]) == pytest.approx(wanted)


def test_0_and_100_are_drawn_at_the_edge():
    span = span_of([0.0, 50.0, 100.0], "logit")
    assert span.clip(np.array([0.0, 100.0])).tolist() == [0.05, 99.95]
    assert np.isfinite(on_scale(np.array([0.0, 100.0]), "probit")).all()
