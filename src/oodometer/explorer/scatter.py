"""The models of a shift as points: where each is drawn, in pixels; the template draws them as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from oodometer.analysis.robustness_line import lines_of
from oodometer.core.estimate import Estimate
from oodometer.document.numbers import value_text
from oodometer.explorer.render import category_of
from oodometer.report.palette import looks_of
from oodometer.stats.scales import Scale, from_scale, to_scale
from oodometer.study import StudyShift

WIDTH, HEIGHT = 720, 520
LEFT, RIGHT, TOP, BOTTOM = 62, 16, 16, 54
TICKS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995,
         0.998, 0.999)  # fmt: skip
LEAST = 1e-6
"""The smallest share that has a place; 1 minus it is the largest."""

LEAST_GAP = 26
"""Pixels between the labels of two ticks."""

PATHS = {
    "circle": "M-5,0a5,5 0 1,0 10,0a5,5 0 1,0 -10,0Z",
    "diamond": "M0,-6.2L6.2,0L0,6.2L-6.2,0Z",
    "x": "M-5,-3L-3,-5L0,-2L3,-5L5,-3L2,0L5,3L3,5L0,2L-3,5L-5,3L-2,0Z",
    "triangle-up": "M0,-6L6,5L-6,5Z",
    "square": "M-4.6,-4.6H4.6V4.6H-4.6Z",
    "star": "M0,-6.5L1.6,-2L6.4,-2L2.6,1L4,5.6L0,2.8L-4,5.6L-2.6,1L-6.4,-2L-1.6,-2Z",
    "cross": "M-1.8,-5.4H1.8V-1.8H5.4V1.8H1.8V5.4H-1.8V1.8H-5.4V-1.8H-1.8Z",
    "triangle-down": "M0,6L6,-5L-6,-5Z",
    "pentagon": "M0,-5.8L5.5,-1.8L3.4,4.7L-3.4,4.7L-5.5,-1.8Z",
    "triangle-left": "M-6,0L5,-6L5,6Z",
    "triangle-right": "M6,0L-5,-6L-5,6Z",
    "hexagon": "M-5.6,0L-2.8,-4.9L2.8,-4.9L5.6,0L2.8,4.9L-2.8,4.9Z",
}
"""The marks of `oodometer.report.palette`, around 0."""


@dataclass(frozen=True)
class Mark:
    """A model: its place, the ends of its intervals, and the look of its category by number."""

    model: str
    title: str
    look: int
    path: str
    x: float
    y: float
    reach_x: tuple[float, float] | None
    reach_y: tuple[float, float] | None


@dataclass(frozen=True)
class Scatter:
    """A drawing.

    Args:
        x_ticks, y_ticks: Places and labels.
        lines: Of each line the points of a polyline, and of its band those of a polygon, as SVG has them; some may lie
            outside the axes.
        equal: Ends of the line where nothing is lost; None where it is outside.
        legend: Category, number of its look, path of its mark.
        left_out: Models at 0 or 100 %, which have no place on the scale.
    """

    scale: Scale
    x_name: str
    y_name: str
    x_ticks: list[tuple[float, str]]
    y_ticks: list[tuple[float, str]]
    marks: list[Mark]
    lines: list[tuple[str, str]]
    equal: tuple[float, float, float, float] | None
    legend: list[tuple[str, int, str]]
    left_out: int
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = WIDTH - RIGHT
    top: int = TOP
    bottom: int = HEIGHT - BOTTOM


@dataclass(frozen=True)
class _Axis:
    """Accuracies on the scale, between two of them, to pixels."""

    scale: Scale
    low: float
    high: float
    start: float
    stop: float

    def place(self, share: float) -> float:
        """Pixels; beyond the ends where it would be, 0 and 1 very far out."""
        finite = min(max(share, LEAST), 1 - LEAST)
        low, value, high = (float(one) for one in to_scale(np.array([self.low, finite, self.high]), self.scale))
        return round(self.start + (value - low) / (high - low) * (self.stop - self.start), 1)

    def ticks(self) -> list[tuple[float, str]]:
        """Places and labels, as many as can be told apart; the rounder ones first."""
        shown: list[tuple[float, str]] = []
        inside = [one for one in TICKS if self.low <= one <= self.high]
        for tick in sorted(inside, key=lambda one: (one not in (0.5, 0.9, 0.1, 0.99, 0.01, 0.2, 0.8), one)):
            place = self.place(tick)
            if all(abs(place - other) >= LEAST_GAP for other, _ in shown):
                shown.append((place, f"{100 * tick:g}"))
        return sorted(shown)


def scatter_of(shift: StudyShift, categories: Sequence[str]) -> Scatter | None:
    """The models of a shift on the scale of its line; None where no two of them have a place on it."""
    scale: Scale = shift.robustness.fitted.scale if shift.robustness else "logit"
    points = [one for one in shift.points.models if 0 < one.x[0].value < 1 and 0 < one.y.value < 1]
    if len(points) < 2:
        return None
    x = _axis([one.x[0] for one in points], scale, LEFT, WIDTH - RIGHT)
    y = _axis([one.y for one in points], scale, HEIGHT - BOTTOM, TOP)
    names = [category_of(one.origin.category) for one in points]
    looks = {name: (place, PATHS[look.symbol]) for place, (name, look) in enumerate(looks_of(categories).items())}
    marks = [
        Mark(
            one.model,
            f"{one.model}: {value_text(one.x[0], 'percent')} % on {shift.points.x[0]}, "
            f"{value_text(one.y, 'percent')} % on {shift.name}",
            *looks[name],
            x.place(one.x[0].value),
            y.place(one.y.value),
            _reach(x, one.x[0]),
            _reach(y, one.y),
        )
        for one, name in zip(points, names, strict=True)
    ]
    return Scatter(
        scale, shift.points.x[0], shift.name, x.ticks(), y.ticks(), marks, _lines(shift, x, y), _equal(x, y),
        [(name, *looks[name]) for name in looks if name in names], len(shift.points.models) - len(points),
    )  # fmt: skip


def _axis(estimates: Sequence[Estimate], scale: Scale, start: float, stop: float) -> _Axis:
    """From a little below the least interval to a little above the greatest."""
    ends = [end for one in estimates for end in (one.value, one.low, one.high) if end is not None and 0 < end < 1]
    low, high = (float(one) for one in to_scale(np.array([min(ends), max(ends)]), scale))
    room = 0.05 * (high - low) or 0.1
    least, most = (float(one) for one in from_scale(np.array([low - room, high + room]), scale))
    return _Axis(scale, max(least, LEAST), min(most, 1 - LEAST), start, stop)


def _reach(axis: _Axis, estimate: Estimate) -> tuple[float, float] | None:
    if estimate.low is None or estimate.high is None:
        return None
    return axis.place(max(estimate.low, axis.low)), axis.place(min(estimate.high, axis.high))


def _equal(x: _Axis, y: _Axis) -> tuple[float, float, float, float] | None:
    low, high = max(x.low, y.low), min(x.high, y.high)
    return (x.place(low), y.place(low), x.place(high), y.place(high)) if low < high else None


def _lines(shift: StudyShift, x: _Axis, y: _Axis) -> list[tuple[str, str]]:
    """Each line and its band, as the points of a shape."""
    drawn = []
    for part, expected in lines_of(shift.robustness.fitted, shift.robustness.band) if shift.robustness else ():
        at, low, high = part.T
        around = np.concatenate([at, at[::-1]]), np.concatenate([high, low[::-1]])
        drawn.append((_shape(x, y, at, expected), _shape(x, y, *around)))
    return drawn


def _shape(x: _Axis, y: _Axis, at: np.ndarray, values: np.ndarray) -> str:
    return " ".join(f"{x.place(a)},{y.place(b)}" for a, b in zip(at.tolist(), values.tolist(), strict=True))
