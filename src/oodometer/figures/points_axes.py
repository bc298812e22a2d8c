"""Models as marks with intervals on axes of differences, in percentage points."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from oodometer.core.estimate import Estimate
from oodometer.figures.category_styles import MOST, Looks, draw_marks, ring
from oodometer.figures.label_placement import Obstacles, write_names
from oodometer.figures.selection import to_name
from oodometer.figures.style import SOFT

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FEW = 12
"""Models that are all named where nobody says which."""

ROOM = 0.07
"""Of each axis, at both ends."""


@dataclass(frozen=True)
class Mark:
    """A model between two numbers."""

    model: str
    category: str
    x: Estimate
    y: Estimate


def ends_of(one: Estimate) -> tuple[float, float]:
    """The ends of its interval in points; the number itself where there is none."""
    return (100 * (one.value if one.low is None else one.low), 100 * (one.value if one.high is None else one.high))


def draw_differences(axes: Axes, marks: Sequence[Mark], looks: Looks, *, room: float = ROOM) -> None:
    """The marks with their intervals, and the two lines of no difference; ``room`` above and below, of the height."""
    axes.axhline(0, color=SOFT, linewidth=0.8, zorder=1)
    axes.axvline(0, color=SOFT, linewidth=0.8, zorder=1)
    counts = Counter(one.category for one in marks)
    few = len(marks) <= MOST
    for category, _ in counts.most_common():  # the rare ones on top
        some = [one for one in marks if one.category == category]
        look = looks.of(category)
        x, y = (100 * np.array([getattr(one, side).value for one in some]) for side in "xy")
        axes.errorbar(
            x,
            y,
            xerr=_reach([one.x for one in some]),
            yerr=_reach([one.y for one in some]),
            fmt="none",
            ecolor=look.colour,
            elinewidth=0.6 if few else 0.4,
            alpha=0.5 if few else 0.22,
            zorder=3,
        )
        draw_marks(axes, x, y, look, n=len(marks))
    axes.set_xlim(*_limits([one.x for one in marks], few=few, share=ROOM))
    axes.set_ylim(*_limits([one.y for one in marks], few=few, share=room))


def _reach(estimates: Sequence[Estimate]) -> np.ndarray:
    """How far each interval reaches to both sides, (2, n) in points."""
    values = 100 * np.array([one.value for one in estimates])
    low, high = np.array([ends_of(one) for one in estimates]).T
    return np.asarray(np.maximum(np.stack([values - low, high - values]), 0))


def _limits(estimates: Sequence[Estimate], *, few: bool, share: float) -> tuple[float, float]:
    """The ends of an axis that shows all marks and 0; and all intervals, where they are few."""
    values = [100 * one.value for one in estimates] + [0.0]
    if few:
        values += [end for one in estimates for end in ends_of(one)]
    room = share * (max(values) - min(values)) or 1.0
    return min(values) - room, max(values) + room


def write_marks(axes: Axes, marks: Sequence[Mark], label: Sequence[str]) -> None:
    """Names beside marks: those that are asked for, or all where they are few."""
    places = {one.model: (100 * one.x.value, 100 * one.y.value) for one in marks}
    chosen = to_name(list(places), label, FEW)
    if not chosen:
        return
    at = np.array([places[name] for name in chosen])
    bars = np.array([(*ends_of(one.x), *ends_of(one.y)) for one in marks]) if len(marks) <= MOST else None
    across, up = (np.linspace(*limits, 40) for limits in (axes.get_xlim(), axes.get_ylim()))
    nothing = (np.column_stack([across, np.zeros(40)]), np.column_stack([np.zeros(40), up]))
    written = write_names(axes, chosen, at, Obstacles(np.array(list(places.values())), bars, nothing))
    if len(chosen) < len(places):
        ring(axes, [note.xy for note in written], n=len(places))
