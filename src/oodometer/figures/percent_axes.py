"""Axes of accuracies in percent, on a linear, logit or probit scale, with few and round numbers on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from oodometer.stats.scales import Scale, from_scale, to_scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEAST = 1e-9
"""The scales have no 0 and no 1; nothing is shown that near to them."""

ROOM = 0.05
"""Of the axis, at both ends."""

SMALLEST = 0.05
"""Percent: what is below, and above 100 minus this, is drawn at the edge of a logit or probit axis."""

STEPS = (50.0, 20.0, 10.0, 5.0, 2.0, 1.0, 0.5, 0.2, 0.1)
TAILS = (10.0, 1.0, 5.0, 20.0, 2.0, 0.1, 0.5, 0.2)
"""Round numbers near 0, and 100 minus them near 100, which are tried in this order."""


@dataclass(frozen=True)
class Span:
    """The part of an axis that is shown, in percent."""

    low: float
    high: float
    scale: Scale

    def clip(self, percent: np.ndarray) -> np.ndarray:
        """What lies outside is brought to the edge; and 0 and 100, which have no place on logit and probit axes."""
        if self.scale == "linear":
            return np.asarray(np.clip(percent, self.low, self.high))
        return np.asarray(np.clip(percent, max(self.low, SMALLEST), min(self.high, 100 - SMALLEST)))

    def place(self, percent: np.ndarray | float) -> np.ndarray:
        """Where it lies along the axis: 0 at its low end, 1 at its high end."""
        ends = on_scale(np.array([self.low, self.high]), self.scale)
        return np.asarray((on_scale(np.asarray(percent), self.scale) - ends[0]) / (ends[1] - ends[0]))


def on_scale(percent: np.ndarray, scale: Scale) -> np.ndarray:
    """Percent on a scale that has a place for 0 and 100, very far out."""
    if scale == "linear":
        return np.asarray(percent, dtype=np.float64) / 100
    return to_scale(np.clip(np.asarray(percent, dtype=np.float64) / 100, LEAST, 1 - LEAST), scale)


def span_of(percent: Sequence[float] | np.ndarray, scale: Scale) -> Span:
    """The part of the axis that shows all these, with some room at both ends."""
    values = np.asarray(percent, dtype=np.float64)
    if scale != "linear":
        values = np.clip(values, SMALLEST, 100 - SMALLEST)
    ends = on_scale(np.array([values.min(), values.max()]), scale)
    room = ROOM * (ends[1] - ends[0]) or 0.1
    low, high = 100 * from_scale(np.array([ends[0] - room, ends[1] + room]), scale)
    return Span(float(low), float(high), scale)


def ticks_of(span: Span, *, apart: float) -> list[float]:
    """Round percentages at least ``apart`` of the axis from each other.

    >>> ticks_of(Span(1.5, 97.0, "logit"), apart=0.08)
    [2.0, 5.0, 10.0, 20.0, 40.0, 60.0, 80.0, 90.0, 95.0]
    """
    chosen = _regular(span, apart)
    if span.scale == "linear":
        return chosen
    for tail in TAILS:
        for tick in (tail, 100 - tail):
            far = all(abs(float(span.place(tick) - span.place(one))) >= apart for one in chosen)
            if span.low <= tick <= span.high and far:
                chosen.append(tick)
    return sorted(chosen)


def _regular(span: Span, apart: float) -> list[float]:
    """The multiples of the finest step that leaves them far enough apart."""
    best: list[float] = []
    for step in STEPS:
        first, last = np.ceil(span.low / step - 1e-9), np.floor(span.high / step + 1e-9)
        ticks = [round(float(step * at), 6) + 0.0 for at in np.arange(first, last + 1)]
        if span.scale != "linear":
            ticks = [tick for tick in ticks if 0 < tick < 100]
        if len(ticks) > 1 and np.diff(span.place(np.array(ticks))).min() < apart - 1e-9:
            break
        best = ticks
    return best


def set_percent_axis(axes: Axes, which: Literal["x", "y"], span: Span, *, apart: float = 0.1) -> None:
    """Give the axis its scale, its ends and its numbers."""
    axis = axes.xaxis if which == "x" else axes.yaxis
    set_scale = axes.set_xscale if which == "x" else axes.set_yscale
    if span.scale != "linear":
        scale = span.scale
        set_scale(
            "function",
            functions=(lambda percent: on_scale(percent, scale), lambda value: 100 * from_scale(value, scale)),
        )
    (axes.set_xlim if which == "x" else axes.set_ylim)(span.low, span.high)
    ticks = ticks_of(span, apart=apart)
    axis.set_ticks(ticks, labels=[f"{tick:g}" for tick in ticks])
    axis.set_ticks([], minor=True)
