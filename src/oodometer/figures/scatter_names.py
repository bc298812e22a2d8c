"""Names in a scatter: which models are named, framed and ringed, and what their names keep away from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from oodometer.analysis.points import Point
from oodometer.analysis.robustness_line import lines_of
from oodometer.figures.category_styles import MOST, ring
from oodometer.figures.hypothetical import said_of
from oodometer.figures.label_placement import Obstacles, write_names
from oodometer.figures.percent_axes import Span
from oodometer.figures.scatter_panel import Panel
from oodometer.figures.selection import to_name
from oodometer.figures.top_models import draw_frames
from oodometer.stats.scales import Scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FEW = 12
"""Models that are all named where nobody says which."""

FEW_IF_NARROW = 5
NARROW = 2.5
"""And in a panel of fewer inches than these."""


def write_models(axes: Axes, panel: Panel, label: Sequence[str]) -> None:
    """Names beside marks: those that are asked for or framed, or all where they are few; and frames and rings."""
    places = {point.model: _place(axes, point, panel.scale) for point in panel.points}
    asked = to_name(list(places), label, FEW if panel.side >= NARROW else FEW_IF_NARROW)
    chosen = list(dict.fromkeys([*panel.top.models, *asked]))
    obstacles = _obstacles(axes, panel, list(places.values()))
    draw_frames(axes, [places[name] for name in panel.top.models], n=len(places))
    if panel.hypothetical:
        at = 100 * np.array([panel.hypothetical])
        write_names(axes, [said_of(panel.hypothetical, panel.shift.robustness)], at, obstacles)
    if not chosen:
        return
    written = write_names(axes, chosen, np.array([places[name] for name in chosen]), obstacles)
    if len(chosen) < len(places):
        framed = {places[name] for name in panel.top.models}
        ring(axes, [note.xy for note in written if note.xy not in framed], n=len(places))


def _obstacles(axes: Axes, panel: Panel, places: Sequence[tuple[float, float]]) -> Obstacles:
    """What names keep away from: marks, intervals and lines."""
    robustness = panel.shift.robustness
    ends = np.linspace(max(axes.get_xlim()[0], axes.get_ylim()[0]), min(axes.get_xlim()[1], axes.get_ylim()[1]), 40)
    lines = [np.column_stack([ends, ends])] if ends[0] < ends[-1] else []
    lines += (
        [100 * np.column_stack([part[:, 0], line]) for part, line in lines_of(robustness.fitted, robustness.band)]
        if robustness
        else []
    )
    across = np.linspace(*axes.get_xlim(), 40)
    lines += [np.column_stack([across, np.full(40, 100 * person.value)]) for person in panel.people.values()]
    bars = [_bar(point) for point in panel.points]
    marks = list(places)
    if panel.hypothetical:
        x, y = 100 * panel.hypothetical[0], 100 * panel.hypothetical[1]
        marks.append((x, y))
        bars.append([x, x, y, y])
    return Obstacles(np.array(marks), np.array(bars) if len(places) <= MOST else None, tuple(lines))


def _place(axes: Axes, point: Point, scale: Scale) -> tuple[float, float]:
    """Where its mark is."""
    x, y = (
        Span(*limits, scale).clip(np.array(100 * accuracy.value))
        for limits, accuracy in ((axes.get_xlim(), point.x[0]), (axes.get_ylim(), point.y))
    )
    return float(x), float(y)


def _bar(point: Point) -> list[float]:
    """The ends of both intervals in percent."""
    return [
        100 * (accuracy.value if end is None else end)
        for accuracy in (point.x[0], point.y)
        for end in (accuracy.low, accuracy.high)
    ]
