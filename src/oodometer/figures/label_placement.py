"""Names beside marks, none over another, none over a mark, none out of the axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from oodometer.figures.style import INK, SMALL, SOFT, note, settle, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Annotation

Box = tuple[float, float, float, float]
"""Left, bottom, right, top, in pixels."""

SIDES = tuple(
    (round(away * np.cos(angle), 2), round(away * np.sin(angle), 2))
    for away in (4.5, 7.0, 11.0, 16.0, 22.0, 30.0, 42.0, 58.0)
    for angle in np.deg2rad([0, 180, 45, 135, 315, 225, 90, 270, 20, 160, 340, 200])
)
"""Where a name may stand, in points from its mark: near first."""

MARK = 2.5
"""Points around the middle of a mark that stay free."""

LEADER = 6.0
"""A name further away than these points is tied to its mark by a thin line."""


VEIL = {"facecolor": "white", "alpha": 0.7, "edgecolor": "none", "pad": 0.4}
"""Behind a name, so that it is read over an interval or a line where there is no other place."""


@dataclass(frozen=True)
class Obstacles:
    """What names keep away from, in data, each (n, 2).

    Args:
        marks: They are never covered.
        bars: Intervals as (n, 4), x low and high, y low and high through each mark; covered where there is no
            other place.
        lines: Places along lines; likewise.
    """

    marks: np.ndarray
    bars: np.ndarray | None = None
    lines: tuple[np.ndarray, ...] = ()


def write_names(axes: Axes, names: Sequence[str], at: np.ndarray, obstacles: Obstacles) -> list[Annotation]:
    """Write each name near its place, (n, 2) in data; one that fits nowhere is left out."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    settle(figure)
    dots = figure.dpi / 72
    marks = axes.transData.transform(obstacles.marks)
    taken = [_around(place, MARK * dots) for place in marks]
    taken += [_box(text.get_window_extent()) for text in axes.texts]
    better_not = _bars(axes, obstacles, dots)
    inside = _box(axes.get_window_extent())
    written = []
    for name, place in zip(names, at, strict=True):
        text = axes.annotate(
            short(name, 28), (0, 0), xytext=(0, 0), textcoords="offset points", fontsize=SMALL - 0.5, color=INK,
            ha="left", va="bottom", zorder=6, bbox=VEIL,
        )  # fmt: skip
        text.xy = (float(place[0]), float(place[1]))
        size = text.get_window_extent()
        mark = axes.transData.transform(place)
        spot = _best(mark, (size.width, size.height), (taken, better_not), Room(inside, marks, dots))
        if spot is None:
            text.remove()
            note(figure, f"no room for the name of {name}; --columns 2 has more")
            continue
        text.set_position(((spot[0] - mark[0]) / dots, (spot[1] - mark[1]) / dots))
        if np.hypot(*_gap(spot, mark)) > LEADER * dots:
            _lead(axes, place, spot)
        taken.append(spot)
        written.append(text)
    return written


def _bars(axes: Axes, obstacles: Obstacles, dots: float) -> list[Box]:
    """Intervals and lines as boxes."""
    found: list[Box] = []
    if obstacles.bars is not None:
        for (x, y), (left, right, bottom, top) in zip(obstacles.marks, obstacles.bars, strict=True):
            corners = axes.transData.transform([(left, y), (right, y), (x, bottom), (x, top)])
            found.append((corners[0, 0], corners[0, 1] - dots, corners[1, 0], corners[1, 1] + dots))
            found.append((corners[2, 0] - dots, corners[2, 1], corners[3, 0] + dots, corners[3, 1]))
    for line in obstacles.lines:
        places = axes.transData.transform(line)
        finer = np.linspace(0, len(places) - 1, 4 * len(places))
        steps = np.arange(len(places))
        places = np.column_stack([np.interp(finer, steps, places[:, side]) for side in (0, 1)])
        found += [_around(place, dots) for place in places]
    return found


@dataclass(frozen=True)
class Room:
    """Where names may stand: in the frame, and not so that the line to a mark crosses one of the marks, (M, 2)."""

    frame: Box
    marks: np.ndarray
    dots: float


def _best(
    mark: np.ndarray, size: tuple[float, float], others: tuple[Sequence[Box], Sequence[Box]], room: Room
) -> Box | None:
    """The first spot where nothing is; else one over an interval or a line; else one tied across other marks."""
    taken, better_not = others
    across = replace(room, marks=np.empty((0, 2)))
    return (
        _free(mark, size, [*taken, *better_not], room)
        or _free(mark, size, taken, room)
        or _free(mark, size, taken, across)
    )


def _free(mark: np.ndarray, size: tuple[float, float], taken: Sequence[Box], room: Room) -> Box | None:
    """The first spot for a name of that size where nothing else is."""
    others, dots = np.array(taken).reshape(-1, 4), room.dots
    for dx, dy in SIDES:
        # The near side of the name is what stands so far from the mark.
        left = mark[0] + dx * dots - size[0] * _share(dx)
        bottom = mark[1] + dy * dots - size[1] * _share(dy)
        box = (left, bottom, left + size[0], bottom + size[1])
        if _within(box, room.frame) and not _touches(box, others) and not _crosses(mark, box, room):
            return box
    return None


def _crosses(mark: np.ndarray, box: Box, room: Room) -> bool:
    """Whether the line that ties a name to its mark would run through another mark."""
    if np.hypot(*_gap(box, mark)) <= LEADER * room.dots:
        return False
    way = np.array([np.clip(mark[0], box[0], box[2]), np.clip(mark[1], box[1], box[3])]) - mark
    along = np.clip(((room.marks - mark) @ way) / (way @ way), 0, 1)
    away = np.hypot(*(mark + along[:, None] * way - room.marks).T)
    others = np.hypot(*(room.marks - mark).T) > room.dots
    return bool((away[others] < 2 * MARK * room.dots).any())


def _share(offset: float) -> float:
    """Which share of a name lies before the spot: none of it, half, or all."""
    return 1.0 if offset < -1 else 0.5 if offset <= 1 else 0.0


def _lead(axes: Axes, place: np.ndarray, box: Box) -> None:
    mark = axes.transData.transform(place)
    near = (float(np.clip(mark[0], box[0], box[2])), float(np.clip(mark[1], box[1], box[3])))
    ends = np.array([place, axes.transData.inverted().transform(near)])
    axes.plot(ends[:, 0], ends[:, 1], color=SOFT, linewidth=0.4, zorder=3.5, gid="leader")


def _gap(box: Box, mark: np.ndarray) -> tuple[float, float]:
    return (max(box[0] - mark[0], mark[0] - box[2], 0.0), max(box[1] - mark[1], mark[1] - box[3], 0.0))


def _around(place: np.ndarray, reach: float) -> Box:
    return (place[0] - reach, place[1] - reach, place[0] + reach, place[1] + reach)


def _box(extent: object) -> Box:
    return (extent.x0, extent.y0, extent.x1, extent.y1)  # type: ignore[attr-defined] # matplotlib's Bbox


def _touches(box: Box, others: np.ndarray) -> bool:
    """Whether a box lies over any of the others, (n, 4)."""
    over = (box[0] < others[:, 2]) & (others[:, 0] < box[2]) & (box[1] < others[:, 3]) & (others[:, 1] < box[3])
    return bool(over.any())


def _within(box: Box, frame: Box) -> bool:
    return box[0] >= frame[0] and box[1] >= frame[1] and box[2] <= frame[2] and box[3] <= frame[3]
