"""A shift on linear and probit axes, each with its own line."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from oodometer.analysis.robustness import robustness_of
from oodometer.figures import FigureOptions, draw


def test_each_panel_has_the_line_that_is_straight_on_it(tabled, gid):
    figure = draw(tabled, "scales", FigureOptions(("v2",), 2))
    shift = tabled.shift("v2")
    for axes, scale in zip(figure.axes, ("linear", "probit"), strict=True):
        found = robustness_of(shift.points, replace(tabled.options, scale=scale))
        (said,) = [text.get_text() for text in axes.texts if text.get_gid() == "said"]
        assert said.startswith(f"slope {found.fitted.slope.value:.2f}\n")
        (line,) = gid(axes, "line")
        # Straight in pixels: the second differences vanish.
        pixels = axes.transData.transform(np.column_stack(line.get_data()))
        slopes = np.diff(pixels[:, 1]) / np.diff(pixels[:, 0])
        assert slopes == pytest.approx(slopes[0], rel=1e-6)
        error = dict(shift.robustness.scales)[scale]
        assert axes.get_title(loc="left") == f"{scale} axes (off by {100 * error:.1f} points)"
