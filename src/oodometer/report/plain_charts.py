"""Small pictures as inline SVG: an interval on a scale, and models as points beside a line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from oodometer.core.estimate import Estimate
from oodometer.report.robustness import ModelRobustness, Robustness
from oodometer.stats.scales import Scale, from_scale, to_scale

TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99)


def interval_bar(estimate: Estimate, *, low: float = 0.0, high: float = 1.0, width: int = 96) -> str:
    """The interval on the scale from ``low`` to ``high``, with a line at 0 where that is inside it."""
    height, middle = 14, 7

    def x(value: float) -> float:
        return round((min(max(value, low), high) - low) / (high - low) * (width - 8) + 4, 1)

    parts = [f'<line class="rail" x1="4" x2="{width - 4}" y1="{middle}" y2="{middle}"/>']
    if low < 0 < high:
        parts.append(f'<line class="rail" x1="{x(0)}" x2="{x(0)}" y1="1" y2="{height - 1}"/>')
    if estimate.low is not None and estimate.high is not None:
        ends = x(estimate.low), x(estimate.high)
        parts.append(f'<line class="reach" x1="{ends[0]}" x2="{ends[1]}" y1="{middle}" y2="{middle}"/>')
    parts.append(f'<circle class="dot" cx="{x(estimate.value)}" cy="{middle}" r="3.5"/>')
    return _svg(width, height, parts, label=str(estimate))


def _svg(width: int, height: int, parts: Sequence[str], *, label: str) -> str:
    head = f'<svg role="img" aria-label="{escape(label)}" width="{width}" height="{height}"'
    return f'{head} viewBox="0 0 {width} {height}">{"".join(parts)}</svg>'


@dataclass(frozen=True)
class _Axes:
    """Both accuracies on the scale of the line, from pixels (left, bottom) to (right, top)."""

    scale: Scale
    low: tuple[float, float]
    high: tuple[float, float]
    width: int = 620
    height: int = 460
    left: int = 58
    bottom: int = 412

    def x(self, share: float) -> float:
        """Pixels from the left."""
        return self._place(share, 0, self.left, self.width - 14)

    def y(self, share: float) -> float:
        """Pixels from the top."""
        return self._place(share, 1, self.bottom, 14)

    def _place(self, share: float, axis: int, start: float, stop: float) -> float:
        low, high = (self.on_scale(one[axis]) for one in (self.low, self.high))
        place = (self.on_scale(min(max(share, self.low[axis]), self.high[axis])) - low) / (high - low)
        return round(start + place * (stop - start), 1)

    def on_scale(self, share: float) -> float:
        """The accuracy as the line has it."""
        return float(to_scale(np.array([share]), self.scale)[0])


def scatter(found: Robustness, numbers: dict[str, int], titles: tuple[str, str]) -> str:
    """Every model as a point with both intervals, its number beside it; the line, its band, and where both are equal.

    Args:
        numbers: By which a table names the models.
        titles: Of the two axes.
    """
    axes = _Axes(found.fitted.scale, *_bounds(found.models))
    parts = [*_grid(axes, titles), *_equal(axes), *_line(axes, found)]
    for one in found.models:
        parts += _point(axes, one, numbers[one.model])
    label = f"{titles[1]} against {titles[0]}: {len(found.models)} models and the line through them"
    return _svg(axes.width, axes.height, parts, label=label)


def _bounds(models: Sequence[ModelRobustness]) -> tuple[tuple[float, float], tuple[float, float]]:
    """The ticks around all intervals: ((x low, y low), (x high, y high))."""
    low, high = [], []
    for sides in ([one.x[0] for one in models], [one.y for one in models]):
        least = min(one.value if one.low is None else one.low for one in sides)
        most = max(one.value if one.high is None else one.high for one in sides)
        low.append(max((tick for tick in TICKS if tick <= least), default=TICKS[0]))
        high.append(min((tick for tick in TICKS if tick >= most), default=TICKS[-1]))
    return (low[0], low[1]), (high[0], high[1])


def _grid(axes: _Axes, titles: tuple[str, str]) -> list[str]:
    parts = []
    for tick in (one for one in TICKS if axes.low[0] <= one <= axes.high[0]):
        x = axes.x(tick)
        parts.append(f'<line class="grid" x1="{x}" x2="{x}" y1="14" y2="{axes.bottom}"/>')
        parts.append(f'<text class="tick" text-anchor="middle" x="{x}" y="{axes.bottom + 17}">{100 * tick:.0f}</text>')
    for tick in (one for one in TICKS if axes.low[1] <= one <= axes.high[1]):
        y = axes.y(tick)
        parts.append(f'<line class="grid" x1="{axes.left}" x2="{axes.width - 14}" y1="{y}" y2="{y}"/>')
        parts.append(f'<text class="tick" text-anchor="end" x="{axes.left - 8}" y="{y + 4}">{100 * tick:.0f}</text>')
    middle = (axes.bottom + 14) / 2
    parts.append(
        f'<text class="title" text-anchor="middle" x="{(axes.left + axes.width) / 2}" y="{axes.height - 8}">'
        f"{escape(titles[0])}</text>"
    )
    parts.append(
        f'<text class="title" text-anchor="middle" transform="rotate(-90 14 {middle})" x="14" y="{middle}">'
        f"{escape(titles[1])}</text>"
    )
    return parts


def _equal(axes: _Axes) -> list[str]:
    """Where both accuracies are the same."""
    low, high = max(axes.low), min(axes.high)
    if low >= high:
        return []
    ends = f'x1="{axes.x(low)}" y1="{axes.y(low)}" x2="{axes.x(high)}" y2="{axes.y(high)}"'
    place = f'x="{axes.x(high) - 6}" y="{axes.y(high) + 16}"'
    return [f'<line class="equal" {ends}/>', f'<text class="tick" text-anchor="end" {place}>no loss</text>']


def _line(axes: _Axes, found: Robustness) -> list[str]:
    slope, intercept = found.fitted.slope, found.fitted.intercept
    if slope is None or intercept is None:
        return []
    places = [one[0] for one in found.band]
    upper = [(axes.x(x), axes.y(high)) for x, _, high in found.band]
    lower = [(axes.x(x), axes.y(low)) for x, low, _ in reversed(found.band)]
    band = " ".join(f"{x},{y}" for x, y in [*upper, *lower])
    expected = from_scale(slope.value * to_scale(np.array(places), axes.scale) + intercept.value, axes.scale)
    line = " ".join(f"{axes.x(x)},{axes.y(y)}" for x, y in zip(places, expected.tolist(), strict=True))
    return [f'<polygon class="band" points="{band}"/>', f'<polyline class="line" points="{line}"/>']


def _point(axes: _Axes, one: ModelRobustness, number: int) -> list[str]:
    x, y = axes.x(one.x[0].value), axes.y(one.y.value)
    kind = "dot" if one.in_baseline else "dot other"
    parts = []
    if one.x[0].low is not None and one.x[0].high is not None:
        ends = axes.x(one.x[0].low), axes.x(one.x[0].high)
        parts.append(f'<line class="whisker" x1="{ends[0]}" x2="{ends[1]}" y1="{y}" y2="{y}"/>')
    if one.y.low is not None and one.y.high is not None:
        ends = axes.y(one.y.low), axes.y(one.y.high)
        parts.append(f'<line class="whisker" x1="{x}" x2="{x}" y1="{ends[0]}" y2="{ends[1]}"/>')
    parts.append(f'<circle class="{kind}" cx="{x}" cy="{y}" r="4.5"><title>{escape(one.model)}</title></circle>')
    parts.append(f'<text class="number" x="{x + 7}" y="{y - 6}">{number}</text>')
    return parts
