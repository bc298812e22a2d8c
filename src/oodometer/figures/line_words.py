"""What a line says of itself (slope, R², n), written where nothing else is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from oodometer.analysis.robustness_line import Fitted, lines_of
from oodometer.figures.percent_axes import Span
from oodometer.figures.scatter_panel import Panel
from oodometer.figures.style import LINE, SMALL

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LETTER, ROW = 0.054, 0.125
"""Inches of a letter and of a row of the text."""


@dataclass(frozen=True)
class Corner:
    """Where the words may stand: a place in the axes, and which of their corners it is."""

    x: float
    y: float
    ha: str
    va: str

    def box(self, width: float, height: float) -> tuple[float, float, float, float]:
        """Left, bottom, right and top of words of that size, in shares of the axes."""
        left = self.x - width if self.ha == "right" else self.x
        bottom = {"bottom": self.y, "top": self.y - height, "center": self.y - height / 2}[self.va]
        return left, bottom, left + width, bottom + height


CORNERS = (
    Corner(0.985, 0.02, "right", "bottom"),  # below on the right: no model is there, where all lose under a shift
    Corner(0.015, 0.98, "left", "top"),
    Corner(0.015, 0.75, "left", "top"),
    Corner(0.985, 0.75, "right", "top"),
    Corner(0.985, 0.5, "right", "center"),
    Corner(0.015, 0.02, "left", "bottom"),
)


def say_line(axes: Axes, panel: Panel, spans: tuple[Span, Span]) -> None:
    """The words in the first corner that is free, or else in the first."""
    robustness = panel.shift.robustness
    if robustness is None:
        return
    words = _words(robustness.fitted)
    inside = np.array([panel.side - 0.6, min(0.9 * panel.side, 4.2) - 0.5])
    width, height = np.array([LETTER * max(map(len, words)), ROW * len(words)]) / inside
    taken = _taken(panel, spans)
    free = [corner for corner in CORNERS if not _covers(corner.box(width, height), taken)]
    corner = (free or CORNERS)[0]
    axes.text(
        corner.x, corner.y, "\n".join(words), transform=axes.transAxes, ha=corner.ha, va=corner.va,
        fontsize=SMALL - 0.5, color=LINE, linespacing=1.25, gid="said",
    )  # fmt: skip


def _words(fitted: Fitted) -> Sequence[str]:
    words = [f"R² = {fitted.r2:.2f}", f"n = {fitted.n}"]
    if fitted.slope is not None:
        words.insert(0, f"slope {fitted.slope.value:.2f}".replace("-", "−"))
    return words


def _taken(panel: Panel, spans: tuple[Span, Span]) -> np.ndarray:
    """Where models and lines are, in shares of the axes, (n, 2)."""
    x, y = spans
    places = [(100 * point.x[0].value, 100 * point.y.value) for point in panel.points]
    places += [(100 * panel.hypothetical[0], 100 * panel.hypothetical[1])] if panel.hypothetical else []
    across = np.linspace(x.low, x.high, 40)
    places += [(place, place) for place in across]
    heights = [end for person in panel.people.values() for end in (person.value, person.low, person.high) if end]
    places += [(place, 100 * height) for height in heights for place in across]
    if panel.shift.robustness is not None:
        for part, line in lines_of(panel.shift.robustness.fitted, panel.shift.robustness.band):
            places += zip(100 * part[:, 0], 100 * line, strict=True)
    every = np.array(places)
    return np.column_stack([x.place(x.clip(every[:, 0])), y.place(every[:, 1])])


def _covers(box: tuple[float, float, float, float], places: np.ndarray) -> bool:
    """Whether one of the places lies in the box, or so near that its mark does."""
    near = 0.015
    left, bottom, right, top = box
    x, y = places.T
    return bool(((x > left - near) & (x < right + near) & (y > bottom - near) & (y < top + near)).any())
