"""The drawing of a shift: points where the numbers say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from oodometer.analysis.line_rules import RobustnessOptions, Rules
from oodometer.analysis.origins import Origin
from oodometer.analysis.points import Point, Points
from oodometer.analysis.robustness import robustness_of
from oodometer.core.estimate import Estimate
from oodometer.explorer.scatter import PATHS, scatter_of
from oodometer.report.palette import LOOKS, NOBODY_SAYS, OTHERS
from oodometer.stats.scales import from_scale, to_scale
from oodometer.study import StudyShift

FAR = (0.6, 0.7, 0.8, 0.9)


def shift(*pairs: tuple[float, float]) -> StudyShift:
    points = [
        Point(f"m{at}", Origin("standard"), (Estimate(x, None, None, None, ""),), Estimate(y, None, None, None, ""))
        for at, (x, y) in enumerate(pairs)
    ]
    drawn = Points(("clean",), "sketch", ("sketch",), tuple(points))
    return StudyShift("sketch", "style", True, drawn, None, Rules(RobustnessOptions(), ()))


def test_every_look_has_a_mark():
    assert {look.symbol for look in (*LOOKS.values(), *OTHERS, NOBODY_SAYS)} <= set(PATHS)


def test_distances_are_those_of_logits():
    found = scatter_of(shift((0.5, 0.2), (0.8, 0.5), (0.9, 0.6)), ["standard"])
    assert found is not None
    x, y = np.array([one.x for one in found.marks]), np.array([one.y for one in found.marks])
    # reference: log(p / (1 - p)) of 0.5, 0.8, 0.9 and of 0.2, 0.5, 0.6; places are rounded to tenths of a pixel
    logit_x, logit_y = np.log([1, 4, 9]), np.log([0.25, 1, 1.5])
    assert (x[1] - x[0]) / (x[2] - x[0]) == pytest.approx(np.diff(logit_x)[0] / np.ptp(logit_x), abs=1e-3)
    assert (y[1] - y[0]) / (y[2] - y[0]) == pytest.approx(np.diff(logit_y)[0] / np.ptp(logit_y), abs=1e-3)
    assert found.left <= x.min() < x.max() <= found.right
    assert found.top <= y.min() < y.max() <= found.bottom
    places = dict((text, place) for place, text in found.x_ticks)  # noqa: C402
    assert places["80"] == x[1]


def test_where_nothing_is_lost_both_axes_say_the_same():
    found = scatter_of(shift((0.5, 0.4), (0.9, 0.8)), ["standard"])
    assert found is not None
    assert found.equal is not None
    at_half = {text: place for place, text in found.x_ticks}["60"], {text: place for place, text in found.y_ticks}["60"]
    x1, y1, x2, y2 = found.equal
    # Both axes are logit, so the line is straight: 60 % on one is 60 % on the other.
    assert y1 + (at_half[0] - x1) * (y2 - y1) / (x2 - x1) == pytest.approx(at_half[1], abs=0.3)


def test_both_lines_of_a_knee_are_drawn():
    low, high = ((x, x / 3) for x in (0.3, 0.4, 0.5, 0.55)), ((x, x - 0.3) for x in (0.7, 0.8, 0.9, 0.95))
    bent = shift(*low, *high)
    robust = robustness_of(bent.points, RobustnessOptions(knee=0.6))
    found = scatter_of(replace(bent, robustness=robust), ["standard"])
    assert found is not None
    assert len(found.lines) == len(robust.fitted.pieces) == 2
    ends = [[float(place.partition(",")[0]) for place in line.split()] for line, _ in found.lines]
    places = [one.x for one in found.marks]
    # Each line goes from the first to the last model of its side.
    assert [(one[0], one[-1]) for one in ends] == [(places[0], places[3]), (places[4], places[7])]


def test_a_line_leaves_the_drawing_where_it_leaves_the_axes():
    """And does not go on along its edge: on its own scale it is straight."""
    pairs = [(x, 0.2) for x in (0.05, 0.1)] + [
        (x, from_scale(2 * to_scale(x, "logit") - 2, "logit").item()) for x in FAR
    ]
    bent = shift(*pairs)
    standard = [
        replace(one, origin=Origin("standard" if one.x[0].value in FAR else "other")) for one in bent.points.models
    ]
    points = replace(bent.points, models=tuple(standard))
    found = scatter_of(
        replace(bent, points=points, robustness=robustness_of(points, RobustnessOptions())), ["standard", "other"]
    )
    assert found is not None
    ((line, _),) = found.lines
    x, y = np.array([place.split(",") for place in line.split()], dtype=float).T
    assert y.max() > found.bottom + 10
    assert np.ptp(np.diff(y) / np.diff(x)) < 0.05  # places are rounded to tenths of a pixel


def test_models_at_the_ends_are_counted_and_left_out():
    found = scatter_of(shift((0.5, 0.0), (0.8, 0.5), (0.9, 0.6)), ["standard"])
    assert found is not None
    assert (found.left_out, len(found.marks)) == (1, 2)
    assert scatter_of(shift((0.5, 0.0), (1.0, 0.5)), ["standard"]) is None


def test_labels_of_ticks_do_not_overlap():
    found = scatter_of(shift((0.001, 0.001), (0.999, 0.999)), ["standard"])
    assert found is not None
    for ticks in (found.x_ticks, found.y_ticks):
        assert np.diff(sorted(place for place, _ in ticks)).min() >= 26
        assert len(ticks) >= 5
