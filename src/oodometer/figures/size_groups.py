"""Which models a line joins from small to large: those of a pattern, or those that come from one parent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from oodometer.figures.options import FigureOptions
from oodometer.figures.selection import that_fit
from oodometer.figures.style import SOFT
from oodometer.study import Study

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1, 1.2)), (0, (5, 1.5, 1, 1.5)), (0, (9, 2)))
SAME_PARENT = "of the same parent"


@dataclass(frozen=True)
class Group:
    """Models that a line joins, the smallest first; ``said`` in the legend."""

    said: str
    models: tuple[str, ...]
    dashes: Any


def groups_of(study: Study, sizes: Mapping[str, int], options: FigureOptions) -> list[Group]:
    """The groups that the user names, or else the parents; a line needs two sizes."""
    known = options.join or ()
    sets = {pattern: that_fit(list(sizes), [pattern], "--join") for pattern in known} or _by_parent(study, list(sizes))
    groups = []
    for place, (said, models) in enumerate(sets.items()):
        ordered = tuple(sorted(models, key=lambda name: (sizes[name], name)))
        if len({sizes[name] for name in ordered}) > 1:
            dashes = DASHES[place % len(DASHES)] if known else DASHES[0]
            groups.append(Group(_plain(said) if known else SAME_PARENT, ordered, dashes))
    return groups


def _plain(pattern: str) -> str:
    """A pattern as a legend says it.

    >>> _plain("ResNet-*"), _plain("*")
    ('ResNet', '*')
    """
    return pattern.strip("*-_ ") or pattern


def _by_parent(study: Study, names: Sequence[str]) -> dict[str, list[str]]:
    """The models by that which they were made from; a parent is with its children."""
    parents = {model.name: model.origin.parent for model in study.models}
    sets: dict[str, list[str]] = {}
    for name in names:
        sets.setdefault(parents.get(name) or name, []).append(name)
    return sets


def draw_groups(axes: Axes, groups: Sequence[Group], x: Mapping[str, float], y: Mapping[str, float]) -> None:
    """A line through the models of each group that are in both."""
    for group in groups:
        here = [name for name in group.models if name in y]
        axes.plot(
            [x[name] for name in here], [y[name] for name in here], color=SOFT, linestyle=group.dashes, linewidth=0.8,
            zorder=2, gid="join",
        )  # fmt: skip


def group_legend(groups: Sequence[Group]) -> tuple[list[Any], list[str]]:
    """A line for each that is called otherwise."""
    from matplotlib.lines import Line2D

    dashes = {group.said: group.dashes for group in groups}
    return [Line2D([], [], color=SOFT, linestyle=style, linewidth=0.8) for style in dashes.values()], list(dashes)
